
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
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand run-tools 'Execute the tool calls of an assistant stream'
            cand summarize-batch 'Label finished batches of tool calls'
            cand title 'Name sessions by what they are about'
            cand recap 'Say where you left off'
            cand turn 'Ask the main model for its next reply'
            cand check 'Check each line of the input'
            cand hook 'Decide about the calls of another agent, as its hook'
            cand session 'Read the session files of coding agents'
            cand tools 'Print the tools that calls can name'
            cand schema 'Print the JSON Schema of a record'
            cand state 'Manage the state that sessions leave behind'
            cand doctor 'Show what is configured, where each value comes from, and what cannot work'
            cand completions 'Print a shell completion script'
            cand man 'Write manual pages'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'turnpipe;run-tools'= {
            cand --emit 'When results go out'
            cand --schedule 'How the scheduler decides which calls can run together'
            cand --on-error 'What a failing call does to the other calls of its turn'
            cand --enforce 'Whether the kernel must keep parallel calls from writing'
            cand --mcp-config 'Add the tools of the MCP servers in a file like `.mcp.json`; repeatable'
            cand --settings 'Take permission rules and hooks from a settings file of Claude Code or Qwen Code; repeatable'
            cand --allow 'Allow the calls that a rule matches, e.g. `Bash(npm test *)`; repeatable'
            cand --ask 'Ask about the calls that a rule matches; repeatable'
            cand --deny 'Deny the calls that a rule matches, whatever else allows them; repeatable'
            cand --permission-mode 'What happens to calls about which no rule decides [default: that of the settings, else default]'
            cand --permission-prompt 'Who is asked about calls that are neither allowed nor denied: nobody, and they do not run (`deny`); the person at the terminal (`tty`); the program that reads the records and writes the input (`stdio`); or a tool of an MCP server (`mcp__SERVER__TOOL`)'
            cand --judge 'The model that judges calls in the permission mode auto [default: the fast model]'
            cand --max-concurrency 'How many calls run at once [default: 10]'
            cand --tools-only 'Run only these tools'
            cand --tools 'Add the command tools of a manifest (TOML or JSON, see `docs/command-tools.md`); repeatable'
            cand --timeout 'End the whole run after this time, with status 124 (e.g. 90, 90s, 1500ms, 5m)'
            cand --from 'Read only this dialect, instead of detecting it line by line'
            cand --results 'Write the messages that the next request of this API takes, and nothing else: what the model said, unless `--no-echo` is given, and the results of each turn'
            cand --session-id 'The session whose state is used and updated'
            cand --state-dir 'The directory that holds the state'
            cand --cwd 'Where shell calls start [default: where the last run of the session ended, else this directory]'
            cand --add-dir 'Another directory that shell calls may change to; repeatable'
            cand --env 'Pass this variable on to commands, although it holds a secret or can change what they do (e.g. `GITHUB_TOKEN` or `LD_LIBRARY_PATH`); repeatable'
            cand --trace 'Write a trace of the run for Chrome''s trace viewer or Perfetto'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --plan 'Print the batches in which the calls would run, but run nothing'
            cand --execute 'Run unanswered calls even if the input is a recording'
            cand --no-echo 'Do not copy the input'
            cand --assume-read-only 'Run all shell commands in parallel (for tests of --enforce)'
            cand --dedup 'Replace a result that repeats an earlier one by a reference'
            cand --allow-private-addresses 'Let `WebFetch` fetch from this machine and private networks'
            cand --strict 'Check every line of the input, and exit with 3 if it has unusable records'
            cand --exit-status 'Exit with 1 if a call failed or was denied'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;summarize-batch'= {
            cand --emit 'When labels go out'
            cand --hold-ms 'How long to hold a line for a label before dropping the label, in milliseconds'
            cand -j 'How many labels to make at once'
            cand --jobs 'How many labels to make at once'
            cand --record 'Also append the labels to `FILE.turnpipe.jsonl`, beside this session file'
            cand --settings 'Take from this agent''s settings file whether labels are wanted'
            cand --from 'Read only this dialect, instead of detecting it line by line'
            cand --prompt-file 'Use the instructions in this file instead of the built-in ones'
            cand -o 'What to print [default: text on a terminal, else jsonl]'
            cand --output 'What to print [default: text on a terminal, else jsonl]'
            cand --model 'The model to ask: `openai:gpt-5-mini`, `ollama:qwen3`, `builtin`, `replay:FILE`, `none`'
            cand --record-http 'Append every exchange with the model to a file, without keys, for `--model replay:FILE`'
            cand --timeout-ms 'How long the model may take to answer, in milliseconds'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --shortcuts 'Label a single call that reads or searches by the built-in rules instead of the model'
            cand --no-echo 'Do not copy the input'
            cand --exit-status 'Exit with 1 if there is no result'
            cand --json 'Print records, as with `-o jsonl`'
            cand --dry-run 'Print the body of each request instead of sending it'
            cand --print-prompt 'Print the prompts instead of using them'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;title'= {
            cand --style 'How titles look'
            cand --state-dir 'The directory in which attempts are counted'
            cand --language 'Language of the text: `auto` for that of the conversation, or a code like `de`'
            cand --rpm 'Limit requests per minute'
            cand --prompt-file 'Use the instructions in this file instead of the built-in ones'
            cand -o 'What to print [default: text on a terminal, else jsonl]'
            cand --output 'What to print [default: text on a terminal, else jsonl]'
            cand --model 'The model to ask: `openai:gpt-5-mini`, `ollama:qwen3`, `builtin`, `replay:FILE`, `none`'
            cand --record-http 'Append every exchange with the model to a file, without keys, for `--model replay:FILE`'
            cand --timeout-ms 'How long the model may take to answer, in milliseconds'
            cand --root 'Look in this folder instead of the agents'' own ones; repeatable'
            cand --agent 'Only sessions of this agent'
            cand --cwd 'Only sessions that worked in this directory, or below it'
            cand --jobs 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --write 'Write the title into the session file, unless a person gave one'
            cand --replace 'Write it even over a title that a person gave'
            cand --auto 'Name only sessions that an agent would name by itself: no title yet, fewer than three attempts, not switched off, a fast model configured'
            cand --exit-status 'Exit with 1 if there is no result'
            cand --json 'Print records, as with `-o jsonl`'
            cand --dry-run 'Print the body of each request instead of sending it'
            cand --print-prompt 'Print the prompts instead of using them'
            cand --all 'Sessions of all directories (the default)'
            cand --no-mmap 'Read files instead of mapping them into memory'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;recap'= {
            cand --away-minutes 'Minutes of absence that --auto and --watch wait for'
            cand --language 'Language of the text: `auto` for that of the conversation, or a code like `de`'
            cand --rpm 'Limit requests per minute'
            cand --prompt-file 'Use the instructions in this file instead of the built-in ones'
            cand -o 'What to print [default: text on a terminal, else jsonl]'
            cand --output 'What to print [default: text on a terminal, else jsonl]'
            cand --model 'The model to ask: `openai:gpt-5-mini`, `ollama:qwen3`, `builtin`, `replay:FILE`, `none`'
            cand --record-http 'Append every exchange with the model to a file, without keys, for `--model replay:FILE`'
            cand --timeout-ms 'How long the model may take to answer, in milliseconds'
            cand --root 'Look in this folder instead of the agents'' own ones; repeatable'
            cand --agent 'Only sessions of this agent'
            cand --cwd 'Only sessions that worked in this directory, or below it'
            cand --jobs 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --write 'Write the recap into the session file, so that it is shown on resuming'
            cand --auto 'Write a recap only where an agent would: after three prompts, two since the last recap, with nothing unanswered, and five minutes of absence'
            cand --watch 'Stay at this terminal, and print a recap each time you come back to it'
            cand --exit-status 'Exit with 1 if there is no result'
            cand --json 'Print records, as with `-o jsonl`'
            cand --dry-run 'Print the body of each request instead of sending it'
            cand --print-prompt 'Print the prompts instead of using them'
            cand --all 'Sessions of all directories (the default)'
            cand --no-mmap 'Read files instead of mapping them into memory'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;turn'= {
            cand --session 'The session file with the conversation, which may still be missing [default: standard input has the conversation, unless it is a terminal]'
            cand --prompt 'Say this first, and write it as a record'
            cand --system 'The instructions for the model [default: short ones for a coding agent]'
            cand --session-id 'The session''s id [default: that of the conversation, else the file''s name, else a new one]'
            cand --tools 'Add the command tools of a manifest (TOML or JSON, see `docs/command-tools.md`); repeatable'
            cand --tools-only 'Offer only these tools, separated by commas; an empty list offers none'
            cand --mcp-config 'Add the tools of the MCP servers in a file like `.mcp.json`; repeatable'
            cand --max-tokens 'The most tokens that the reply may have'
            cand --temperature 'How freely the model chooses its words [default: the server decides]'
            cand --thinking 'Let the model think with about this many tokens, which count apart; 0 for no thinking [default: the model decides]'
            cand --max-turns 'Do not ask once the model has replied this often since a person last said something'
            cand --max-budget 'Do not ask once the conversation has cost this many US dollars'
            cand --max-session-tokens 'Do not ask once the conversation has cost this many tokens'
            cand --settings 'Run the `Stop` hooks of a settings file of Claude Code or Qwen Code after a reply without calls; repeatable'
            cand --model 'The model to ask: `openai:gpt-5-mini`, `ollama:qwen3`, `builtin`, `replay:FILE`, `none`'
            cand --record-http 'Append every exchange with the model to a file, without keys, for `--model replay:FILE`'
            cand --timeout-ms 'How long the model may take to answer, in milliseconds'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --partial 'Also write the parts of each block as they come'
            cand --no-stream 'Ask for the whole reply at once'
            cand --dry-run 'Print the body of each request instead of sending it'
            cand --print-prompt 'Print the prompts instead of using them'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
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
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand shell 'Check whether shell commands only read'
            cand permission 'Check whether calls may run, and what decides'
            cand text 'Clean text that a model wrote'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'turnpipe;check;shell'= {
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --plain 'Take each line as raw text, not as JSON'
            cand --strict 'Exit with 3 if a line was unusable'
            cand --explain 'Print each command for people, with the decisive word marked'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;check;permission'= {
            cand --settings 'Take permission rules and hooks from a settings file of Claude Code or Qwen Code; repeatable'
            cand --allow 'Allow the calls that a rule matches, e.g. `Bash(npm test *)`; repeatable'
            cand --ask 'Ask about the calls that a rule matches; repeatable'
            cand --deny 'Deny the calls that a rule matches, whatever else allows them; repeatable'
            cand --permission-mode 'What happens to calls about which no rule decides [default: that of the settings, else default]'
            cand --tools 'Add the command tools of a manifest (TOML or JSON, see `docs/command-tools.md`); repeatable'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --plain 'Take each line as raw text, not as JSON'
            cand --strict 'Exit with 3 if a line was unusable'
            cand --exit-status 'Exit with 1 if a call is not allowed, or a line is unusable'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;check;text'= {
            cand --as 'What the text will be used as'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --plain 'Take each line as raw text, not as JSON'
            cand --strict 'Exit with 3 if a line was unusable'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;check;help'= {
            cand shell 'Check whether shell commands only read'
            cand permission 'Check whether calls may run, and what decides'
            cand text 'Clean text that a model wrote'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'turnpipe;check;help;shell'= {
        }
        &'turnpipe;check;help;permission'= {
        }
        &'turnpipe;check;help;text'= {
        }
        &'turnpipe;check;help;help'= {
        }
        &'turnpipe;hook'= {
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand pre-tool-use 'Decide about a call of another agent, as its hook'
            cand permission-request 'Decide about a call of another agent, as its hook'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'turnpipe;hook;pre-tool-use'= {
            cand --settings 'Take permission rules and hooks from a settings file of Claude Code or Qwen Code; repeatable'
            cand --allow 'Allow the calls that a rule matches, e.g. `Bash(npm test *)`; repeatable'
            cand --ask 'Ask about the calls that a rule matches; repeatable'
            cand --deny 'Deny the calls that a rule matches, whatever else allows them; repeatable'
            cand --permission-mode 'What happens to calls about which no rule decides [default: that of the settings, else default]'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --trust-analysis 'Also allow what is only known to read by its words, such as `git log | head`, `find -name` and `sed -n 1,9p`. In `run-tools`, the kernel keeps these from writing; in other agents nothing does'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;hook;permission-request'= {
            cand --settings 'Take permission rules and hooks from a settings file of Claude Code or Qwen Code; repeatable'
            cand --allow 'Allow the calls that a rule matches, e.g. `Bash(npm test *)`; repeatable'
            cand --ask 'Ask about the calls that a rule matches; repeatable'
            cand --deny 'Deny the calls that a rule matches, whatever else allows them; repeatable'
            cand --permission-mode 'What happens to calls about which no rule decides [default: that of the settings, else default]'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --trust-analysis 'Also allow what is only known to read by its words, such as `git log | head`, `find -name` and `sed -n 1,9p`. In `run-tools`, the kernel keeps these from writing; in other agents nothing does'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;hook;help'= {
            cand pre-tool-use 'Decide about a call of another agent, as its hook'
            cand permission-request 'Decide about a call of another agent, as its hook'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'turnpipe;hook;help;pre-tool-use'= {
        }
        &'turnpipe;hook;help;permission-request'= {
        }
        &'turnpipe;hook;help;help'= {
        }
        &'turnpipe;session'= {
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand list 'List sessions, most recently active first'
            cand show 'Show the dialog of a session'
            cand export 'Export sessions as pages with an index'
            cand tail 'Show the end of a session file, whatever its size'
            cand search 'Find what was said in sessions'
            cand check 'Report what is wrong with session files'
            cand stats 'Count tokens, money and calls by model, tool, day and purpose'
            cand path 'Print the files of sessions'
            cand append 'Record a stream in a session file'
            cand rename 'Give a session a name'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'turnpipe;session;list'= {
            cand --root 'Look in this folder instead of the agents'' own ones; repeatable'
            cand --agent 'Only sessions of this agent'
            cand --cwd 'Only sessions that worked in this directory, or below it'
            cand --jobs 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]'
            cand --since 'Only sessions active at this time or later (RFC 3339, a date, `yesterday`, or an age like 2d)'
            cand --before 'Only sessions last active before this time'
            cand --title 'Only sessions whose title, or else first prompt, has this text in it, in any case'
            cand --branch 'Only sessions on branches with this text in their name'
            cand --model 'Only sessions whose last model has this text in its name'
            cand --project 'Only sessions that began in a directory with this text in its path'
            cand -n 'Print at most N sessions'
            cand --limit 'Print at most N sessions'
            cand -o 'What to print [default: text on a terminal, else jsonl]'
            cand --output 'What to print [default: text on a terminal, else jsonl]'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --all 'Sessions of all directories (the default)'
            cand --no-mmap 'Read files instead of mapping them into memory'
            cand --untitled 'Only sessions without a title'
            cand --counts 'Count messages, calls, tokens and money, which takes reading whole files. Subagents are left out; `session stats` counts them'
            cand --resume 'Show the command that resumes each session, for use in its directory (a table of 200 columns and more, and records, always do)'
            cand --json 'Print records, as with `-o jsonl`'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;session;show'= {
            cand --root 'Look in this folder instead of the agents'' own ones; repeatable'
            cand --agent 'Only sessions of this agent'
            cand --cwd 'Only sessions that worked in this directory, or below it'
            cand --jobs 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]'
            cand -o 'What to print [default: text on a terminal, else jsonl]'
            cand --output 'What to print [default: text on a terminal, else jsonl]'
            cand --html 'Write an HTML page to this file; the page loads nothing from elsewhere'
            cand --tools 'How much to show of tool calls and results [default: summary in text and Markdown, else full]'
            cand --range 'Only these messages, counted from 1: 3, 3..7, 3.., ..7, or -5.. for the last five'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --all 'Sessions of all directories (the default)'
            cand --no-mmap 'Read files instead of mapping them into memory'
            cand --json 'Print records, as with `-o jsonl`'
            cand --thinking 'Show what the model thought (records always hold it, unless `--no-thinking`)'
            cand --no-thinking 'Leave out what the model thought'
            cand --context 'Show in full what the agent put into messages, e.g. reminders and the texts of skills; text and Markdown have one line for each (records and pages always hold them)'
            cand --all-branches 'Show abandoned branches too'
            cand --since-compact 'Show only what follows the last compaction'
            cand --compact 'Put neighbouring tool calls under one heading'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;session;export'= {
            cand -o 'What the pages are'
            cand --output 'What the pages are'
            cand --root 'Look in this folder instead of the agents'' own ones; repeatable'
            cand --agent 'Only sessions of this agent'
            cand --cwd 'Only sessions that worked in this directory, or below it'
            cand --jobs 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]'
            cand --since 'Only sessions active at this time or later (RFC 3339, a date, `yesterday`, or an age like 2d)'
            cand --before 'Only sessions last active before this time'
            cand --title 'Only sessions whose title, or else first prompt, has this text in it, in any case'
            cand --branch 'Only sessions on branches with this text in their name'
            cand --model 'Only sessions whose last model has this text in its name'
            cand --project 'Only sessions that began in a directory with this text in its path'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --all 'Sessions of all directories (the default)'
            cand --no-mmap 'Read files instead of mapping them into memory'
            cand --untitled 'Only sessions without a title'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;session;tail'= {
            cand --root 'Look in this folder instead of the agents'' own ones; repeatable'
            cand --agent 'Only sessions of this agent'
            cand --cwd 'Only sessions that worked in this directory, or below it'
            cand --jobs 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]'
            cand -n 'Number of messages, or with --raw of records'
            cand --lines 'Number of messages, or with --raw of records'
            cand --from 'Begin at this offset in bytes (from a cursor) instead of the last messages'
            cand --until-idle 'Stop when nothing was appended for this long (e.g. 500ms, 30s, 5m)'
            cand --timeout 'Stop after this long in any case'
            cand -o 'What to print [default: text on a terminal, else jsonl]'
            cand --output 'What to print [default: text on a terminal, else jsonl]'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --all 'Sessions of all directories (the default)'
            cand --no-mmap 'Read files instead of mapping them into memory'
            cand --raw 'Print lines as they are in the file'
            cand -f 'Go on with what is appended'
            cand --follow 'Go on with what is appended'
            cand --latest 'Also show sessions that begin or go on from now on'
            cand --subagents 'Also show what subagents say from now on; their records name them'
            cand --cursor 'Write a cursor after each batch of records: where to continue reading'
            cand --exit-status 'Exit with 1 if --timeout ended it'
            cand --json 'Print records, as with `-o jsonl`'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;session;search'= {
            cand --root 'Look in this folder instead of the agents'' own ones; repeatable'
            cand --agent 'Only sessions of this agent'
            cand --cwd 'Only sessions that worked in this directory, or below it'
            cand --jobs 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]'
            cand --since 'Only sessions active at this time or later (RFC 3339, a date, `yesterday`, or an age like 2d)'
            cand --before 'Only sessions last active before this time'
            cand --title 'Only sessions whose title, or else first prompt, has this text in it, in any case'
            cand --branch 'Only sessions on branches with this text in their name'
            cand --model 'Only sessions whose last model has this text in its name'
            cand --project 'Only sessions that began in a directory with this text in its path'
            cand --in 'The parts of messages to look in [default: text]'
            cand --role 'Only messages of these roles'
            cand -m 'Print at most N matching parts of each session'
            cand --max-count 'Print at most N matching parts of each session'
            cand -n 'Print at most N matching parts in all'
            cand --limit 'Print at most N matching parts in all'
            cand -C 'Show N lines of the message before and after the match'
            cand --context 'Show N lines of the message before and after the match'
            cand -o 'What to print [default: text on a terminal, else jsonl]'
            cand --output 'What to print [default: text on a terminal, else jsonl]'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --all 'Sessions of all directories (the default)'
            cand --no-mmap 'Read files instead of mapping them into memory'
            cand --untitled 'Only sessions without a title'
            cand -F 'Take the pattern as plain text'
            cand --fixed-strings 'Take the pattern as plain text'
            cand -i 'Ignore case'
            cand --ignore-case 'Ignore case'
            cand -w 'Match only whole words'
            cand --word 'Match only whole words'
            cand -l 'Print only the paths of the sessions that match'
            cand --files-with-matches 'Print only the paths of the sessions that match'
            cand -c 'Print only how many parts of messages match in each session'
            cand --count 'Print only how many parts of messages match in each session'
            cand --exit-status 'Accepted for older scripts: the exit status is always 1 if nothing was found'
            cand --json 'Print records, as with `-o jsonl`'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;session;check'= {
            cand --root 'Look in this folder instead of the agents'' own ones; repeatable'
            cand --agent 'Only sessions of this agent'
            cand --cwd 'Only sessions that worked in this directory, or below it'
            cand --jobs 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]'
            cand --repair-to 'Write a clean copy of the one named session: one whole record per line'
            cand -o 'What to print [default: text on a terminal, else jsonl]'
            cand --output 'What to print [default: text on a terminal, else jsonl]'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --all 'Sessions of all directories (the default)'
            cand --no-mmap 'Read files instead of mapping them into memory'
            cand --exit-status 'Exit with 1 if there is damage'
            cand --summary 'Print only the totals'
            cand --json 'Print records, as with `-o jsonl`'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;session;stats'= {
            cand --root 'Look in this folder instead of the agents'' own ones; repeatable'
            cand --agent 'Only sessions of this agent'
            cand --cwd 'Only sessions that worked in this directory, or below it'
            cand --jobs 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]'
            cand --since 'Only what was asked and answered at this time or later (RFC 3339, a date, `yesterday`, or an age like 2d)'
            cand --until 'Only what was asked and answered before this time'
            cand --by 'One row for each day, model and so on, and in text their sum; separate several by commas'
            cand --tz 'Where days, weeks and months begin, those of `--since` and `--until` too, such as Europe/Berlin [default: the system''s zone]'
            cand --prices 'Prices that count more than those that are built in; `data/prices.toml` in the source shows the form'
            cand --budget 'Print one line instead, and exit with 1 if more than this was spent, in US dollars'
            cand -o 'What to print [default: text on a terminal, else jsonl]'
            cand --output 'What to print [default: text on a terminal, else jsonl]'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --all 'Sessions of all directories (the default)'
            cand --no-mmap 'Read files instead of mapping them into memory'
            cand --statusline 'Print a line for Claude Code''s status line, whose input is read from standard input: the model, what the session, the day and the running block of five hours cost, and how full the context is. Only sessions of the last 24 hours are looked at'
            cand --json 'Print records, as with `-o jsonl`'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;session;path'= {
            cand --root 'Look in this folder instead of the agents'' own ones; repeatable'
            cand --agent 'Only sessions of this agent'
            cand --cwd 'Only sessions that worked in this directory, or below it'
            cand --jobs 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]'
            cand -o 'What to print'
            cand --output 'What to print'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --all 'Sessions of all directories (the default)'
            cand --no-mmap 'Read files instead of mapping them into memory'
            cand --json 'Print records, as with `-o jsonl`'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;session;append'= {
            cand --session-id 'The session''s id [default: that of the stream or the file, else the file''s name]'
            cand --sync 'What must survive a crash of the machine'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --force 'Write to network file systems too; make sure that no other machine writes to the file'
            cand --redact 'Record `[redacted]` in place of what looks like a key or a password; the copy stays as it is'
            cand --no-echo 'Do not copy the input'
            cand --exit-status 'Exit with 10 if no call was made, with 11 if the turn was stopped; 0 means continue'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;session;rename'= {
            cand --root 'Look in this folder instead of the agents'' own ones; repeatable'
            cand --agent 'Only sessions of this agent'
            cand --cwd 'Only sessions that worked in this directory, or below it'
            cand --jobs 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --force 'Write to network file systems too; make sure that no other machine writes to the file'
            cand --all 'Sessions of all directories (the default)'
            cand --no-mmap 'Read files instead of mapping them into memory'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;session;help'= {
            cand list 'List sessions, most recently active first'
            cand show 'Show the dialog of a session'
            cand export 'Export sessions as pages with an index'
            cand tail 'Show the end of a session file, whatever its size'
            cand search 'Find what was said in sessions'
            cand check 'Report what is wrong with session files'
            cand stats 'Count tokens, money and calls by model, tool, day and purpose'
            cand path 'Print the files of sessions'
            cand append 'Record a stream in a session file'
            cand rename 'Give a session a name'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'turnpipe;session;help;list'= {
        }
        &'turnpipe;session;help;show'= {
        }
        &'turnpipe;session;help;export'= {
        }
        &'turnpipe;session;help;tail'= {
        }
        &'turnpipe;session;help;search'= {
        }
        &'turnpipe;session;help;check'= {
        }
        &'turnpipe;session;help;stats'= {
        }
        &'turnpipe;session;help;path'= {
        }
        &'turnpipe;session;help;append'= {
        }
        &'turnpipe;session;help;rename'= {
        }
        &'turnpipe;session;help;help'= {
        }
        &'turnpipe;tools'= {
            cand --format 'The API to declare the tools for'
            cand -o 'What to print [default: text on a terminal, else json]'
            cand --output 'What to print [default: text on a terminal, else json]'
            cand --tools 'Add the command tools of a manifest (TOML or JSON, see `docs/command-tools.md`); repeatable'
            cand --mcp-config 'Add the tools of the MCP servers in a file like `.mcp.json`; repeatable'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --json 'Print the declarations, as with `-o json`'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
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
            cand --no-pager 'Show long text on a terminal without a pager'
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
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand clean 'Remove old results and other state of sessions'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'turnpipe;state;clean'= {
            cand --older-than 'Remove what was last changed longer ago than this (e.g. 30d, 12h)'
            cand --state-dir 'The directory that holds the state'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;state;help'= {
            cand clean 'Remove old results and other state of sessions'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'turnpipe;state;help;clean'= {
        }
        &'turnpipe;state;help;help'= {
        }
        &'turnpipe;doctor'= {
            cand -o 'What to print [default: text on a terminal, else jsonl]'
            cand --output 'What to print [default: text on a terminal, else jsonl]'
            cand --config 'Read this configuration file instead of the usual one'
            cand --color 'When to colour help and usage errors'
            cand --probe 'Send a small request to each configured model'
            cand --json 'Print records, as with `-o jsonl`'
            cand -q 'Print no warnings and hints, only errors'
            cand --quiet 'Print no warnings and hints, only errors'
            cand -v 'Say on standard error what was done'
            cand --verbose 'Say on standard error what was done'
            cand --no-config 'Read no configuration file'
            cand --no-pager 'Show long text on a terminal without a pager'
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
            cand --no-pager 'Show long text on a terminal without a pager'
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
            cand --no-pager 'Show long text on a terminal without a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'turnpipe;help'= {
            cand run-tools 'Execute the tool calls of an assistant stream'
            cand summarize-batch 'Label finished batches of tool calls'
            cand title 'Name sessions by what they are about'
            cand recap 'Say where you left off'
            cand turn 'Ask the main model for its next reply'
            cand check 'Check each line of the input'
            cand hook 'Decide about the calls of another agent, as its hook'
            cand session 'Read the session files of coding agents'
            cand tools 'Print the tools that calls can name'
            cand schema 'Print the JSON Schema of a record'
            cand state 'Manage the state that sessions leave behind'
            cand doctor 'Show what is configured, where each value comes from, and what cannot work'
            cand completions 'Print a shell completion script'
            cand man 'Write manual pages'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'turnpipe;help;run-tools'= {
        }
        &'turnpipe;help;summarize-batch'= {
        }
        &'turnpipe;help;title'= {
        }
        &'turnpipe;help;recap'= {
        }
        &'turnpipe;help;turn'= {
        }
        &'turnpipe;help;check'= {
            cand shell 'Check whether shell commands only read'
            cand permission 'Check whether calls may run, and what decides'
            cand text 'Clean text that a model wrote'
        }
        &'turnpipe;help;check;shell'= {
        }
        &'turnpipe;help;check;permission'= {
        }
        &'turnpipe;help;check;text'= {
        }
        &'turnpipe;help;hook'= {
            cand pre-tool-use 'Decide about a call of another agent, as its hook'
            cand permission-request 'Decide about a call of another agent, as its hook'
        }
        &'turnpipe;help;hook;pre-tool-use'= {
        }
        &'turnpipe;help;hook;permission-request'= {
        }
        &'turnpipe;help;session'= {
            cand list 'List sessions, most recently active first'
            cand show 'Show the dialog of a session'
            cand export 'Export sessions as pages with an index'
            cand tail 'Show the end of a session file, whatever its size'
            cand search 'Find what was said in sessions'
            cand check 'Report what is wrong with session files'
            cand stats 'Count tokens, money and calls by model, tool, day and purpose'
            cand path 'Print the files of sessions'
            cand append 'Record a stream in a session file'
            cand rename 'Give a session a name'
        }
        &'turnpipe;help;session;list'= {
        }
        &'turnpipe;help;session;show'= {
        }
        &'turnpipe;help;session;export'= {
        }
        &'turnpipe;help;session;tail'= {
        }
        &'turnpipe;help;session;search'= {
        }
        &'turnpipe;help;session;check'= {
        }
        &'turnpipe;help;session;stats'= {
        }
        &'turnpipe;help;session;path'= {
        }
        &'turnpipe;help;session;append'= {
        }
        &'turnpipe;help;session;rename'= {
        }
        &'turnpipe;help;tools'= {
        }
        &'turnpipe;help;schema'= {
        }
        &'turnpipe;help;state'= {
            cand clean 'Remove old results and other state of sessions'
        }
        &'turnpipe;help;state;clean'= {
        }
        &'turnpipe;help;doctor'= {
        }
        &'turnpipe;help;completions'= {
        }
        &'turnpipe;help;man'= {
        }
        &'turnpipe;help;help'= {
        }
    ]
    $completions[$command]
}
