
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
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('run-tools', 'run-tools', [CompletionResultType]::ParameterValue, 'Execute the tool calls of an assistant stream')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Ask for a verdict on each input line')
            [CompletionResult]::new('session', 'session', [CompletionResultType]::ParameterValue, 'Read the session files of coding agents')
            [CompletionResult]::new('tools', 'tools', [CompletionResultType]::ParameterValue, 'Print the tools that calls can name')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of a record')
            [CompletionResult]::new('state', 'state', [CompletionResultType]::ParameterValue, 'Look after the state that sessions leave')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a shell completion script')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Write manual pages')
            break
        }
        'turnpipe;run-tools' {
            [CompletionResult]::new('--emit', '--emit', [CompletionResultType]::ParameterName, 'When results go out')
            [CompletionResult]::new('--schedule', '--schedule', [CompletionResultType]::ParameterName, 'How the scheduler tells which calls can run together')
            [CompletionResult]::new('--on-error', '--on-error', [CompletionResultType]::ParameterName, 'What a failing call does to the other calls of its turn')
            [CompletionResult]::new('--enforce', '--enforce', [CompletionResultType]::ParameterName, 'Whether the kernel must keep calls that run side by side from writing')
            [CompletionResult]::new('--permission-mode', '--permission-mode', [CompletionResultType]::ParameterName, 'Which calls may run')
            [CompletionResult]::new('--max-concurrency', '--max-concurrency', [CompletionResultType]::ParameterName, 'How many calls run at once [default: 10]')
            [CompletionResult]::new('--tools-only', '--tools-only', [CompletionResultType]::ParameterName, 'Run only these tools')
            [CompletionResult]::new('--tools', '--tools', [CompletionResultType]::ParameterName, 'Add the command tools of a manifest (TOML or JSON); repeatable')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'End the whole run after this time (e.g. 90, 90s, 1500ms, 5m)')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Read one dialect only, instead of telling it line by line')
            [CompletionResult]::new('--session-id', '--session-id', [CompletionResultType]::ParameterName, 'The session whose state is used and kept')
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'Where state is kept')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Where shell calls start [default: this directory]')
            [CompletionResult]::new('--add-dir', '--add-dir', [CompletionResultType]::ParameterName, 'Another directory that shell calls may stay in; repeatable')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Pass this variable on to commands, although it can change what they do (e.g. one of git''s or Python''s); repeatable')
            [CompletionResult]::new('--trace', '--trace', [CompletionResultType]::ParameterName, 'Write the run as a trace for Chrome''s or Perfetto''s viewer')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--plan', '--plan', [CompletionResultType]::ParameterName, 'Print in which batches the calls would run, and run nothing')
            [CompletionResult]::new('--execute', '--execute', [CompletionResultType]::ParameterName, 'Run unanswered calls even of a recording')
            [CompletionResult]::new('--no-echo', '--no-echo', [CompletionResultType]::ParameterName, 'Do not copy the input')
            [CompletionResult]::new('--lane-tmp', '--lane-tmp', [CompletionResultType]::ParameterName, 'Give calls that run side by side a private directory for temporary files')
            [CompletionResult]::new('--assume-read-only', '--assume-read-only', [CompletionResultType]::ParameterName, 'Let all shell commands run side by side (for tests of --enforce)')
            [CompletionResult]::new('--dedup', '--dedup', [CompletionResultType]::ParameterName, 'Replace results that repeat an earlier one by a reference')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Exit with 3 if the input had unusable records')
            [CompletionResult]::new('--exit-status', '--exit-status', [CompletionResultType]::ParameterName, 'Exit with 1 if a call failed or was denied')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
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
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('shell', 'shell', [CompletionResultType]::ParameterValue, 'Tell whether shell commands only read')
            [CompletionResult]::new('text', 'text', [CompletionResultType]::ParameterValue, 'Clean text that a model wrote')
            break
        }
        'turnpipe;check;shell' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--plain', '--plain', [CompletionResultType]::ParameterName, 'Take each line as raw text, not as JSON')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Exit with status 3 if a line was unusable')
            [CompletionResult]::new('--explain', '--explain', [CompletionResultType]::ParameterName, 'For people: print each command with the word marked that decided')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;check;text' {
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'What the text is to be used as')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--plain', '--plain', [CompletionResultType]::ParameterName, 'Take each line as raw text, not as JSON')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Exit with status 3 if a line was unusable')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
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
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List sessions, the last active first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show the dialog of a session')
            [CompletionResult]::new('tail', 'tail', [CompletionResultType]::ParameterValue, 'Show the end of a session file, whatever its size')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Report what is wrong with session files')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Count tokens and calls by model, tool, day and what asked for them')
            [CompletionResult]::new('path', 'path', [CompletionResultType]::ParameterValue, 'Print the files of sessions')
            [CompletionResult]::new('append', 'append', [CompletionResultType]::ParameterValue, 'Record a stream in a session file')
            [CompletionResult]::new('rename', 'rename', [CompletionResultType]::ParameterValue, 'Give a session a name')
            break
        }
        'turnpipe;session;list' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Look in this folder instead of the agents'' own; repeatable')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'Only sessions of this agent')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Only sessions that worked in this directory, or below it')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Only sessions active at this time or later (RFC 3339, a date, or an age like 2d)')
            [CompletionResult]::new('--before', '--before', [CompletionResultType]::ParameterName, 'Only sessions last active before this time')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'No more than this many')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'No more than this many')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Sessions of all directories, which is the default')
            [CompletionResult]::new('--no-mmap', '--no-mmap', [CompletionResultType]::ParameterName, 'Read files instead of mapping them into memory')
            [CompletionResult]::new('--untitled', '--untitled', [CompletionResultType]::ParameterName, 'Only sessions without a title')
            [CompletionResult]::new('--counts', '--counts', [CompletionResultType]::ParameterName, 'Count messages, calls and tokens, which takes reading whole files')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;session;show' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Look in this folder instead of the agents'' own; repeatable')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'Only sessions of this agent')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Only sessions that worked in this directory, or below it')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--html', '--html', [CompletionResultType]::ParameterName, 'Write a page for browsers into this file; it loads nothing from elsewhere')
            [CompletionResult]::new('--tools', '--tools', [CompletionResultType]::ParameterName, 'How much to show of tool calls and results [default: summary in text and Markdown, else full]')
            [CompletionResult]::new('--range', '--range', [CompletionResultType]::ParameterName, 'Only these messages, counted from 1: 3, 3..7, 3.., ..7, or -5.. for the last five')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Sessions of all directories, which is the default')
            [CompletionResult]::new('--no-mmap', '--no-mmap', [CompletionResultType]::ParameterName, 'Read files instead of mapping them into memory')
            [CompletionResult]::new('--thinking', '--thinking', [CompletionResultType]::ParameterName, 'Show what the model thought (records always hold it, unless `--no-thinking`)')
            [CompletionResult]::new('--no-thinking', '--no-thinking', [CompletionResultType]::ParameterName, 'Leave out what the model thought')
            [CompletionResult]::new('--all-branches', '--all-branches', [CompletionResultType]::ParameterName, 'Branches that were left, too')
            [CompletionResult]::new('--compact', '--compact', [CompletionResultType]::ParameterName, 'Put neighbouring tool calls under one heading')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;session;tail' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Look in this folder instead of the agents'' own; repeatable')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'Only sessions of this agent')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Only sessions that worked in this directory, or below it')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'How many messages (with --raw: records)')
            [CompletionResult]::new('--lines', '--lines', [CompletionResultType]::ParameterName, 'How many messages (with --raw: records)')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Begin at this place (a cursor''s offset in bytes) instead of the last messages')
            [CompletionResult]::new('--until-idle', '--until-idle', [CompletionResultType]::ParameterName, 'End when nothing was appended for this long (e.g. 500ms, 30s, 5m)')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'End after this long in any case')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Sessions of all directories, which is the default')
            [CompletionResult]::new('--no-mmap', '--no-mmap', [CompletionResultType]::ParameterName, 'Read files instead of mapping them into memory')
            [CompletionResult]::new('--raw', '--raw', [CompletionResultType]::ParameterName, 'Print lines as they stand in the file')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Go on with what is appended')
            [CompletionResult]::new('--follow', '--follow', [CompletionResultType]::ParameterName, 'Go on with what is appended')
            [CompletionResult]::new('--latest', '--latest', [CompletionResultType]::ParameterName, 'Go over to a newer session when one begins')
            [CompletionResult]::new('--cursor', '--cursor', [CompletionResultType]::ParameterName, 'After each batch of records write a cursor: where reading can go on')
            [CompletionResult]::new('--exit-status', '--exit-status', [CompletionResultType]::ParameterName, 'Exit 1 if it was `--timeout` that ended it')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;session;check' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Look in this folder instead of the agents'' own; repeatable')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'Only sessions of this agent')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Only sessions that worked in this directory, or below it')
            [CompletionResult]::new('--repair-to', '--repair-to', [CompletionResultType]::ParameterName, 'Write a clean copy of the (single) session: each whole record on a line of its own')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Sessions of all directories, which is the default')
            [CompletionResult]::new('--no-mmap', '--no-mmap', [CompletionResultType]::ParameterName, 'Read files instead of mapping them into memory')
            [CompletionResult]::new('--exit-status', '--exit-status', [CompletionResultType]::ParameterName, 'Exit 1 if there is damage')
            [CompletionResult]::new('--summary', '--summary', [CompletionResultType]::ParameterName, 'Only the sums')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;session;stats' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Look in this folder instead of the agents'' own; repeatable')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'Only sessions of this agent')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Only sessions that worked in this directory, or below it')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Only sessions active at this time or later (RFC 3339, a date, or an age like 2d)')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else jsonl]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Sessions of all directories, which is the default')
            [CompletionResult]::new('--no-mmap', '--no-mmap', [CompletionResultType]::ParameterName, 'Read files instead of mapping them into memory')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;session;path' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Look in this folder instead of the agents'' own; repeatable')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'Only sessions of this agent')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Only sessions that worked in this directory, or below it')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'What to print')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'What to print')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Sessions of all directories, which is the default')
            [CompletionResult]::new('--no-mmap', '--no-mmap', [CompletionResultType]::ParameterName, 'Read files instead of mapping them into memory')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;session;append' {
            [CompletionResult]::new('--session-id', '--session-id', [CompletionResultType]::ParameterName, 'The session''s id [default: that of the stream or the file, else the file''s name]')
            [CompletionResult]::new('--sync', '--sync', [CompletionResultType]::ParameterName, 'How sure it must be that a crash of the machine loses nothing')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--no-echo', '--no-echo', [CompletionResultType]::ParameterName, 'Do not copy the input')
            [CompletionResult]::new('--exit-status', '--exit-status', [CompletionResultType]::ParameterName, 'Exit with 10 if no call was made, 11 if the turn was stopped; 0 means: go on')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;session;rename' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Look in this folder instead of the agents'' own; repeatable')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'Only sessions of this agent')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Only sessions that worked in this directory, or below it')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Sessions of all directories, which is the default')
            [CompletionResult]::new('--no-mmap', '--no-mmap', [CompletionResultType]::ParameterName, 'Read files instead of mapping them into memory')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'turnpipe;tools' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'For which API the tools are declared')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else json]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'What to print [default: text on a terminal, else json]')
            [CompletionResult]::new('--tools', '--tools', [CompletionResultType]::ParameterName, 'Add the command tools of a manifest (TOML or JSON); repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
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
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('clean', 'clean', [CompletionResultType]::ParameterValue, 'Remove persisted results and other state that is old')
            break
        }
        'turnpipe;state;clean' {
            [CompletionResult]::new('--older-than', '--older-than', [CompletionResultType]::ParameterName, 'Remove what was last changed longer ago than this (e.g. 30d, 12h)')
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'Where state is kept')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this configuration file instead of the usual one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour help and usage errors')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no warnings and hints, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say on standard error what was done')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no configuration file')
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
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
