
use builtin;
use str;

set edit:completion:arg-completer[turnpipe] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'turnpipe'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'turnpipe'= {
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand run-tools 'Execute the tool calls of an assistant stream'
            cand check 'Ask for a verdict on each input line'
            cand tools 'Print the tools that calls can name'
            cand schema 'Print the JSON Schema of a record'
            cand state 'Look after the state that sessions leave'
            cand completions 'Print a shell completion script'
            cand man 'Write manual pages'
        }
        &'turnpipe;run-tools'= {
            cand --emit 'When results go out'
            cand --schedule 'How the scheduler tells which calls can run together'
            cand --on-error 'What a failing call does to the other calls of its turn'
            cand --enforce 'Whether the kernel must keep calls that run side by side from writing'
            cand --permission-mode 'Which calls may run'
            cand --max-concurrency 'How many calls run at once [default: 10]'
            cand --tools-only 'Run only these tools'
            cand --tools 'Add the command tools of a manifest (TOML or JSON); repeatable'
            cand --timeout 'End the whole run after this time (e.g. 90, 90s, 1500ms, 5m)'
            cand --from 'Read one dialect only, instead of telling it line by line'
            cand --session-id 'The session whose state is used and kept'
            cand --state-dir 'Where state is kept'
            cand --cwd 'Where shell calls start [default: this directory]'
            cand --add-dir 'Another directory that shell calls may stay in; repeatable'
            cand --trace 'Write the run as a trace for Chrome''s or Perfetto''s viewer'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --plan 'Print in which batches the calls would run, and run nothing'
            cand --execute 'Run unanswered calls even of a recording'
            cand --no-echo 'Do not copy the input'
            cand --lane-tmp 'Give calls that run side by side a private directory for temporary files'
            cand --assume-read-only 'Let all shell commands run side by side (for tests of --enforce)'
            cand --dedup 'Replace results that repeat an earlier one by a reference'
            cand --strict 'Exit with 3 if the input had unusable records'
            cand --exit-status 'Exit with 1 if a call failed or was denied'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;check'= {
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand text 'Clean text that a model wrote'
        }
        &'turnpipe;check;text'= {
            cand --as 'What the text is to be used as'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --plain 'Take each line as raw text, not as JSON'
            cand --strict 'Exit with status 3 if a line was unusable'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;tools'= {
            cand --format 'For which API the tools are declared'
            cand -o 'What to print [default: text on a terminal, else json]'
            cand --output 'What to print [default: text on a terminal, else json]'
            cand --tools 'Add the command tools of a manifest (TOML or JSON); repeatable'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;schema'= {
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;state'= {
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand clean 'Remove persisted results and other state that is old'
        }
        &'turnpipe;state;clean'= {
            cand --older-than 'Remove what was last changed longer ago than this (e.g. 30d, 12h)'
            cand --state-dir 'Where state is kept'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;completions'= {
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;man'= {
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
    ]
    $completions[$command]
}
