
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
            cand --color 'When to colour help and usage errors'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand check 'Ask for a verdict on each input line'
            cand completions 'Print a shell completion script'
            cand man 'Write manual pages'
        }
        &'turnpipe;check'= {
            cand --color 'When to colour help and usage errors'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand text 'Clean text that a model wrote'
        }
        &'turnpipe;check;text'= {
            cand --as 'What the text is to be used as'
            cand --color 'When to colour help and usage errors'
            cand --plain 'Take each line as raw text, not as JSON'
            cand --strict 'Exit with status 3 if a line was unusable'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;completions'= {
            cand --color 'When to colour help and usage errors'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;man'= {
            cand --color 'When to colour help and usage errors'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
    ]
    $completions[$command]
}
