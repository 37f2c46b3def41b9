//! Inputs that are missing, unreadable, empty or of the wrong kind, for every command that takes
//! files.

use std::path::Path;

use crate::turnpipe::{Run, run, shell};

/// Command lines, before the name of the file.
const COMMANDS: [&str; 12] = [
    "check text --as terminal",
    "check shell",
    "summarize-batch --model builtin",
    "title --model builtin",
    "recap --model builtin",
    "session show",
    "session tail",
    "session search x",
    "session check",
    "session stats",
    "session path",
    "session rename",
];

/// Those of them that read any stream.
fn reads_streams(command: &str) -> bool {
    command.starts_with("check") || command.starts_with("summarize")
}

/// Runs a command with files as its last arguments.
fn with_files(command: &str, files: &[&Path]) -> Run {
    let mut arguments: Vec<&str> = command.split(' ').collect();
    arguments.extend(files.iter().map(|path| path.to_str().unwrap()));
    if command == "session rename" {
        arguments.push("A name");
    }
    run(&arguments, b"")
}

/// Asserts that `run` ended with status 2 after one message about `path`.
fn assert_refused(run: &Run, command: &str, path: &Path) {
    assert_eq!(run.status, Some(2), "{command}: {run:?}");
    let mut lines = run.stderr.lines().filter(|line| !line.starts_with("hint:"));
    let line = lines.next().unwrap_or_default();
    let start = format!("turnpipe: {}: ", path.display());
    assert!(line.starts_with(&start), "{command}: {run:?}");
    assert_eq!(lines.next(), None, "{command}");
}

#[test]
fn a_missing_file_is_one_line_and_status_2() {
    for command in COMMANDS {
        let path = Path::new("/no/such/file.jsonl");
        assert_refused(&with_files(command, &[path]), command, path);
    }
}

#[test]
fn a_directory_is_one_line_and_status_2() {
    let folder = tempfile::tempdir().unwrap();
    for command in COMMANDS {
        assert_refused(
            &with_files(command, &[folder.path()]),
            command,
            folder.path(),
        );
    }
}

#[test]
fn a_file_without_a_session_is_one_line_and_status_2() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("empty.jsonl", ""), ("odd.jsonl", "\"no session\"\n")] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        for command in COMMANDS {
            let run = with_files(command, &[&path]);
            if reads_streams(command) || command == "session path" {
                assert_eq!(run.status, Some(0), "{command} {name}: {run:?}");
                let is_silent = text.is_empty() || command.starts_with("check");
                assert!(!is_silent || run.stderr.is_empty(), "{command}: {run:?}");
            } else if command != "session search x" {
                assert_refused(&run, command, &path);
            }
        }
    }
}

#[test]
fn the_other_inputs_are_done() {
    let good = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/session/qwen-rewound.jsonl");
    let missing = Path::new("/no/such/file.jsonl");
    let single = [
        "session show",
        "session tail",
        "session rename",
        "session stats",
    ];
    for command in COMMANDS {
        if single.contains(&command) {
            continue;
        }
        let command = command.replace("search x", "search -i .");
        let output = |files: &[&Path]| with_files(&command, files).stdout.lines().count();
        let (once, both) = (
            output(&[&good]),
            with_files(&command, &[missing, &good, &good]),
        );
        assert_refused(&both, &command, missing);
        assert!(both.stdout.lines().count() >= 2 * once, "{command}");
    }
}

#[test]
fn a_list_without_sessions_is_nothing_to_do() {
    for command in [
        "title --write",
        "recap",
        "session check -",
        "session path -",
    ] {
        let arguments: Vec<&str> = command.split(' ').collect();
        let run = run(&[&arguments[..], &["--quiet"]].concat(), b"");
        assert_eq!(
            (run.status, &*run.stdout, &*run.stderr),
            (Some(0), "", ""),
            "{command}"
        );
    }
}

#[test]
fn sessions_are_named_by_a_list_or_a_file_on_standard_input() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/session/qwen-rewound.jsonl");
    let path = path.to_str().unwrap();
    let list = run(&["session", "path", path, "--json"], b"").stdout;
    let file = std::fs::read(path).unwrap();
    for command in ["show", "tail", "check", "stats", "search ."] {
        let by = |name: &str, input: &[u8]| {
            let mut arguments = vec!["--quiet", "session"];
            arguments.extend(command.split(' '));
            arguments.push(name);
            let run = run(&arguments, input);
            assert_eq!(
                (run.status, &*run.stderr),
                (Some(0), ""),
                "{command} {name}"
            );
            run.stdout
        };
        let named = by(path, b"");
        assert!(!named.is_empty(), "{command}");
        assert_eq!(by("-", list.as_bytes()), named, "{command}");
        assert_eq!(by("-", &file), named.replace(path, "-"), "{command}");
    }
}

#[test]
fn a_terminal_is_refused_in_one_line_with_a_hint() {
    for command in [
        "check text --as terminal",
        "run-tools",
        "title",
        "summarize-batch",
        "session append f",
    ] {
        let run = shell(&format!(
            "command -v script >/dev/null || {{ echo skipped; exit; }}\n\
             script -qec \"$TURNPIPE {command}\" /dev/null; echo status $?"
        ));
        if run.stdout == "skipped\n" {
            return;
        }
        let lines: Vec<&str> = run
            .stdout
            .lines()
            .filter(|line| !line.contains("no model"))
            .collect();
        assert_eq!(lines.len(), 3, "{command}: {lines:?}");
        assert!(
            lines[0].starts_with("turnpipe: standard input is a terminal"),
            "{command}"
        );
        assert!(lines[1].starts_with("hint: "), "{command}");
        assert_eq!(lines[2], "status 2", "{command}");
    }
}
