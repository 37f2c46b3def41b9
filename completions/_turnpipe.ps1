
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'turnpipe' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'turnpipe'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'turnpipe' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('run-tools', 'run-tools', [CompletionResultType]::ParameterValue, 'Execute the tool calls of an assistant stream')
            [CompletionResult]::new('summarize-batch', 'summarize-batch', [CompletionResultType]::ParameterValue, 'Label finished batches of tool calls')
            [CompletionResult]::new('title', 'title', [CompletionResultType]::ParameterValue, 'Name sessions by what they are about')
            [CompletionResult]::new('recap', 'recap', [CompletionResultType]::ParameterValue, 'Say where you left off')
            [CompletionResult]::new('turn', 'turn', [CompletionResultType]::ParameterValue, 'Ask the main model for its next reply')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Check each line of the input')
            [CompletionResult]::new('hook', 'hook', [CompletionResultType]::ParameterValue, 'Decide about the calls of another agent, as its hook')
            [CompletionResult]::new('session', 'session', [CompletionResultType]::ParameterValue, 'Read the session files of coding agents')
            [CompletionResult]::new('tools', 'tools', [CompletionResultType]::ParameterValue, 'Print the tools that calls can name')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of a record')
            [CompletionResult]::new('state', 'state', [CompletionResultType]::ParameterValue, 'Manage the state that sessions leave behind')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Show what is configured, where each value comes from, and what cannot work')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a shell completion script')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Write manual pages')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'turnpipe;run-tools' {
            [CompletionResult]::new('--emit', '--emit', [CompletionResultType]::ParameterName, 'When results go out')
            [CompletionResult]::new('--schedule', '--schedule', [CompletionResultType]::ParameterName, 'How the scheduler decides which calls can run together')
            [CompletionResult]::new('--on-error', '--on-error', [CompletionResultType]::ParameterName, 'What a failing call does to the other calls of its turn')
            [CompletionResult]::new('--enforce', '--enforce', [CompletionResultType]::ParameterName, 'Whether the kernel must keep parallel calls from writing')
            [CompletionResult]::new('--mcp-config', '--mcp-config', [CompletionResultType]::ParameterName, 'Add the tools of the MCP servers in a file like `.mcp.json`; repeatable')
            [CompletionResult]::new('--settings', '--settings', [CompletionResultType]::ParameterName, 'Take permission rules and hooks from a settings file of Claude Code or Qwen Code; repeatable')
            [CompletionResult]::new('--allow', '--allow', [CompletionResultType]::ParameterName, 'Allow the calls that a rule matches, e.g. `Bash(npm test *)`; repeatable')
            [CompletionResult]::new('--ask', '--ask', [CompletionResultType]::ParameterName, 'Ask about the calls that a rule matches; repeatable')
            [CompletionResult]::new('--deny', '--deny', [CompletionResultType]::ParameterName, 'Deny the calls that a rule matches, whatever else allows them; repeatable')
            [CompletionResult]::new('--permission-mode', '--permission-mode', [CompletionResultType]::ParameterName, 'What happens to calls about which no rule decides [default: that of the settings, else default]')
            [CompletionResult]::new('--permission-prompt', '--permission-prompt', [CompletionResultType]::ParameterName, 'Who is asked about calls that are neither allowed nor denied: nobody, and they do not run (`deny`); the person at the terminal (`tty`); the program that reads the records and writes the input (`stdio`); or a tool of an MCP server (`mcp__SERVER__TOOL`)')
            [CompletionResult]::new('--judge', '--judge', [CompletionResultType]::ParameterName, 'The model that judges calls in the permission mode auto [default: the fast model]')
            [CompletionResult]::new('--max-concurrency', '--max-concurrency', [CompletionResultType]::ParameterName, 'How many calls run at once [default: 10]')
            [CompletionResult]::new('--tools-only', '--tools-only', [CompletionResultType]::ParameterName, 'Run only these tools')
            [CompletionResult]::new('--tools', '--tools', [CompletionResultType]::ParameterName, 'Add the command tools of a manifest (TOML or JSON, see `docs/command-tools.md`); repeatable')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'End the whole run after this time, with status 124 (e.g. 90, 90s, 1500ms, 5m)')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Read only this dialect, instead of detecting it line by line')
            [CompletionResult]::new('--results', '--results', [CompletionResultType]::ParameterName, 'Write the messages that the next request of this API takes, and nothing else: what the model said, unless `--no-echo` is given, and the results of each turn')
            [CompletionResult]::new('--session-id', '--session-id', [CompletionResultType]::ParameterName, 'The session whose state is used and updated')
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The directory that holds the state')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Where shell calls start [default: where the last run of the session ended, else this directory]')
            [CompletionResult]::new('--add-dir', '--add-dir', [CompletionResultType]::ParameterName, 'Another directory that shell calls may change to; repeatable')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Pass this variable on to commands, although it holds a secret or can change what they do (e.g. `GITHUB_TOKEN` or `LD_LIBRARY_PATH`); repeatable')
            [CompletionResult]::new('--trace', '--trace', [CompletionResultType]::ParameterName, 'Write a trace of the run for Chrome''s trace viewer or Perfetto')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--plan', '--plan', [CompletionResultType]::ParameterName, 'Print the batches in which the calls would run, but run nothing')
            [CompletionResult]::new('--execute', '--execute', [CompletionResultType]::ParameterName, 'Run unanswered calls even if the input is a recording')
            [CompletionResult]::new('--no-echo', '--no-echo', [CompletionResultType]::ParameterName, 'Do not copy the input')
            [CompletionResult]::new('--assume-read-only', '--assume-read-only', [CompletionResultType]::ParameterName, 'Run all shell commands in parallel (for tests of --enforce)')
            [CompletionResult]::new('--dedup', '--dedup', [CompletionResultType]::ParameterName, 'Replace a result that repeats an earlier one by a reference')
            [CompletionResult]::new('--allow-private-addresses', '--allow-private-addresses', [CompletionResultType]::ParameterName, 'Let `WebFetch` fetch from this machine and private networks')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Check every line of the input, and exit with 3 if it has unusable records')
            [CompletionResult]::new('--exit-status', '--exit-status', [CompletionResultType]::ParameterName, 'Exit with 1 if a call failed or was denied')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;summarize-batch' {
            [CompletionResult]::new('--emit', '--emit', [CompletionResultType]::ParameterName, 'When labels go out')
            [CompletionResult]::new('--hold-ms', '--hold-ms', [CompletionResultType]::ParameterName, 'How long to hold a line for a label before dropping the label, in milliseconds')
            [CompletionResult]::new('-j', '-j', [CompletionResultType]::ParameterName, 'How many labels to make at once')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'How many labels to make at once')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Also append the labels to `FILE.turnpipe.jsonl`, beside this session file')
            [CompletionResult]::new('--settings', '--settings', [CompletionResultType]::ParameterName, 'Take from this agent''s settings file whether labels are wanted')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Read only this dialect, instead of detecting it line by line')
            [CompletionResult]::new('--prompt-file', '--prompt-file', [CompletionResultType]::ParameterName, 'Use the instructions in this file instead of the built-in ones')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'The model to ask: `openai:gpt-5-mini`, `ollama:qwen3`, `builtin`, `replay:FILE`, `none`')
            [CompletionResult]::new('--record-http', '--record-http', [CompletionResultType]::ParameterName, 'Append every exchange with the model to a file, without keys, for `--model replay:FILE`')
            [CompletionResult]::new('--timeout-ms', '--timeout-ms', [CompletionResultType]::ParameterName, 'How long the model may take to answer, in milliseconds')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--shortcuts', '--shortcuts', [CompletionResultType]::ParameterName, 'Label a single call that reads or searches by the built-in rules instead of the model')
            [CompletionResult]::new('--no-echo', '--no-echo', [CompletionResultType]::ParameterName, 'Do not copy the input')
            [CompletionResult]::new('--exit-status', '--exit-status', [CompletionResultType]::ParameterName, 'Exit with 1 if there is no result')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print records, as with `-o jsonl`')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print the body of each request instead of sending it')
            [CompletionResult]::new('--print-prompt', '--print-prompt', [CompletionResultType]::ParameterName, 'Print the prompts instead of using them')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;title' {
            [CompletionResult]::new('--style', '--style', [CompletionResultType]::ParameterName, 'How titles look')
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The directory in which attempts are counted')
            [CompletionResult]::new('--language', '--language', [CompletionResultType]::ParameterName, 'Language of the text: `auto` for that of the conversation, or a code like `de`')
            [CompletionResult]::new('--rpm', '--rpm', [CompletionResultType]::ParameterName, 'Limit requests per minute')
            [CompletionResult]::new('--prompt-file', '--prompt-file', [CompletionResultType]::ParameterName, 'Use the instructions in this file instead of the built-in ones')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'The model to ask: `openai:gpt-5-mini`, `ollama:qwen3`, `builtin`, `replay:FILE`, `none`')
            [CompletionResult]::new('--record-http', '--record-http', [CompletionResultType]::ParameterName, 'Append every exchange with the model to a file, without keys, for `--model replay:FILE`')
            [CompletionResult]::new('--timeout-ms', '--timeout-ms', [CompletionResultType]::ParameterName, 'How long the model may take to answer, in milliseconds')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Look in this folder instead of the agents'' own ones; repeatable')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'Only sessions of this agent')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Only sessions that worked in this directory, or below it')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--write', '--write', [CompletionResultType]::ParameterName, 'Write the title into the session file, unless a person gave one')
            [CompletionResult]::new('--replace', '--replace', [CompletionResultType]::ParameterName, 'Write it even over a title that a person gave')
            [CompletionResult]::new('--auto', '--auto', [CompletionResultType]::ParameterName, 'Name only sessions that an agent would name by itself: no title yet, fewer than three attempts, not switched off, a fast model configured')
            [CompletionResult]::new('--exit-status', '--exit-status', [CompletionResultType]::ParameterName, 'Exit with 1 if there is no result')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print records, as with `-o jsonl`')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print the body of each request instead of sending it')
            [CompletionResult]::new('--print-prompt', '--print-prompt', [CompletionResultType]::ParameterName, 'Print the prompts instead of using them')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Sessions of all directories (the default)')
            [CompletionResult]::new('--no-mmap', '--no-mmap', [CompletionResultType]::ParameterName, 'Read files instead of mapping them into memory')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;recap' {
            [CompletionResult]::new('--away-minutes', '--away-minutes', [CompletionResultType]::ParameterName, 'Minutes of absence that --auto and --watch wait for')
            [CompletionResult]::new('--language', '--language', [CompletionResultType]::ParameterName, 'Language of the text: `auto` for that of the conversation, or a code like `de`')
            [CompletionResult]::new('--rpm', '--rpm', [CompletionResultType]::ParameterName, 'Limit requests per minute')
            [CompletionResult]::new('--prompt-file', '--prompt-file', [CompletionResultType]::ParameterName, 'Use the instructions in this file instead of the built-in ones')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'The model to ask: `openai:gpt-5-mini`, `ollama:qwen3`, `builtin`, `replay:FILE`, `none`')
            [CompletionResult]::new('--record-http', '--record-http', [CompletionResultType]::ParameterName, 'Append every exchange with the model to a file, without keys, for `--model replay:FILE`')
            [CompletionResult]::new('--timeout-ms', '--timeout-ms', [CompletionResultType]::ParameterName, 'How long the model may take to answer, in milliseconds')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Look in this folder instead of the agents'' own ones; repeatable')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'Only sessions of this agent')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Only sessions that worked in this directory, or below it')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--write', '--write', [CompletionResultType]::ParameterName, 'Write the recap into the session file, so that it is shown on resuming')
            [CompletionResult]::new('--auto', '--auto', [CompletionResultType]::ParameterName, 'Write a recap only where an agent would: after three prompts, two since the last recap, with nothing unanswered, and five minutes of absence')
            [CompletionResult]::new('--watch', '--watch', [CompletionResultType]::ParameterName, 'Stay at this terminal, and print a recap each time you come back to it')
            [CompletionResult]::new('--exit-status', '--exit-status', [CompletionResultType]::ParameterName, 'Exit with 1 if there is no result')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print records, as with `-o jsonl`')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print the body of each request instead of sending it')
            [CompletionResult]::new('--print-prompt', '--print-prompt', [CompletionResultType]::ParameterName, 'Print the prompts instead of using them')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Sessions of all directories (the default)')
            [CompletionResult]::new('--no-mmap', '--no-mmap', [CompletionResultType]::ParameterName, 'Read files instead of mapping them into memory')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;turn' {
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'The session file with the conversation, which may still be missing [default: standard input has the conversation, unless it is a terminal]')
            [CompletionResult]::new('--prompt', '--prompt', [CompletionResultType]::ParameterName, 'Say this first, and write it as a record')
            [CompletionResult]::new('--system', '--system', [CompletionResultType]::ParameterName, 'The instructions for the model [default: short ones for a coding agent]')
            [CompletionResult]::new('--session-id', '--session-id', [CompletionResultType]::ParameterName, 'The session''s id [default: that of the conversation, else the file''s name, else a new one]')
            [CompletionResult]::new('--tools', '--tools', [CompletionResultType]::ParameterName, 'Add the command tools of a manifest (TOML or JSON, see `docs/command-tools.md`); repeatable')
            [CompletionResult]::new('--tools-only', '--tools-only', [CompletionResultType]::ParameterName, 'Offer only these tools, separated by commas; an empty list offers none')
            [CompletionResult]::new('--mcp-config', '--mcp-config', [CompletionResultType]::ParameterName, 'Add the tools of the MCP servers in a file like `.mcp.json`; repeatable')
            [CompletionResult]::new('--max-tokens', '--max-tokens', [CompletionResultType]::ParameterName, 'The most tokens that the reply may have')
            [CompletionResult]::new('--temperature', '--temperature', [CompletionResultType]::ParameterName, 'How freely the model chooses its words [default: the server decides]')
            [CompletionResult]::new('--thinking', '--thinking', [CompletionResultType]::ParameterName, 'Let the model think with about this many tokens, which count apart; 0 for no thinking [default: the model decides]')
            [CompletionResult]::new('--max-turns', '--max-turns', [CompletionResultType]::ParameterName, 'Do not ask once the model has replied this often since a person last said something')
            [CompletionResult]::new('--max-budget', '--max-budget', [CompletionResultType]::ParameterName, 'Do not ask once the conversation has cost this many US dollars')
            [CompletionResult]::new('--max-session-tokens', '--max-session-tokens', [CompletionResultType]::ParameterName, 'Do not ask once the conversation has cost this many tokens')
            [CompletionResult]::new('--settings', '--settings', [CompletionResultType]::ParameterName, 'Run the `Stop` hooks of a settings file of Claude Code or Qwen Code after a reply without calls; repeatable')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'The model to ask: `openai:gpt-5-mini`, `ollama:qwen3`, `builtin`, `replay:FILE`, `none`')
            [CompletionResult]::new('--record-http', '--record-http', [CompletionResultType]::ParameterName, 'Append every exchange with the model to a file, without keys, for `--model replay:FILE`')
            [CompletionResult]::new('--timeout-ms', '--timeout-ms', [CompletionResultType]::ParameterName, 'How long the model may take to answer, in milliseconds')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'Also write the parts of each block as they come')
            [CompletionResult]::new('--no-stream', '--no-stream', [CompletionResultType]::ParameterName, 'Ask for the whole reply at once')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print the body of each request instead of sending it')
            [CompletionResult]::new('--print-prompt', '--print-prompt', [CompletionResultType]::ParameterName, 'Print the prompts instead of using them')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;check' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('shell', 'shell', [CompletionResultType]::ParameterValue, 'Check whether shell commands only read')
            [CompletionResult]::new('permission', 'permission', [CompletionResultType]::ParameterValue, 'Check whether calls may run, and what decides')
            [CompletionResult]::new('text', 'text', [CompletionResultType]::ParameterValue, 'Clean text that a model wrote')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'turnpipe;check;shell' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--plain', '--plain', [CompletionResultType]::ParameterName, 'Take each line as raw text, not as JSON')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Exit with 3 if a line was unusable')
            [CompletionResult]::new('--explain', '--explain', [CompletionResultType]::ParameterName, 'Print each command for people, with the decisive word marked')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;check;permission' {
            [CompletionResult]::new('--settings', '--settings', [CompletionResultType]::ParameterName, 'Take permission rules and hooks from a settings file of Claude Code or Qwen Code; repeatable')
            [CompletionResult]::new('--allow', '--allow', [CompletionResultType]::ParameterName, 'Allow the calls that a rule matches, e.g. `Bash(npm test *)`; repeatable')
            [CompletionResult]::new('--ask', '--ask', [CompletionResultType]::ParameterName, 'Ask about the calls that a rule matches; repeatable')
            [CompletionResult]::new('--deny', '--deny', [CompletionResultType]::ParameterName, 'Deny the calls that a rule matches, whatever else allows them; repeatable')
            [CompletionResult]::new('--permission-mode', '--permission-mode', [CompletionResultType]::ParameterName, 'What happens to calls about which no rule decides [default: that of the settings, else default]')
            [CompletionResult]::new('--tools', '--tools', [CompletionResultType]::ParameterName, 'Add the command tools of a manifest (TOML or JSON, see `docs/command-tools.md`); repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--plain', '--plain', [CompletionResultType]::ParameterName, 'Take each line as raw text, not as JSON')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Exit with 3 if a line was unusable')
            [CompletionResult]::new('--exit-status', '--exit-status', [CompletionResultType]::ParameterName, 'Exit with 1 if a call is not allowed, or a line is unusable')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;check;text' {
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'What the text will be used as')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--plain', '--plain', [CompletionResultType]::ParameterName, 'Take each line as raw text, not as JSON')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Exit with 3 if a line was unusable')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;check;help' {
            [CompletionResult]::new('shell', 'shell', [CompletionResultType]::ParameterValue, 'Check whether shell commands only read')
            [CompletionResult]::new('permission', 'permission', [CompletionResultType]::ParameterValue, 'Check whether calls may run, and what decides')
            [CompletionResult]::new('text', 'text', [CompletionResultType]::ParameterValue, 'Clean text that a model wrote')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'turnpipe;check;help;shell' {
            break
        }
        'turnpipe;check;help;permission' {
            break
        }
        'turnpipe;check;help;text' {
            break
        }
        'turnpipe;check;help;help' {
            break
        }
        'turnpipe;hook' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('pre-tool-use', 'pre-tool-use', [CompletionResultType]::ParameterValue, 'Decide about a call of another agent, as its hook')
            [CompletionResult]::new('permission-request', 'permission-request', [CompletionResultType]::ParameterValue, 'Decide about a call of another agent, as its hook')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'turnpipe;hook;pre-tool-use' {
            [CompletionResult]::new('--settings', '--settings', [CompletionResultType]::ParameterName, 'Take permission rules and hooks from a settings file of Claude Code or Qwen Code; repeatable')
            [CompletionResult]::new('--allow', '--allow', [CompletionResultType]::ParameterName, 'Allow the calls that a rule matches, e.g. `Bash(npm test *)`; repeatable')
            [CompletionResult]::new('--ask', '--ask', [CompletionResultType]::ParameterName, 'Ask about the calls that a rule matches; repeatable')
            [CompletionResult]::new('--deny', '--deny', [CompletionResultType]::ParameterName, 'Deny the calls that a rule matches, whatever else allows them; repeatable')
            [CompletionResult]::new('--permission-mode', '--permission-mode', [CompletionResultType]::ParameterName, 'What happens to calls about which no rule decides [default: that of the settings, else default]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--trust-analysis', '--trust-analysis', [CompletionResultType]::ParameterName, 'Also allow what is only known to read by its words, such as `git log | head`, `find -name` and `sed -n 1,9p`. In `run-tools`, the kernel keeps these from writing; in other agents nothing does')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;hook;permission-request' {
            [CompletionResult]::new('--settings', '--settings', [CompletionResultType]::ParameterName, 'Take permission rules and hooks from a settings file of Claude Code or Qwen Code; repeatable')
            [CompletionResult]::new('--allow', '--allow', [CompletionResultType]::ParameterName, 'Allow the calls that a rule matches, e.g. `Bash(npm test *)`; repeatable')
            [CompletionResult]::new('--ask', '--ask', [CompletionResultType]::ParameterName, 'Ask about the calls that a rule matches; repeatable')
            [CompletionResult]::new('--deny', '--deny', [CompletionResultType]::ParameterName, 'Deny the calls that a rule matches, whatever else allows them; repeatable')
            [CompletionResult]::new('--permission-mode', '--permission-mode', [CompletionResultType]::ParameterName, 'What happens to calls about which no rule decides [default: that of the settings, else default]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--trust-analysis', '--trust-analysis', [CompletionResultType]::ParameterName, 'Also allow what is only known to read by its words, such as `git log | head`, `find -name` and `sed -n 1,9p`. In `run-tools`, the kernel keeps these from writing; in other agents nothing does')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;hook;help' {
            [CompletionResult]::new('pre-tool-use', 'pre-tool-use', [CompletionResultType]::ParameterValue, 'Decide about a call of another agent, as its hook')
            [CompletionResult]::new('permission-request', 'permission-request', [CompletionResultType]::ParameterValue, 'Decide about a call of another agent, as its hook')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'turnpipe;hook;help;pre-tool-use' {
            break
        }
        'turnpipe;hook;help;permission-request' {
            break
        }
        'turnpipe;hook;help;help' {
            break
        }
        'turnpipe;session' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List sessions, most recently active first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show the dialog of a session')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Export sessions as pages with an index')
            [CompletionResult]::new('tail', 'tail', [CompletionResultType]::ParameterValue, 'Show the end of a session file, whatever its size')
            [CompletionResult]::new('search', 'search', [CompletionResultType]::ParameterValue, 'Find what was said in sessions')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Report what is wrong with session files')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Count tokens, money and calls by model, tool, day and purpose')
            [CompletionResult]::new('path', 'path', [CompletionResultType]::ParameterValue, 'Print the files of sessions')
            [CompletionResult]::new('append', 'append', [CompletionResultType]::ParameterValue, 'Record a stream in a session file')
            [CompletionResult]::new('rename', 'rename', [CompletionResultType]::ParameterValue, 'Give a session a name')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'turnpipe;session;list' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Look in this folder instead of the agents'' own ones; repeatable')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'Only sessions of this agent')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Only sessions that worked in this directory, or below it')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Only sessions active at this time or later (RFC 3339, a date, `yesterday`, or an age like 2d)')
            [CompletionResult]::new('--before', '--before', [CompletionResultType]::ParameterName, 'Only sessions last active before this time')
            [CompletionResult]::new('--title', '--title', [CompletionResultType]::ParameterName, 'Only sessions whose title, or else first prompt, has this text in it, in any case')
            [CompletionResult]::new('--branch', '--branch', [CompletionResultType]::ParameterName, 'Only sessions on branches with this text in their name')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'Only sessions whose last model has this text in its name')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'Only sessions that began in a directory with this text in its path')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Print at most N sessions')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Print at most N sessions')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Sessions of all directories (the default)')
            [CompletionResult]::new('--no-mmap', '--no-mmap', [CompletionResultType]::ParameterName, 'Read files instead of mapping them into memory')
            [CompletionResult]::new('--untitled', '--untitled', [CompletionResultType]::ParameterName, 'Only sessions without a title')
            [CompletionResult]::new('--counts', '--counts', [CompletionResultType]::ParameterName, 'Count messages, calls, tokens and money, which takes reading whole files. Subagents are left out; `session stats` counts them')
            [CompletionResult]::new('--resume', '--resume', [CompletionResultType]::ParameterName, 'Show the command that resumes each session, for use in its directory (a table of 200 columns and more, and records, always do)')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print records, as with `-o jsonl`')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;session;show' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Look in this folder instead of the agents'' own ones; repeatable')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'Only sessions of this agent')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Only sessions that worked in this directory, or below it')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--html', '--html', [CompletionResultType]::ParameterName, 'Write an HTML page to this file; the page loads nothing from elsewhere')
            [CompletionResult]::new('--tools', '--tools', [CompletionResultType]::ParameterName, 'How much to show of tool calls and results [default: summary in text and Markdown, else full]')
            [CompletionResult]::new('--range', '--range', [CompletionResultType]::ParameterName, 'Only these messages, counted from 1: 3, 3..7, 3.., ..7, or -5.. for the last five')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Sessions of all directories (the default)')
            [CompletionResult]::new('--no-mmap', '--no-mmap', [CompletionResultType]::ParameterName, 'Read files instead of mapping them into memory')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print records, as with `-o jsonl`')
            [CompletionResult]::new('--thinking', '--thinking', [CompletionResultType]::ParameterName, 'Show what the model thought (records always hold it, unless `--no-thinking`)')
            [CompletionResult]::new('--no-thinking', '--no-thinking', [CompletionResultType]::ParameterName, 'Leave out what the model thought')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Show in full what the agent put into messages, e.g. reminders and the texts of skills; text and Markdown have one line for each (records and pages always hold them)')
            [CompletionResult]::new('--all-branches', '--all-branches', [CompletionResultType]::ParameterName, 'Show abandoned branches too')
            [CompletionResult]::new('--since-compact', '--since-compact', [CompletionResultType]::ParameterName, 'Show only what follows the last compaction')
            [CompletionResult]::new('--compact', '--compact', [CompletionResultType]::ParameterName, 'Put neighbouring tool calls under one heading')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;session;export' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'What the pages are')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'What the pages are')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Look in this folder instead of the agents'' own ones; repeatable')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'Only sessions of this agent')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Only sessions that worked in this directory, or below it')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Only sessions active at this time or later (RFC 3339, a date, `yesterday`, or an age like 2d)')
            [CompletionResult]::new('--before', '--before', [CompletionResultType]::ParameterName, 'Only sessions last active before this time')
            [CompletionResult]::new('--title', '--title', [CompletionResultType]::ParameterName, 'Only sessions whose title, or else first prompt, has this text in it, in any case')
            [CompletionResult]::new('--branch', '--branch', [CompletionResultType]::ParameterName, 'Only sessions on branches with this text in their name')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'Only sessions whose last model has this text in its name')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'Only sessions that began in a directory with this text in its path')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Sessions of all directories (the default)')
            [CompletionResult]::new('--no-mmap', '--no-mmap', [CompletionResultType]::ParameterName, 'Read files instead of mapping them into memory')
            [CompletionResult]::new('--untitled', '--untitled', [CompletionResultType]::ParameterName, 'Only sessions without a title')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;session;tail' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Look in this folder instead of the agents'' own ones; repeatable')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'Only sessions of this agent')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Only sessions that worked in this directory, or below it')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Number of messages, or with --raw of records')
            [CompletionResult]::new('--lines', '--lines', [CompletionResultType]::ParameterName, 'Number of messages, or with --raw of records')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Begin at this offset in bytes (from a cursor) instead of the last messages')
            [CompletionResult]::new('--until-idle', '--until-idle', [CompletionResultType]::ParameterName, 'Stop when nothing was appended for this long (e.g. 500ms, 30s, 5m)')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Stop after this long in any case')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Sessions of all directories (the default)')
            [CompletionResult]::new('--no-mmap', '--no-mmap', [CompletionResultType]::ParameterName, 'Read files instead of mapping them into memory')
            [CompletionResult]::new('--raw', '--raw', [CompletionResultType]::ParameterName, 'Print lines as they are in the file')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Go on with what is appended')
            [CompletionResult]::new('--follow', '--follow', [CompletionResultType]::ParameterName, 'Go on with what is appended')
            [CompletionResult]::new('--latest', '--latest', [CompletionResultType]::ParameterName, 'Also show sessions that begin or go on from now on')
            [CompletionResult]::new('--subagents', '--subagents', [CompletionResultType]::ParameterName, 'Also show what subagents say from now on; their records name them')
            [CompletionResult]::new('--cursor', '--cursor', [CompletionResultType]::ParameterName, 'Write a cursor after each batch of records: where to continue reading')
            [CompletionResult]::new('--exit-status', '--exit-status', [CompletionResultType]::ParameterName, 'Exit with 1 if --timeout ended it')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print records, as with `-o jsonl`')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;session;search' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Look in this folder instead of the agents'' own ones; repeatable')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'Only sessions of this agent')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Only sessions that worked in this directory, or below it')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Only sessions active at this time or later (RFC 3339, a date, `yesterday`, or an age like 2d)')
            [CompletionResult]::new('--before', '--before', [CompletionResultType]::ParameterName, 'Only sessions last active before this time')
            [CompletionResult]::new('--title', '--title', [CompletionResultType]::ParameterName, 'Only sessions whose title, or else first prompt, has this text in it, in any case')
            [CompletionResult]::new('--branch', '--branch', [CompletionResultType]::ParameterName, 'Only sessions on branches with this text in their name')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'Only sessions whose last model has this text in its name')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'Only sessions that began in a directory with this text in its path')
            [CompletionResult]::new('--in', '--in', [CompletionResultType]::ParameterName, 'The parts of messages to look in [default: text]')
            [CompletionResult]::new('--role', '--role', [CompletionResultType]::ParameterName, 'Only messages of these roles')
            [CompletionResult]::new('-m', '-m', [CompletionResultType]::ParameterName, 'Print at most N matching parts of each session')
            [CompletionResult]::new('--max-count', '--max-count', [CompletionResultType]::ParameterName, 'Print at most N matching parts of each session')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Print at most N matching parts in all')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Print at most N matching parts in all')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Show N lines of the message before and after the match')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Show N lines of the message before and after the match')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Sessions of all directories (the default)')
            [CompletionResult]::new('--no-mmap', '--no-mmap', [CompletionResultType]::ParameterName, 'Read files instead of mapping them into memory')
            [CompletionResult]::new('--untitled', '--untitled', [CompletionResultType]::ParameterName, 'Only sessions without a title')
            [CompletionResult]::new('-F', '-F ', [CompletionResultType]::ParameterName, 'Take the pattern as plain text')
            [CompletionResult]::new('--fixed-strings', '--fixed-strings', [CompletionResultType]::ParameterName, 'Take the pattern as plain text')
            [CompletionResult]::new('-i', '-i', [CompletionResultType]::ParameterName, 'Ignore case')
            [CompletionResult]::new('--ignore-case', '--ignore-case', [CompletionResultType]::ParameterName, 'Ignore case')
            [CompletionResult]::new('-w', '-w', [CompletionResultType]::ParameterName, 'Match only whole words')
            [CompletionResult]::new('--word', '--word', [CompletionResultType]::ParameterName, 'Match only whole words')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Print only the paths of the sessions that match')
            [CompletionResult]::new('--files-with-matches', '--files-with-matches', [CompletionResultType]::ParameterName, 'Print only the paths of the sessions that match')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Print only how many parts of messages match in each session')
            [CompletionResult]::new('--count', '--count', [CompletionResultType]::ParameterName, 'Print only how many parts of messages match in each session')
            [CompletionResult]::new('--exit-status', '--exit-status', [CompletionResultType]::ParameterName, 'Accepted for older scripts: the exit status is always 1 if nothing was found')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print records, as with `-o jsonl`')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;session;check' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Look in this folder instead of the agents'' own ones; repeatable')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'Only sessions of this agent')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Only sessions that worked in this directory, or below it')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]')
            [CompletionResult]::new('--repair-to', '--repair-to', [CompletionResultType]::ParameterName, 'Write a clean copy of the one named session: one whole record per line')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Sessions of all directories (the default)')
            [CompletionResult]::new('--no-mmap', '--no-mmap', [CompletionResultType]::ParameterName, 'Read files instead of mapping them into memory')
            [CompletionResult]::new('--exit-status', '--exit-status', [CompletionResultType]::ParameterName, 'Exit with 1 if there is damage')
            [CompletionResult]::new('--summary', '--summary', [CompletionResultType]::ParameterName, 'Print only the totals')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print records, as with `-o jsonl`')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;session;stats' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Look in this folder instead of the agents'' own ones; repeatable')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'Only sessions of this agent')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Only sessions that worked in this directory, or below it')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Only what was asked and answered at this time or later (RFC 3339, a date, `yesterday`, or an age like 2d)')
            [CompletionResult]::new('--until', '--until', [CompletionResultType]::ParameterName, 'Only what was asked and answered before this time')
            [CompletionResult]::new('--by', '--by', [CompletionResultType]::ParameterName, 'One row for each day, model and so on, and in text their sum; separate several by commas')
            [CompletionResult]::new('--tz', '--tz', [CompletionResultType]::ParameterName, 'Where days, weeks and months begin, those of `--since` and `--until` too, such as Europe/Berlin [default: the system''s zone]')
            [CompletionResult]::new('--prices', '--prices', [CompletionResultType]::ParameterName, 'Prices that count more than those that are built in; `data/prices.toml` in the source shows the form')
            [CompletionResult]::new('--budget', '--budget', [CompletionResultType]::ParameterName, 'Print one line instead, and exit with 1 if more than this was spent, in US dollars')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Sessions of all directories (the default)')
            [CompletionResult]::new('--no-mmap', '--no-mmap', [CompletionResultType]::ParameterName, 'Read files instead of mapping them into memory')
            [CompletionResult]::new('--statusline', '--statusline', [CompletionResultType]::ParameterName, 'Print a line for Claude Code''s status line, whose input is read from standard input: the model, what the session, the day and the running block of five hours cost, and how full the context is. Only sessions of the last 24 hours are looked at')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print records, as with `-o jsonl`')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;session;path' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Look in this folder instead of the agents'' own ones; repeatable')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'Only sessions of this agent')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Only sessions that worked in this directory, or below it')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'What to print')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'What to print')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Sessions of all directories (the default)')
            [CompletionResult]::new('--no-mmap', '--no-mmap', [CompletionResultType]::ParameterName, 'Read files instead of mapping them into memory')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print records, as with `-o jsonl`')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;session;append' {
            [CompletionResult]::new('--session-id', '--session-id', [CompletionResultType]::ParameterName, 'The session''s id [default: that of the stream or the file, else the file''s name]')
            [CompletionResult]::new('--sync', '--sync', [CompletionResultType]::ParameterName, 'What must survive a crash of the machine')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Write to network file systems too; make sure that no other machine writes to the file')
            [CompletionResult]::new('--redact', '--redact', [CompletionResultType]::ParameterName, 'Record `[redacted]` in place of what looks like a key or a password; the copy stays as it is')
            [CompletionResult]::new('--no-echo', '--no-echo', [CompletionResultType]::ParameterName, 'Do not copy the input')
            [CompletionResult]::new('--exit-status', '--exit-status', [CompletionResultType]::ParameterName, 'Exit with 10 if no call was made, with 11 if the turn was stopped; 0 means continue')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;session;rename' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Look in this folder instead of the agents'' own ones; repeatable')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'Only sessions of this agent')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Only sessions that worked in this directory, or below it')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'How many files, or parts of a large one, are read at once [default: one per core, or 4 if each waits for a model]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Write to network file systems too; make sure that no other machine writes to the file')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Sessions of all directories (the default)')
            [CompletionResult]::new('--no-mmap', '--no-mmap', [CompletionResultType]::ParameterName, 'Read files instead of mapping them into memory')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;session;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List sessions, most recently active first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show the dialog of a session')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Export sessions as pages with an index')
            [CompletionResult]::new('tail', 'tail', [CompletionResultType]::ParameterValue, 'Show the end of a session file, whatever its size')
            [CompletionResult]::new('search', 'search', [CompletionResultType]::ParameterValue, 'Find what was said in sessions')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Report what is wrong with session files')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Count tokens, money and calls by model, tool, day and purpose')
            [CompletionResult]::new('path', 'path', [CompletionResultType]::ParameterValue, 'Print the files of sessions')
            [CompletionResult]::new('append', 'append', [CompletionResultType]::ParameterValue, 'Record a stream in a session file')
            [CompletionResult]::new('rename', 'rename', [CompletionResultType]::ParameterValue, 'Give a session a name')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'turnpipe;session;help;list' {
            break
        }
        'turnpipe;session;help;show' {
            break
        }
        'turnpipe;session;help;export' {
            break
        }
        'turnpipe;session;help;tail' {
            break
        }
        'turnpipe;session;help;search' {
            break
        }
        'turnpipe;session;help;check' {
            break
        }
        'turnpipe;session;help;stats' {
            break
        }
        'turnpipe;session;help;path' {
            break
        }
        'turnpipe;session;help;append' {
            break
        }
        'turnpipe;session;help;rename' {
            break
        }
        'turnpipe;session;help;help' {
            break
        }
        'turnpipe;tools' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The API to declare the tools for')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else json]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else json]')
            [CompletionResult]::new('--tools', '--tools', [CompletionResultType]::ParameterName, 'Add the command tools of a manifest (TOML or JSON, see `docs/command-tools.md`); repeatable')
            [CompletionResult]::new('--mcp-config', '--mcp-config', [CompletionResultType]::ParameterName, 'Add the tools of the MCP servers in a file like `.mcp.json`; repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print the declarations, as with `-o json`')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;schema' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;state' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('clean', 'clean', [CompletionResultType]::ParameterValue, 'Remove old results and other state of sessions')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'turnpipe;state;clean' {
            [CompletionResult]::new('--older-than', '--older-than', [CompletionResultType]::ParameterName, 'Remove what was last changed longer ago than this (e.g. 30d, 12h)')
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The directory that holds the state')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;state;help' {
            [CompletionResult]::new('clean', 'clean', [CompletionResultType]::ParameterValue, 'Remove old results and other state of sessions')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'turnpipe;state;help;clean' {
            break
        }
        'turnpipe;state;help;help' {
            break
        }
        'turnpipe;doctor' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--probe', '--probe', [CompletionResultType]::ParameterName, 'Send a small request to each configured model')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print records, as with `-o jsonl`')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;completions' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;man' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Show long text on a terminal without a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;help' {
            [CompletionResult]::new('run-tools', 'run-tools', [CompletionResultType]::ParameterValue, 'Execute the tool calls of an assistant stream')
            [CompletionResult]::new('summarize-batch', 'summarize-batch', [CompletionResultType]::ParameterValue, 'Label finished batches of tool calls')
            [CompletionResult]::new('title', 'title', [CompletionResultType]::ParameterValue, 'Name sessions by what they are about')
            [CompletionResult]::new('recap', 'recap', [CompletionResultType]::ParameterValue, 'Say where you left off')
            [CompletionResult]::new('turn', 'turn', [CompletionResultType]::ParameterValue, 'Ask the main model for its next reply')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Check each line of the input')
            [CompletionResult]::new('hook', 'hook', [CompletionResultType]::ParameterValue, 'Decide about the calls of another agent, as its hook')
            [CompletionResult]::new('session', 'session', [CompletionResultType]::ParameterValue, 'Read the session files of coding agents')
            [CompletionResult]::new('tools', 'tools', [CompletionResultType]::ParameterValue, 'Print the tools that calls can name')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of a record')
            [CompletionResult]::new('state', 'state', [CompletionResultType]::ParameterValue, 'Manage the state that sessions leave behind')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Show what is configured, where each value comes from, and what cannot work')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a shell completion script')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Write manual pages')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'turnpipe;help;run-tools' {
            break
        }
        'turnpipe;help;summarize-batch' {
            break
        }
        'turnpipe;help;title' {
            break
        }
        'turnpipe;help;recap' {
            break
        }
        'turnpipe;help;turn' {
            break
        }
        'turnpipe;help;check' {
            [CompletionResult]::new('shell', 'shell', [CompletionResultType]::ParameterValue, 'Check whether shell commands only read')
            [CompletionResult]::new('permission', 'permission', [CompletionResultType]::ParameterValue, 'Check whether calls may run, and what decides')
            [CompletionResult]::new('text', 'text', [CompletionResultType]::ParameterValue, 'Clean text that a model wrote')
            break
        }
        'turnpipe;help;check;shell' {
            break
        }
        'turnpipe;help;check;permission' {
            break
        }
        'turnpipe;help;check;text' {
            break
        }
        'turnpipe;help;hook' {
            [CompletionResult]::new('pre-tool-use', 'pre-tool-use', [CompletionResultType]::ParameterValue, 'Decide about a call of another agent, as its hook')
            [CompletionResult]::new('permission-request', 'permission-request', [CompletionResultType]::ParameterValue, 'Decide about a call of another agent, as its hook')
            break
        }
        'turnpipe;help;hook;pre-tool-use' {
            break
        }
        'turnpipe;help;hook;permission-request' {
            break
        }
        'turnpipe;help;session' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List sessions, most recently active first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show the dialog of a session')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Export sessions as pages with an index')
            [CompletionResult]::new('tail', 'tail', [CompletionResultType]::ParameterValue, 'Show the end of a session file, whatever its size')
            [CompletionResult]::new('search', 'search', [CompletionResultType]::ParameterValue, 'Find what was said in sessions')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Report what is wrong with session files')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Count tokens, money and calls by model, tool, day and purpose')
            [CompletionResult]::new('path', 'path', [CompletionResultType]::ParameterValue, 'Print the files of sessions')
            [CompletionResult]::new('append', 'append', [CompletionResultType]::ParameterValue, 'Record a stream in a session file')
            [CompletionResult]::new('rename', 'rename', [CompletionResultType]::ParameterValue, 'Give a session a name')
            break
        }
        'turnpipe;help;session;list' {
            break
        }
        'turnpipe;help;session;show' {
            break
        }
        'turnpipe;help;session;export' {
            break
        }
        'turnpipe;help;session;tail' {
            break
        }
        'turnpipe;help;session;search' {
            break
        }
        'turnpipe;help;session;check' {
            break
        }
        'turnpipe;help;session;stats' {
            break
        }
        'turnpipe;help;session;path' {
            break
        }
        'turnpipe;help;session;append' {
            break
        }
        'turnpipe;help;session;rename' {
            break
        }
        'turnpipe;help;tools' {
            break
        }
        'turnpipe;help;schema' {
            break
        }
        'turnpipe;help;state' {
            [CompletionResult]::new('clean', 'clean', [CompletionResultType]::ParameterValue, 'Remove old results and other state of sessions')
            break
        }
        'turnpipe;help;state;clean' {
            break
        }
        'turnpipe;help;doctor' {
            break
        }
        'turnpipe;help;completions' {
            break
        }
        'turnpipe;help;man' {
            break
        }
        'turnpipe;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
