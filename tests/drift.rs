//! Committed files that are generated from the binary: they must match its current output.
//!
//! `TURNPIPE_UPDATE=1 cargo test --test drift` regenerates them.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Shells, and the files with their completion scripts.
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

fn repository_path(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Compares a committed file with its expected content, or writes it.
fn check(path: &str, expected: &str) {
    let file = repository_path(path);
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
