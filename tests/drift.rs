//! Committed files that are generated from the binary: they must be what it prints today.
//!
//! `TURNPIPE_UPDATE=1 cargo test --test drift` writes them anew.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Shells and the files their completion scripts are kept in.
const COMPLETIONS: [(&str, &str); 5] = [
    ("bash", "turnpipe.bash"),
    ("zsh", "_turnpipe"),
    ("fish", "turnpipe.fish"),
    ("powershell", "_turnpipe.ps1"),
    ("elvish", "turnpipe.elv"),
];

fn turnpipe(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_turnpipe"))
        .args(arguments)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Compares a committed file with what it should hold, or writes it.
fn check(path: &str, expected: &str) {
    let file = in_repository(path);
    if std::env::var_os("TURNPIPE_UPDATE").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, expected).unwrap();
        return;
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    let differing = committed
        .lines()
        .zip(expected.lines())
        .find(|(committed, expected)| committed != expected);
    assert!(
        committed == expected,
        "{path} is not what the binary prints; first difference: {differing:?}\n\
         run `TURNPIPE_UPDATE=1 cargo test --test drift` and commit the result"
    );
}

#[test]
fn completion_scripts_are_current() {
    for (shell, file) in COMPLETIONS {
        check(
            &format!("completions/{file}"),
            &turnpipe(&["completions", shell]),
        );
    }
}

#[test]
fn schemas_are_current() {
    for name in turnpipe(&["schema"]).lines() {
        let schema = turnpipe(&["schema", name]);
        check(&format!("docs/schemas/{name}.json"), &schema);
    }
}

/// The subcommands that a help text lists, without clap's own.
fn subcommands(help: &str) -> Vec<String> {
    help.lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .filter(|name| name != "help")
        .collect()
}

fn add_help(path: &[&str], page: &mut String) {
    let mut arguments = path.to_vec();
    arguments.push("--help");
    let help = turnpipe(&arguments);
    let name = [&["turnpipe"], path].concat().join(" ");
    write!(page, "\n## `{name}`\n\n```text\n{}\n```\n", trimmed(&help)).unwrap();
    for subcommand in subcommands(&help) {
        add_help(&[path, &[&subcommand]].concat(), page);
    }
}

fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
    lines.join("\n")
}

#[test]
fn the_reference_of_the_command_line_is_current() {
    let mut page = "# Command line\n\nThe `--help` of every command, as the binary prints it. \
                    Generated: `TURNPIPE_UPDATE=1 cargo test --test drift`.\n"
        .to_owned();
    add_help(&[], &mut page);
    check("docs/cli.md", &page);
}
