# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_turnpipe_global_optspecs
    string join \n q/quiet v/verbose config= no-config color= no-pager h/help V/version
end

function __fish_turnpipe_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_turnpipe_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_turnpipe_using_subcommand
    set -l cmd (__fish_turnpipe_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c turnpipe -n "__fish_turnpipe_needs_command" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_needs_command" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_needs_command" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -s V -l version -d 'Print version'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -f -a "run-tools" -d 'Execute the tool calls of an assistant stream'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -f -a "summarize-batch" -d 'Label finished batches of tool calls'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -f -a "title" -d 'Name sessions by what they are about'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -f -a "recap" -d 'Say where you left off'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -f -a "turn" -d 'Ask the main model for its next reply'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -f -a "check" -d 'Check each line of the input'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -f -a "hook" -d 'Decide about the calls of another agent, as its hook'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -f -a "session" -d 'Read the session files of coding agents'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -f -a "tools" -d 'Print the tools that calls can name'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -f -a "schema" -d 'Print the JSON Schema of a record'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -f -a "state" -d 'Manage the state that sessions leave behind'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -f -a "doctor" -d 'Show what is configured, where each value comes from, and what cannot work'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -f -a "completions" -d 'Print a shell completion script'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -f -a "man" -d 'Write manual pages'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l emit -d 'When results go out' -r -f -a "result\t'Each as soon as its turn in call order comes'
turn\t'All at the turn\'s end, within the turn\'s budget'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l schedule -d 'How the scheduler decides which calls can run together' -r -f -a "greedy\t'Every call touches everything: calls that only read run together, any other call alone'
access\t'Calls that touch different files run together'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l on-error -d 'What a failing call does to the other calls of its turn' -r -f -a "cancel-shell\t'A failing shell command that is not read-only cancels the shell commands of its turn'
continue\t'Nothing'
cancel-all\t'Any failing call cancels all others of its turn'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l enforce -d 'Whether the kernel must keep parallel calls from writing' -r -f -a "auto\t'As much as the kernel can do; every record says how much that was'
require\t'All of it, or nothing runs'
off\t'None'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l mcp-config -d 'Add the tools of the MCP servers in a file like `.mcp.json`; repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l settings -d 'Take permission rules and hooks from a settings file of Claude Code or Qwen Code; repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l allow -d 'Allow the calls that a rule matches, e.g. `Bash(npm test *)`; repeatable' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l ask -d 'Ask about the calls that a rule matches; repeatable' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l deny -d 'Deny the calls that a rule matches, whatever else allows them; repeatable' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l permission-mode -d 'What happens to calls about which no rule decides [default: that of the settings, else default]' -r -f -a "default\t'Calls that only read run; about the others somebody is asked'
acceptEdits\t'Changes to files of the working directories run as well'
plan\t'Calls that only read run; about everything else somebody is asked, whatever rules allow'
auto\t'A judge decides about what rules leave open'
dontAsk\t'What rules leave open is denied'
bypassPermissions\t'Every call runs, but for what no mode allows'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l permission-prompt -d 'Who is asked about calls that are neither allowed nor denied: nobody, and they do not run (`deny`); the person at the terminal (`tty`); the program that reads the records and writes the input (`stdio`); or a tool of an MCP server (`mcp__SERVER__TOOL`)' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l judge -d 'The model that judges calls in the permission mode auto [default: the fast model]' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l max-concurrency -d 'How many calls run at once [default: 10]' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l tools-only -d 'Run only these tools' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l tools -d 'Add the command tools of a manifest (TOML or JSON, see `docs/command-tools.md`); repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l timeout -d 'End the whole run after this time, with status 124 (e.g. 90, 90s, 1500ms, 5m)' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l from -d 'Read only this dialect, instead of detecting it line by line' -r -f -a "anthropic\t'stream-json and Anthropic messages'
openai\t'`OpenAI` chat completions'
gemini\t'Gemini contents, Qwen Code session parts'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l results -d 'Write the messages that the next request of this API takes, and nothing else: what the model said, unless `--no-echo` is given, and the results of each turn' -r -f -a "anthropic\t'stream-json and Anthropic messages'
openai\t'`OpenAI` chat completions'
gemini\t'Gemini contents, Qwen Code session parts'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l session-id -d 'The session whose state is used and updated' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l state-dir -d 'The directory that holds the state' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l cwd -d 'Where shell calls start [default: where the last run of the session ended, else this directory]' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l add-dir -d 'Another directory that shell calls may change to; repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l env -d 'Pass this variable on to commands, although it holds a secret or can change what they do (e.g. `GITHUB_TOKEN` or `LD_LIBRARY_PATH`); repeatable' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l trace -d 'Write a trace of the run for Chrome\'s trace viewer or Perfetto' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l plan -d 'Print the batches in which the calls would run, but run nothing'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l execute -d 'Run unanswered calls even if the input is a recording'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l no-echo -d 'Do not copy the input'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l assume-read-only -d 'Run all shell commands in parallel (for tests of --enforce)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l dedup -d 'Replace a result that repeats an earlier one by a reference'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l allow-private-addresses -d 'Let `WebFetch` fetch from this machine and private networks'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l strict -d 'Check every line of the input, and exit with 3 if it has unusable records'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l exit-status -d 'Exit with 1 if a call failed or was denied'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand run-tools" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -l emit -d 'When labels go out' -r -f -a "turn\t'Before the content of the next message'
ready\t'As soon as they are ready; no line waits, and late labels are dropped'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -l hold-ms -d 'How long to hold a line for a label before dropping the label, in milliseconds' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -s j -l jobs -d 'How many labels to make at once' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -l record -d 'Also append the labels to `FILE.turnpipe.jsonl`, beside this session file' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -l settings -d 'Take from this agent\'s settings file whether labels are wanted' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -l from -d 'Read only this dialect, instead of detecting it line by line' -r -f -a "anthropic\t'stream-json and Anthropic messages'
openai\t'`OpenAI` chat completions'
gemini\t'Gemini contents, Qwen Code session parts'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -l prompt-file -d 'Use the instructions in this file instead of the built-in ones' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -s o -l output -d 'What to print [default: text on a terminal, else jsonl]' -r -f -a "text\t'For people'
jsonl\t'Records'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -l model -d 'The model to ask: `openai:gpt-5-mini`, `ollama:qwen3`, `builtin`, `replay:FILE`, `none`' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -l record-http -d 'Append every exchange with the model to a file, without keys, for `--model replay:FILE`' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -l timeout-ms -d 'How long the model may take to answer, in milliseconds' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -l shortcuts -d 'Label a single call that reads or searches by the built-in rules instead of the model'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -l no-echo -d 'Do not copy the input'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -l exit-status -d 'Exit with 1 if there is no result'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -l json -d 'Print records, as with `-o jsonl`'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -l dry-run -d 'Print the body of each request instead of sending it'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -l print-prompt -d 'Print the prompts instead of using them'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand summarize-batch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l style -d 'How titles look' -r -f -a "sentence\t'`Fix login button`'
kebab\t'`fix-login-button`'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l state-dir -d 'The directory in which attempts are counted' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l language -d 'Language of the text: `auto` for that of the conversation, or a code like `de`' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l rpm -d 'Limit requests per minute' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l prompt-file -d 'Use the instructions in this file instead of the built-in ones' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -s o -l output -d 'What to print [default: text on a terminal, else jsonl]' -r -f -a "text\t'For people'
jsonl\t'Records'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l model -d 'The model to ask: `openai:gpt-5-mini`, `ollama:qwen3`, `builtin`, `replay:FILE`, `none`' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l record-http -d 'Append every exchange with the model to a file, without keys, for `--model replay:FILE`' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l timeout-ms -d 'How long the model may take to answer, in milliseconds' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l root -d 'Look in this folder instead of the agents\' own ones; repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l agent -d 'Only sessions of this agent' -r -f -a "claude\t'Claude Code'
qwen\t'Qwen Code'
codex\t'Codex CLI'
gemini\t'Gemini CLI'
pi\t'pi'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l cwd -d 'Only sessions that worked in this directory, or below it' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l jobs -d 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l write -d 'Write the title into the session file, unless a person gave one'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l replace -d 'Write it even over a title that a person gave'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l auto -d 'Name only sessions that an agent would name by itself: no title yet, fewer than three attempts, not switched off, a fast model configured'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l exit-status -d 'Exit with 1 if there is no result'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l json -d 'Print records, as with `-o jsonl`'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l dry-run -d 'Print the body of each request instead of sending it'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l print-prompt -d 'Print the prompts instead of using them'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l all -d 'Sessions of all directories (the default)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l no-mmap -d 'Read files instead of mapping them into memory'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand title" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l away-minutes -d 'Minutes of absence that --auto and --watch wait for' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l language -d 'Language of the text: `auto` for that of the conversation, or a code like `de`' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l rpm -d 'Limit requests per minute' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l prompt-file -d 'Use the instructions in this file instead of the built-in ones' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -s o -l output -d 'What to print [default: text on a terminal, else jsonl]' -r -f -a "text\t'For people'
jsonl\t'Records'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l model -d 'The model to ask: `openai:gpt-5-mini`, `ollama:qwen3`, `builtin`, `replay:FILE`, `none`' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l record-http -d 'Append every exchange with the model to a file, without keys, for `--model replay:FILE`' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l timeout-ms -d 'How long the model may take to answer, in milliseconds' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l root -d 'Look in this folder instead of the agents\' own ones; repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l agent -d 'Only sessions of this agent' -r -f -a "claude\t'Claude Code'
qwen\t'Qwen Code'
codex\t'Codex CLI'
gemini\t'Gemini CLI'
pi\t'pi'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l cwd -d 'Only sessions that worked in this directory, or below it' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l jobs -d 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l write -d 'Write the recap into the session file, so that it is shown on resuming'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l auto -d 'Write a recap only where an agent would: after three prompts, two since the last recap, with nothing unanswered, and five minutes of absence'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l watch -d 'Stay at this terminal, and print a recap each time you come back to it'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l exit-status -d 'Exit with 1 if there is no result'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l json -d 'Print records, as with `-o jsonl`'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l dry-run -d 'Print the body of each request instead of sending it'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l print-prompt -d 'Print the prompts instead of using them'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l all -d 'Sessions of all directories (the default)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l no-mmap -d 'Read files instead of mapping them into memory'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand recap" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l session -d 'The session file with the conversation, which may still be missing [default: standard input has the conversation, unless it is a terminal]' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l prompt -d 'Say this first, and write it as a record' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l system -d 'The instructions for the model [default: short ones for a coding agent]' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l session-id -d 'The session\'s id [default: that of the conversation, else the file\'s name, else a new one]' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l tools -d 'Add the command tools of a manifest (TOML or JSON, see `docs/command-tools.md`); repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l tools-only -d 'Offer only these tools, separated by commas; an empty list offers none' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l mcp-config -d 'Add the tools of the MCP servers in a file like `.mcp.json`; repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l max-tokens -d 'The most tokens that the reply may have' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l temperature -d 'How freely the model chooses its words [default: the server decides]' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l thinking -d 'Let the model think with about this many tokens, which count apart; 0 for no thinking [default: the model decides]' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l max-turns -d 'Do not ask once the model has replied this often since a person last said something' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l max-budget -d 'Do not ask once the conversation has cost this many US dollars' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l max-session-tokens -d 'Do not ask once the conversation has cost this many tokens' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l settings -d 'Run the `Stop` hooks of a settings file of Claude Code or Qwen Code after a reply without calls; repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l model -d 'The model to ask: `openai:gpt-5-mini`, `ollama:qwen3`, `builtin`, `replay:FILE`, `none`' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l record-http -d 'Append every exchange with the model to a file, without keys, for `--model replay:FILE`' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l timeout-ms -d 'How long the model may take to answer, in milliseconds' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l partial -d 'Also write the parts of each block as they come'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l no-stream -d 'Ask for the whole reply at once'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l dry-run -d 'Print the body of each request instead of sending it'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l print-prompt -d 'Print the prompts instead of using them'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand turn" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and not __fish_seen_subcommand_from shell permission text help" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and not __fish_seen_subcommand_from shell permission text help" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and not __fish_seen_subcommand_from shell permission text help" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and not __fish_seen_subcommand_from shell permission text help" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and not __fish_seen_subcommand_from shell permission text help" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and not __fish_seen_subcommand_from shell permission text help" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and not __fish_seen_subcommand_from shell permission text help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and not __fish_seen_subcommand_from shell permission text help" -f -a "shell" -d 'Check whether shell commands only read'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and not __fish_seen_subcommand_from shell permission text help" -f -a "permission" -d 'Check whether calls may run, and what decides'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and not __fish_seen_subcommand_from shell permission text help" -f -a "text" -d 'Clean text that a model wrote'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and not __fish_seen_subcommand_from shell permission text help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from shell" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from shell" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from shell" -l plain -d 'Take each line as raw text, not as JSON'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from shell" -l strict -d 'Exit with 3 if a line was unusable'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from shell" -l explain -d 'Print each command for people, with the decisive word marked'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from shell" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from shell" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from shell" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from shell" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from shell" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from permission" -l settings -d 'Take permission rules and hooks from a settings file of Claude Code or Qwen Code; repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from permission" -l allow -d 'Allow the calls that a rule matches, e.g. `Bash(npm test *)`; repeatable' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from permission" -l ask -d 'Ask about the calls that a rule matches; repeatable' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from permission" -l deny -d 'Deny the calls that a rule matches, whatever else allows them; repeatable' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from permission" -l permission-mode -d 'What happens to calls about which no rule decides [default: that of the settings, else default]' -r -f -a "default\t'Calls that only read run; about the others somebody is asked'
acceptEdits\t'Changes to files of the working directories run as well'
plan\t'Calls that only read run; about everything else somebody is asked, whatever rules allow'
auto\t'A judge decides about what rules leave open'
dontAsk\t'What rules leave open is denied'
bypassPermissions\t'Every call runs, but for what no mode allows'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from permission" -l tools -d 'Add the command tools of a manifest (TOML or JSON, see `docs/command-tools.md`); repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from permission" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from permission" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from permission" -l plain -d 'Take each line as raw text, not as JSON'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from permission" -l strict -d 'Exit with 3 if a line was unusable'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from permission" -l exit-status -d 'Exit with 1 if a call is not allowed, or a line is unusable'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from permission" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from permission" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from permission" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from permission" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from permission" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from text" -l as -d 'What the text will be used as' -r -f -a "terminal\t'One line that is harmless on a terminal'
label\t'A label for a batch of tool calls'
title\t'A session title'
recap\t'A session recap, in the tags that the prompt asks for'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from text" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from text" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from text" -l plain -d 'Take each line as raw text, not as JSON'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from text" -l strict -d 'Exit with 3 if a line was unusable'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from text" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from text" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from text" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from text" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from text" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from help" -f -a "shell" -d 'Check whether shell commands only read'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from help" -f -a "permission" -d 'Check whether calls may run, and what decides'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from help" -f -a "text" -d 'Clean text that a model wrote'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and not __fish_seen_subcommand_from pre-tool-use permission-request help" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and not __fish_seen_subcommand_from pre-tool-use permission-request help" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and not __fish_seen_subcommand_from pre-tool-use permission-request help" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and not __fish_seen_subcommand_from pre-tool-use permission-request help" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and not __fish_seen_subcommand_from pre-tool-use permission-request help" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and not __fish_seen_subcommand_from pre-tool-use permission-request help" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and not __fish_seen_subcommand_from pre-tool-use permission-request help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and not __fish_seen_subcommand_from pre-tool-use permission-request help" -f -a "pre-tool-use" -d 'Decide about a call of another agent, as its hook'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and not __fish_seen_subcommand_from pre-tool-use permission-request help" -f -a "permission-request" -d 'Decide about a call of another agent, as its hook'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and not __fish_seen_subcommand_from pre-tool-use permission-request help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from pre-tool-use" -l settings -d 'Take permission rules and hooks from a settings file of Claude Code or Qwen Code; repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from pre-tool-use" -l allow -d 'Allow the calls that a rule matches, e.g. `Bash(npm test *)`; repeatable' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from pre-tool-use" -l ask -d 'Ask about the calls that a rule matches; repeatable' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from pre-tool-use" -l deny -d 'Deny the calls that a rule matches, whatever else allows them; repeatable' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from pre-tool-use" -l permission-mode -d 'What happens to calls about which no rule decides [default: that of the settings, else default]' -r -f -a "default\t'Calls that only read run; about the others somebody is asked'
acceptEdits\t'Changes to files of the working directories run as well'
plan\t'Calls that only read run; about everything else somebody is asked, whatever rules allow'
auto\t'A judge decides about what rules leave open'
dontAsk\t'What rules leave open is denied'
bypassPermissions\t'Every call runs, but for what no mode allows'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from pre-tool-use" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from pre-tool-use" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from pre-tool-use" -l trust-analysis -d 'Also allow what is only known to read by its words, such as `git log | head`, `find -name` and `sed -n 1,9p`. In `run-tools`, the kernel keeps these from writing; in other agents nothing does'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from pre-tool-use" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from pre-tool-use" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from pre-tool-use" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from pre-tool-use" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from pre-tool-use" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from permission-request" -l settings -d 'Take permission rules and hooks from a settings file of Claude Code or Qwen Code; repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from permission-request" -l allow -d 'Allow the calls that a rule matches, e.g. `Bash(npm test *)`; repeatable' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from permission-request" -l ask -d 'Ask about the calls that a rule matches; repeatable' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from permission-request" -l deny -d 'Deny the calls that a rule matches, whatever else allows them; repeatable' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from permission-request" -l permission-mode -d 'What happens to calls about which no rule decides [default: that of the settings, else default]' -r -f -a "default\t'Calls that only read run; about the others somebody is asked'
acceptEdits\t'Changes to files of the working directories run as well'
plan\t'Calls that only read run; about everything else somebody is asked, whatever rules allow'
auto\t'A judge decides about what rules leave open'
dontAsk\t'What rules leave open is denied'
bypassPermissions\t'Every call runs, but for what no mode allows'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from permission-request" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from permission-request" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from permission-request" -l trust-analysis -d 'Also allow what is only known to read by its words, such as `git log | head`, `find -name` and `sed -n 1,9p`. In `run-tools`, the kernel keeps these from writing; in other agents nothing does'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from permission-request" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from permission-request" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from permission-request" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from permission-request" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from permission-request" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from help" -f -a "pre-tool-use" -d 'Decide about a call of another agent, as its hook'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from help" -f -a "permission-request" -d 'Decide about a call of another agent, as its hook'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand hook; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and not __fish_seen_subcommand_from list show export tail search check stats path append rename help" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and not __fish_seen_subcommand_from list show export tail search check stats path append rename help" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and not __fish_seen_subcommand_from list show export tail search check stats path append rename help" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and not __fish_seen_subcommand_from list show export tail search check stats path append rename help" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and not __fish_seen_subcommand_from list show export tail search check stats path append rename help" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and not __fish_seen_subcommand_from list show export tail search check stats path append rename help" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and not __fish_seen_subcommand_from list show export tail search check stats path append rename help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and not __fish_seen_subcommand_from list show export tail search check stats path append rename help" -f -a "list" -d 'List sessions, most recently active first'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and not __fish_seen_subcommand_from list show export tail search check stats path append rename help" -f -a "show" -d 'Show the dialog of a session'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and not __fish_seen_subcommand_from list show export tail search check stats path append rename help" -f -a "export" -d 'Export sessions as pages with an index'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and not __fish_seen_subcommand_from list show export tail search check stats path append rename help" -f -a "tail" -d 'Show the end of a session file, whatever its size'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and not __fish_seen_subcommand_from list show export tail search check stats path append rename help" -f -a "search" -d 'Find what was said in sessions'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and not __fish_seen_subcommand_from list show export tail search check stats path append rename help" -f -a "check" -d 'Report what is wrong with session files'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and not __fish_seen_subcommand_from list show export tail search check stats path append rename help" -f -a "stats" -d 'Count tokens, money and calls by model, tool, day and purpose'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and not __fish_seen_subcommand_from list show export tail search check stats path append rename help" -f -a "path" -d 'Print the files of sessions'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and not __fish_seen_subcommand_from list show export tail search check stats path append rename help" -f -a "append" -d 'Record a stream in a session file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and not __fish_seen_subcommand_from list show export tail search check stats path append rename help" -f -a "rename" -d 'Give a session a name'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and not __fish_seen_subcommand_from list show export tail search check stats path append rename help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -l root -d 'Look in this folder instead of the agents\' own ones; repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -l agent -d 'Only sessions of this agent' -r -f -a "claude\t'Claude Code'
qwen\t'Qwen Code'
codex\t'Codex CLI'
gemini\t'Gemini CLI'
pi\t'pi'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -l cwd -d 'Only sessions that worked in this directory, or below it' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -l jobs -d 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -l since -d 'Only sessions active at this time or later (RFC 3339, a date, `yesterday`, or an age like 2d)' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -l before -d 'Only sessions last active before this time' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -l title -d 'Only sessions whose title, or else first prompt, has this text in it, in any case' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -l branch -d 'Only sessions on branches with this text in their name' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -l model -d 'Only sessions whose last model has this text in its name' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -l project -d 'Only sessions that began in a directory with this text in its path' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -s n -l limit -d 'Print at most N sessions' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -s o -l output -d 'What to print [default: text on a terminal, else jsonl]' -r -f -a "text\t'For people'
jsonl\t'Records'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -l all -d 'Sessions of all directories (the default)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -l no-mmap -d 'Read files instead of mapping them into memory'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -l untitled -d 'Only sessions without a title'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -l counts -d 'Count messages, calls, tokens and money, which takes reading whole files. Subagents are left out; `session stats` counts them'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -l resume -d 'Show the command that resumes each session, for use in its directory (a table of 200 columns and more, and records, always do)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -l json -d 'Print records, as with `-o jsonl`'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -l root -d 'Look in this folder instead of the agents\' own ones; repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -l agent -d 'Only sessions of this agent' -r -f -a "claude\t'Claude Code'
qwen\t'Qwen Code'
codex\t'Codex CLI'
gemini\t'Gemini CLI'
pi\t'pi'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -l cwd -d 'Only sessions that worked in this directory, or below it' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -l jobs -d 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -s o -l output -d 'What to print [default: text on a terminal, else jsonl]' -r -f -a "text\t'For a terminal'
md\t'Markdown'
jsonl\t'Records'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -l html -d 'Write an HTML page to this file; the page loads nothing from elsewhere' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -l tools -d 'How much to show of tool calls and results [default: summary in text and Markdown, else full]' -r -f -a "none\t'Nothing'
summary\t'Calls, and the beginnings of results'
full\t'Everything'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -l range -d 'Only these messages, counted from 1: 3, 3..7, 3.., ..7, or -5.. for the last five' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -l all -d 'Sessions of all directories (the default)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -l no-mmap -d 'Read files instead of mapping them into memory'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -l json -d 'Print records, as with `-o jsonl`'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -l thinking -d 'Show what the model thought (records always hold it, unless `--no-thinking`)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -l no-thinking -d 'Leave out what the model thought'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -l context -d 'Show in full what the agent put into messages, e.g. reminders and the texts of skills; text and Markdown have one line for each (records and pages always hold them)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -l all-branches -d 'Show abandoned branches too'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -l since-compact -d 'Show only what follows the last compaction'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -l compact -d 'Put neighbouring tool calls under one heading'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from export" -s o -l output -d 'What the pages are' -r -f -a "html\t'Pages for browsers'
md\t'Markdown'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from export" -l root -d 'Look in this folder instead of the agents\' own ones; repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from export" -l agent -d 'Only sessions of this agent' -r -f -a "claude\t'Claude Code'
qwen\t'Qwen Code'
codex\t'Codex CLI'
gemini\t'Gemini CLI'
pi\t'pi'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from export" -l cwd -d 'Only sessions that worked in this directory, or below it' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from export" -l jobs -d 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from export" -l since -d 'Only sessions active at this time or later (RFC 3339, a date, `yesterday`, or an age like 2d)' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from export" -l before -d 'Only sessions last active before this time' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from export" -l title -d 'Only sessions whose title, or else first prompt, has this text in it, in any case' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from export" -l branch -d 'Only sessions on branches with this text in their name' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from export" -l model -d 'Only sessions whose last model has this text in its name' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from export" -l project -d 'Only sessions that began in a directory with this text in its path' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from export" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from export" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from export" -l all -d 'Sessions of all directories (the default)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from export" -l no-mmap -d 'Read files instead of mapping them into memory'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from export" -l untitled -d 'Only sessions without a title'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from export" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from export" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from export" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from export" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -l root -d 'Look in this folder instead of the agents\' own ones; repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -l agent -d 'Only sessions of this agent' -r -f -a "claude\t'Claude Code'
qwen\t'Qwen Code'
codex\t'Codex CLI'
gemini\t'Gemini CLI'
pi\t'pi'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -l cwd -d 'Only sessions that worked in this directory, or below it' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -l jobs -d 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -s n -l lines -d 'Number of messages, or with --raw of records' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -l from -d 'Begin at this offset in bytes (from a cursor) instead of the last messages' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -l until-idle -d 'Stop when nothing was appended for this long (e.g. 500ms, 30s, 5m)' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -l timeout -d 'Stop after this long in any case' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -s o -l output -d 'What to print [default: text on a terminal, else jsonl]' -r -f -a "text\t'For people'
jsonl\t'Records'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -l all -d 'Sessions of all directories (the default)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -l no-mmap -d 'Read files instead of mapping them into memory'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -l raw -d 'Print lines as they are in the file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -s f -l follow -d 'Go on with what is appended'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -l latest -d 'Also show sessions that begin or go on from now on'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -l subagents -d 'Also show what subagents say from now on; their records name them'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -l cursor -d 'Write a cursor after each batch of records: where to continue reading'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -l exit-status -d 'Exit with 1 if --timeout ended it'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -l json -d 'Print records, as with `-o jsonl`'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from tail" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -l root -d 'Look in this folder instead of the agents\' own ones; repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -l agent -d 'Only sessions of this agent' -r -f -a "claude\t'Claude Code'
qwen\t'Qwen Code'
codex\t'Codex CLI'
gemini\t'Gemini CLI'
pi\t'pi'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -l cwd -d 'Only sessions that worked in this directory, or below it' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -l jobs -d 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -l since -d 'Only sessions active at this time or later (RFC 3339, a date, `yesterday`, or an age like 2d)' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -l before -d 'Only sessions last active before this time' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -l title -d 'Only sessions whose title, or else first prompt, has this text in it, in any case' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -l branch -d 'Only sessions on branches with this text in their name' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -l model -d 'Only sessions whose last model has this text in its name' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -l project -d 'Only sessions that began in a directory with this text in its path' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -l in -d 'The parts of messages to look in [default: text]' -r -f -a "text\t'What was said'
thinking\t'What the model thought'
calls\t'The input of calls'
results\t'The results of calls'
all\t'All of these'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -l role -d 'Only messages of these roles' -r -f -a "user\t'A person, or the agent on their behalf'
assistant\t'The model'
system\t'The agent, to the reader of the file'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -s m -l max-count -d 'Print at most N matching parts of each session' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -s n -l limit -d 'Print at most N matching parts in all' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -s C -l context -d 'Show N lines of the message before and after the match' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -s o -l output -d 'What to print [default: text on a terminal, else jsonl]' -r -f -a "text\t'For people'
jsonl\t'Records'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -l all -d 'Sessions of all directories (the default)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -l no-mmap -d 'Read files instead of mapping them into memory'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -l untitled -d 'Only sessions without a title'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -s F -l fixed-strings -d 'Take the pattern as plain text'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -s i -l ignore-case -d 'Ignore case'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -s w -l word -d 'Match only whole words'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -s l -l files-with-matches -d 'Print only the paths of the sessions that match'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -s c -l count -d 'Print only how many parts of messages match in each session'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -l exit-status -d 'Accepted for older scripts: the exit status is always 1 if nothing was found'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -l json -d 'Print records, as with `-o jsonl`'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from search" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from check" -l root -d 'Look in this folder instead of the agents\' own ones; repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from check" -l agent -d 'Only sessions of this agent' -r -f -a "claude\t'Claude Code'
qwen\t'Qwen Code'
codex\t'Codex CLI'
gemini\t'Gemini CLI'
pi\t'pi'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from check" -l cwd -d 'Only sessions that worked in this directory, or below it' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from check" -l jobs -d 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from check" -l repair-to -d 'Write a clean copy of the one named session: one whole record per line' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from check" -s o -l output -d 'What to print [default: text on a terminal, else jsonl]' -r -f -a "text\t'For people'
jsonl\t'Records'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from check" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from check" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from check" -l all -d 'Sessions of all directories (the default)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from check" -l no-mmap -d 'Read files instead of mapping them into memory'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from check" -l exit-status -d 'Exit with 1 if there is damage'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from check" -l summary -d 'Print only the totals'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from check" -l json -d 'Print records, as with `-o jsonl`'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from check" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from check" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from check" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from check" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -l root -d 'Look in this folder instead of the agents\' own ones; repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -l agent -d 'Only sessions of this agent' -r -f -a "claude\t'Claude Code'
qwen\t'Qwen Code'
codex\t'Codex CLI'
gemini\t'Gemini CLI'
pi\t'pi'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -l cwd -d 'Only sessions that worked in this directory, or below it' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -l jobs -d 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -l since -d 'Only what was asked and answered at this time or later (RFC 3339, a date, `yesterday`, or an age like 2d)' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -l until -d 'Only what was asked and answered before this time' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -l by -d 'One row for each day, model and so on, and in text their sum; separate several by commas' -r -f -a "day\t'The day'
week\t'The week of ISO 8601, from Monday on'
month\t'The month'
block\t'Five hours, as subscriptions to Claude count them: from the full hour before a request on that is not in the five hours before; for use with `--agent claude`'
model\t'The model that was asked'
project\t'The directory in which the session began'
session\t'The session\'s id'
agent\t'The agent that wrote the session'
prompt\t'What asked: `main`, or the id of a service such as `session_title`'
tool\t'The tool that was called. A reply\'s tokens belong to none of its calls, so this counts calls and the text of their results instead of money'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -l tz -d 'Where days, weeks and months begin, those of `--since` and `--until` too, such as Europe/Berlin [default: the system\'s zone]' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -l prices -d 'Prices that count more than those that are built in; `data/prices.toml` in the source shows the form' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -l budget -d 'Print one line instead, and exit with 1 if more than this was spent, in US dollars' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -s o -l output -d 'What to print [default: text on a terminal, else jsonl]' -r -f -a "text\t'For people'
jsonl\t'Records'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -l all -d 'Sessions of all directories (the default)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -l no-mmap -d 'Read files instead of mapping them into memory'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -l statusline -d 'Print a line for Claude Code\'s status line, whose input is read from standard input: the model, what the session, the day and the running block of five hours cost, and how full the context is. Only sessions of the last 24 hours are looked at'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -l json -d 'Print records, as with `-o jsonl`'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from stats" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from path" -l root -d 'Look in this folder instead of the agents\' own ones; repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from path" -l agent -d 'Only sessions of this agent' -r -f -a "claude\t'Claude Code'
qwen\t'Qwen Code'
codex\t'Codex CLI'
gemini\t'Gemini CLI'
pi\t'pi'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from path" -l cwd -d 'Only sessions that worked in this directory, or below it' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from path" -l jobs -d 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from path" -s o -l output -d 'What to print' -r -f -a "text\t'For people'
jsonl\t'Records'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from path" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from path" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from path" -l all -d 'Sessions of all directories (the default)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from path" -l no-mmap -d 'Read files instead of mapping them into memory'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from path" -l json -d 'Print records, as with `-o jsonl`'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from path" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from path" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from path" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from path" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from path" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from append" -l session-id -d 'The session\'s id [default: that of the stream or the file, else the file\'s name]' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from append" -l sync -d 'What must survive a crash of the machine' -r -f -a "data\t'All data is on disk before the run ends'
none\t'The system writes the data to disk when it likes'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from append" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from append" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from append" -l force -d 'Write to network file systems too; make sure that no other machine writes to the file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from append" -l redact -d 'Record `[redacted]` in place of what looks like a key or a password; the copy stays as it is'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from append" -l no-echo -d 'Do not copy the input'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from append" -l exit-status -d 'Exit with 10 if no call was made, with 11 if the turn was stopped; 0 means continue'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from append" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from append" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from append" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from append" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from append" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from rename" -l root -d 'Look in this folder instead of the agents\' own ones; repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from rename" -l agent -d 'Only sessions of this agent' -r -f -a "claude\t'Claude Code'
qwen\t'Qwen Code'
codex\t'Codex CLI'
gemini\t'Gemini CLI'
pi\t'pi'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from rename" -l cwd -d 'Only sessions that worked in this directory, or below it' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from rename" -l jobs -d 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from rename" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from rename" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from rename" -l force -d 'Write to network file systems too; make sure that no other machine writes to the file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from rename" -l all -d 'Sessions of all directories (the default)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from rename" -l no-mmap -d 'Read files instead of mapping them into memory'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from rename" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from rename" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from rename" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from rename" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from rename" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from help" -f -a "list" -d 'List sessions, most recently active first'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show the dialog of a session'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from help" -f -a "export" -d 'Export sessions as pages with an index'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from help" -f -a "tail" -d 'Show the end of a session file, whatever its size'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from help" -f -a "search" -d 'Find what was said in sessions'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from help" -f -a "check" -d 'Report what is wrong with session files'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from help" -f -a "stats" -d 'Count tokens, money and calls by model, tool, day and purpose'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from help" -f -a "path" -d 'Print the files of sessions'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from help" -f -a "append" -d 'Record a stream in a session file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from help" -f -a "rename" -d 'Give a session a name'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand session; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand tools" -l format -d 'The API to declare the tools for' -r -f -a "anthropic\t'`tools` of the Anthropic messages API'
openai\t'`tools` of `OpenAI` chat completions'
gemini\t'`tools` of Gemini\'s `generateContent`'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand tools" -s o -l output -d 'What to print [default: text on a terminal, else json]' -r -f -a "text\t'A list of names and descriptions'
json\t'The declarations'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand tools" -l tools -d 'Add the command tools of a manifest (TOML or JSON, see `docs/command-tools.md`); repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand tools" -l mcp-config -d 'Add the tools of the MCP servers in a file like `.mcp.json`; repeatable' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand tools" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand tools" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand tools" -l json -d 'Print the declarations, as with `-o json`'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand tools" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand tools" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand tools" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand tools" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand tools" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand schema" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand schema" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand schema" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand schema" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand schema" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand schema" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand state; and not __fish_seen_subcommand_from clean help" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand state; and not __fish_seen_subcommand_from clean help" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand state; and not __fish_seen_subcommand_from clean help" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand state; and not __fish_seen_subcommand_from clean help" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand state; and not __fish_seen_subcommand_from clean help" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand state; and not __fish_seen_subcommand_from clean help" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand state; and not __fish_seen_subcommand_from clean help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand state; and not __fish_seen_subcommand_from clean help" -f -a "clean" -d 'Remove old results and other state of sessions'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand state; and not __fish_seen_subcommand_from clean help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand state; and __fish_seen_subcommand_from clean" -l older-than -d 'Remove what was last changed longer ago than this (e.g. 30d, 12h)' -r
complete -c turnpipe -n "__fish_turnpipe_using_subcommand state; and __fish_seen_subcommand_from clean" -l state-dir -d 'The directory that holds the state' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand state; and __fish_seen_subcommand_from clean" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand state; and __fish_seen_subcommand_from clean" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand state; and __fish_seen_subcommand_from clean" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand state; and __fish_seen_subcommand_from clean" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand state; and __fish_seen_subcommand_from clean" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand state; and __fish_seen_subcommand_from clean" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand state; and __fish_seen_subcommand_from clean" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand state; and __fish_seen_subcommand_from help" -f -a "clean" -d 'Remove old results and other state of sessions'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand state; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand doctor" -s o -l output -d 'What to print [default: text on a terminal, else jsonl]' -r -f -a "text\t'For people'
jsonl\t'Records'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand doctor" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand doctor" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand doctor" -l probe -d 'Send a small request to each configured model'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand doctor" -l json -d 'Print records, as with `-o jsonl`'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand doctor" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand doctor" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand doctor" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand doctor" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand completions" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand completions" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand completions" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand completions" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand completions" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand completions" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand man" -l config -d 'Read this configuration file instead of the usual one' -r -F
complete -c turnpipe -n "__fish_turnpipe_using_subcommand man" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand man" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand man" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand man" -l no-config -d 'Read no configuration file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand man" -l no-pager -d 'Show long text on a terminal without a pager'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and not __fish_seen_subcommand_from run-tools summarize-batch title recap turn check hook session tools schema state doctor completions man help" -f -a "run-tools" -d 'Execute the tool calls of an assistant stream'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and not __fish_seen_subcommand_from run-tools summarize-batch title recap turn check hook session tools schema state doctor completions man help" -f -a "summarize-batch" -d 'Label finished batches of tool calls'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and not __fish_seen_subcommand_from run-tools summarize-batch title recap turn check hook session tools schema state doctor completions man help" -f -a "title" -d 'Name sessions by what they are about'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and not __fish_seen_subcommand_from run-tools summarize-batch title recap turn check hook session tools schema state doctor completions man help" -f -a "recap" -d 'Say where you left off'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and not __fish_seen_subcommand_from run-tools summarize-batch title recap turn check hook session tools schema state doctor completions man help" -f -a "turn" -d 'Ask the main model for its next reply'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and not __fish_seen_subcommand_from run-tools summarize-batch title recap turn check hook session tools schema state doctor completions man help" -f -a "check" -d 'Check each line of the input'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and not __fish_seen_subcommand_from run-tools summarize-batch title recap turn check hook session tools schema state doctor completions man help" -f -a "hook" -d 'Decide about the calls of another agent, as its hook'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and not __fish_seen_subcommand_from run-tools summarize-batch title recap turn check hook session tools schema state doctor completions man help" -f -a "session" -d 'Read the session files of coding agents'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and not __fish_seen_subcommand_from run-tools summarize-batch title recap turn check hook session tools schema state doctor completions man help" -f -a "tools" -d 'Print the tools that calls can name'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and not __fish_seen_subcommand_from run-tools summarize-batch title recap turn check hook session tools schema state doctor completions man help" -f -a "schema" -d 'Print the JSON Schema of a record'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and not __fish_seen_subcommand_from run-tools summarize-batch title recap turn check hook session tools schema state doctor completions man help" -f -a "state" -d 'Manage the state that sessions leave behind'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and not __fish_seen_subcommand_from run-tools summarize-batch title recap turn check hook session tools schema state doctor completions man help" -f -a "doctor" -d 'Show what is configured, where each value comes from, and what cannot work'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and not __fish_seen_subcommand_from run-tools summarize-batch title recap turn check hook session tools schema state doctor completions man help" -f -a "completions" -d 'Print a shell completion script'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and not __fish_seen_subcommand_from run-tools summarize-batch title recap turn check hook session tools schema state doctor completions man help" -f -a "man" -d 'Write manual pages'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and not __fish_seen_subcommand_from run-tools summarize-batch title recap turn check hook session tools schema state doctor completions man help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and __fish_seen_subcommand_from check" -f -a "shell" -d 'Check whether shell commands only read'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and __fish_seen_subcommand_from check" -f -a "permission" -d 'Check whether calls may run, and what decides'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and __fish_seen_subcommand_from check" -f -a "text" -d 'Clean text that a model wrote'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and __fish_seen_subcommand_from hook" -f -a "pre-tool-use" -d 'Decide about a call of another agent, as its hook'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and __fish_seen_subcommand_from hook" -f -a "permission-request" -d 'Decide about a call of another agent, as its hook'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and __fish_seen_subcommand_from session" -f -a "list" -d 'List sessions, most recently active first'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and __fish_seen_subcommand_from session" -f -a "show" -d 'Show the dialog of a session'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and __fish_seen_subcommand_from session" -f -a "export" -d 'Export sessions as pages with an index'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and __fish_seen_subcommand_from session" -f -a "tail" -d 'Show the end of a session file, whatever its size'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and __fish_seen_subcommand_from session" -f -a "search" -d 'Find what was said in sessions'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and __fish_seen_subcommand_from session" -f -a "check" -d 'Report what is wrong with session files'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and __fish_seen_subcommand_from session" -f -a "stats" -d 'Count tokens, money and calls by model, tool, day and purpose'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and __fish_seen_subcommand_from session" -f -a "path" -d 'Print the files of sessions'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and __fish_seen_subcommand_from session" -f -a "append" -d 'Record a stream in a session file'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and __fish_seen_subcommand_from session" -f -a "rename" -d 'Give a session a name'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand help; and __fish_seen_subcommand_from state" -f -a "clean" -d 'Remove old results and other state of sessions'
