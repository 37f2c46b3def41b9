# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_turnpipe_global_optspecs
    string join \n q/quiet v/verbose color= h/help V/version
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

complete -c turnpipe -n "__fish_turnpipe_needs_command" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_needs_command" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -s V -l version -d 'Print version'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -f -a "check" -d 'Ask for a verdict on each input line'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -f -a "completions" -d 'Print a shell completion script'
complete -c turnpipe -n "__fish_turnpipe_needs_command" -f -a "man" -d 'Write manual pages'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and not __fish_seen_subcommand_from text" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and not __fish_seen_subcommand_from text" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and not __fish_seen_subcommand_from text" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and not __fish_seen_subcommand_from text" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and not __fish_seen_subcommand_from text" -f -a "text" -d 'Clean text that a model wrote'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from text" -l as -d 'What the text is to be used as' -r -f -a "terminal\t'One line that is harmless on a terminal'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from text" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from text" -l plain -d 'Take each line as raw text, not as JSON'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from text" -l strict -d 'Exit with status 3 if a line was unusable'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from text" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from text" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand check; and __fish_seen_subcommand_from text" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand completions" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand completions" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand completions" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand man" -l color -d 'When to colour help and usage errors' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c turnpipe -n "__fish_turnpipe_using_subcommand man" -s q -l quiet -d 'Print no warnings and hints, only errors'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand man" -s v -l verbose -d 'Say on standard error what was done'
complete -c turnpipe -n "__fish_turnpipe_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
