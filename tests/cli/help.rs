//! `help`, the table of statuses, and completion scripts in their shells.

use crate::turnpipe::{run, shell};

#[test]
fn help_is_a_command_too() {
    for (command, option) in [
        (&["help"][..], &["--help"][..]),
        (&["help", "run-tools"], &["run-tools", "--help"]),
        (&["help", "session", "list"], &["session", "list", "--help"]),
    ] {
        assert_eq!(run(command, b""), run(option, b""), "{command:?}");
    }
    assert_eq!(run(&["help", "nothing"], b"").status, Some(2));
}

#[test]
fn help_lists_every_exit_status() {
    let help = run(&["--help"], b"").stdout;
    let (_, table) = help.split_once("Exit status:\n").unwrap();
    let mut listed: Vec<u8> = table
        .lines()
        .filter_map(|line| line.get(2..11))
        .flat_map(|column| column.split(','))
        .filter_map(|number| number.trim().parse().ok())
        .collect();
    listed.sort_unstable();
    let mut statuses = turnpipe::cmd::Outcome::ALL.map(turnpipe::cmd::Outcome::exit_status);
    statuses.sort_unstable();
    assert_eq!(listed, statuses);
}

/// Completion specifications of zsh separate their parts by colons, so a colon in a value's name
/// makes zsh run the rest of it as a command.
#[test]
fn zsh_completes_values_without_running_anything() {
    let script = run(&["completions", "zsh"], b"").stdout;
    for line in script.lines() {
        // '--option=[help]:NAME:action'
        let Some((_, specification)) = line.trim().rsplit_once("]:") else {
            continue;
        };
        let Some((_, action)) = specification.split_once(':') else {
            continue;
        };
        let is_known = action.starts_with("_default")
            || action.starts_with("_files")
            || action.starts_with('(');
        assert!(is_known, "{line}");
    }
}

#[test]
fn completion_scripts_load_in_their_shells() {
    for (shell_name, load) in [
        (
            "bash",
            "bash --norc -c 'source /dev/stdin && complete -p turnpipe'",
        ),
        (
            "zsh",
            "zsh -f -c 'autoload -U compinit && compinit -D && source /dev/stdin && whence _turnpipe'",
        ),
        (
            "fish",
            "fish --no-config -c 'source - && complete -C \"turnpipe \" | string match -q \"title*\"'",
        ),
    ] {
        let loaded = shell(&format!(
            "command -v {shell_name} >/dev/null || exit 0\n\
             turnpipe completions {shell_name} | {load}"
        ));
        assert_eq!(
            (loaded.status, &*loaded.stderr),
            (Some(0), ""),
            "{shell_name}"
        );
    }
}
