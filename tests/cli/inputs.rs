//! Inputs that are missing, unreadable, empty or of the wrong kind, for every command that takes
//! files.

use std::path::Path;

use crate::skip::is_missing;
use crate::turnpipe::{Run, data, failed_run, run, shell};

/// Commands that read sessions, before the name of the file.
const OF_SESSIONS: [&str; 11] = [
    "title --model builtin",
    "recap --model builtin",
    "session show",
    "session tail",
    "session search .",
    "session check",
    "session stats",
    "session path",
    "session rename",
    "session append",
    "summarize-batch --model builtin --record",
];

/// Commands that read any stream.
const OF_STREAMS: [&str; 3] = [
    "check text --kind terminal",
    "check shell",
    "summarize-batch --model builtin",
];

/// The kind of file at the path of an input.
enum InputKind {
    Nothing,
    Directory,
    Pipe,
    Link,
    File(&'static [u8]),
}

/// Every odd input, and why it is not a session.
const ODD_INPUTS: [(&str, InputKind, &str); 14] = [
    (
        "missing",
        InputKind::Nothing,
        "No such file or directory (os error 2)",
    ),
    ("directory", InputKind::Directory, "is a directory"),
    ("pipe", InputKind::Pipe, "is not a regular file"),
    ("link", InputKind::Link, "is a symbolic link"),
    ("empty", InputKind::File(b""), NO_SESSION),
    ("blank", InputKind::File(b"\n\n"), NO_SESSION),
    (
        "text",
        InputKind::File(b"some text\nof two lines\n"),
        NO_SESSION,
    ),
    (
        "binary",
        InputKind::File(b"\x7fELF\x02\xff\xfe\n\x80\x9b\n"),
        NO_SESSION,
    ),
    ("zeros", InputKind::File(&[0; 5000]), NO_SESSION),
    (
        "broken",
        InputKind::File(b"{\"type\":\"user\",\n"),
        NO_SESSION,
    ),
    ("value", InputKind::File(b"[1,2,3]\n"), NO_SESSION),
    (
        "foreign",
        InputKind::File(b"{\"event\":\"x\"}\n"),
        NO_SESSION,
    ),
    (
        "utf16",
        InputKind::File(b"\xff\xfe{\0\"\0t\0\"\0:\x001\0}\0\n\0"),
        NO_SESSION,
    ),
    ("long", InputKind::File(&[b'x'; 200_000]), NO_SESSION),
];

/// Commands that only read their inputs: links are followed, pipes are read to the end.
const READERS: [&str; 5] = [
    "session show",
    "session tail",
    "session search .",
    "session check",
    "session stats",
];

const NO_SESSION: &str = "not a session file of a known agent";

impl InputKind {
    fn make(&self, path: &Path) {
        match self {
            Self::Nothing => {}
            Self::Directory => std::fs::create_dir(path).unwrap(),
            Self::Pipe => {
                let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
                let kind = rustix::fs::FileType::Fifo;
                rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
            }
            Self::Link => std::os::unix::fs::symlink(data("qwen-rewound.jsonl"), path).unwrap(),
            Self::File(bytes) => std::fs::write(path, bytes).unwrap(),
        }
    }
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

/// Asserts that `run` ended with status 2 after one message about `path`, and that error records
/// say the same.
fn assert_refused(run: &Run, command: &str, path: &Path, reason: &str) {
    assert_eq!(run.status, Some(2), "{command}: {run:?}");
    let mut lines = run.stderr.lines().filter(|line| !line.starts_with("hint:"));
    let expected = format!("turnpipe: {}: {reason}", path.display());
    assert_eq!(lines.next(), Some(&*expected), "{command}: {run:?}");
    assert_eq!(lines.next(), None, "{command}");
    for line in run.stdout.lines() {
        // Texts and paths are not records.
        let record: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        if record["path"] == path.to_str().unwrap() {
            assert_eq!(record["error"], reason, "{command}: {run:?}");
        }
    }
}

#[test]
fn every_command_refuses_every_odd_session_in_the_same_words() {
    for command in OF_SESSIONS {
        let folder = tempfile::tempdir().unwrap();
        for (name, odd, reason) in ODD_INPUTS {
            if READERS.contains(&command) && matches!(odd, InputKind::Pipe | InputKind::Link) {
                continue;
            }
            let path = folder.path().join(name);
            odd.make(&path);
            let run = with_files(command, &[&path]);
            let is_new = matches!(name, "missing" | "empty" | "blank");
            let is_written = command.ends_with("append") || command.ends_with("--record");
            if is_written && is_new {
                let done = (run.status, &*run.stderr);
                assert_eq!(done, (Some(0), ""), "{command} {name}");
            } else {
                assert_refused(&run, command, &path, reason);
            }
        }
    }
}

#[test]
fn commands_that_only_read_follow_links_and_read_pipes() {
    let good = data("qwen-rewound.jsonl");
    let content = std::fs::read(&good).unwrap();
    for command in READERS {
        let folder = tempfile::tempdir().unwrap();
        let [link, pipe] = ["link", "pipe"].map(|name| folder.path().join(name));
        InputKind::Link.make(&link);
        InputKind::Pipe.make(&pipe);
        let expected = with_files(command, &[Path::new(&good)]);
        assert_eq!(expected.status, Some(0), "{command}: {expected:?}");
        assert_eq!(with_files(command, &[&link]), expected, "{command}");
        let writer = std::thread::spawn({
            let (pipe, content) = (pipe.clone(), content.clone());
            move || std::fs::write(pipe, content)
        });
        let read = with_files(command, &[&pipe]);
        let named = expected.stdout.replace(&good, pipe.to_str().unwrap());
        assert_eq!((read.status, read.stdout), (Some(0), named), "{command}");
        writer.join().unwrap().unwrap();
    }
}

#[test]
fn every_command_reads_every_odd_stream_to_its_end() {
    for command in OF_STREAMS {
        let folder = tempfile::tempdir().unwrap();
        for (name, odd, reason) in ODD_INPUTS {
            let path = folder.path().join(name);
            odd.make(&path);
            match (&odd, name) {
                (InputKind::Nothing | InputKind::Directory, _) => {
                    assert_refused(&with_files(command, &[&path]), command, &path, reason);
                    continue;
                }
                // Opening a FIFO waits for a writer.
                (InputKind::Pipe, _) => continue,
                _ => {}
            }
            let run = with_files(command, &[&path]);
            assert_eq!(run.status, Some(0), "{command} {name}: {run:?}");
            let is_read = matches!(name, "empty" | "blank" | "link");
            if command.starts_with("check") || is_read {
                assert_eq!(run.stderr, "", "{command} {name}");
            } else {
                let foreign = "turnpipe: no line of the input was understood\n";
                assert_eq!(run.stderr.matches(foreign).count(), 1, "{name}: {run:?}");
            }
        }
    }
}

/// Options with the path of a file or directory: the start of the message about each odd path (`FILE`
/// is the path). Paths that are not listed are usable.
const OPTIONS: [(&str, &[(&str, &str)]); 8] = [
    (
        "run-tools --tools",
        &[
            ("missing", "FILE: No such file or directory"),
            ("directory", "FILE: Is a directory"),
            ("text", "FILE: TOML parse error at line 1"),
            ("binary", "FILE: stream did not contain valid UTF-8"),
        ],
    ),
    (
        "tools --config",
        &[
            ("missing", "configuration: FILE: No such file or directory"),
            ("directory", "configuration: FILE: Is a directory"),
            ("text", "configuration: FILE: line 1: "),
            (
                "binary",
                "configuration: FILE: stream did not contain valid UTF-8",
            ),
        ],
    ),
    (
        "title --model builtin --prompt-file",
        &[
            ("missing", "--prompt-file: FILE: No such file or directory"),
            ("directory", "--prompt-file: FILE: Is a directory"),
            ("empty", "--prompt-file: FILE: is empty"),
            ("blank", "--prompt-file: FILE: is empty"),
            (
                "binary",
                "--prompt-file: FILE: stream did not contain valid UTF-8",
            ),
        ],
    ),
    ("run-tools --cwd", &NO_DIRECTORY_FOR_CWD),
    ("run-tools --add-dir", &NO_DIRECTORY_TO_ADD),
    ("session list --root", &NO_ROOT),
    ("session search x --root", &NO_ROOT),
    ("session stats --root", &NO_ROOT),
];

const NO_DIRECTORY_FOR_CWD: [(&str, &str); 5] = [
    ("missing", "--cwd: FILE: No such file or directory"),
    ("empty", "--cwd: FILE: is not a directory"),
    ("blank", "--cwd: FILE: is not a directory"),
    ("text", "--cwd: FILE: is not a directory"),
    ("binary", "--cwd: FILE: is not a directory"),
];

const NO_DIRECTORY_TO_ADD: [(&str, &str); 5] = [
    ("missing", "--add-dir: FILE: No such file or directory"),
    ("empty", "--add-dir: FILE: is not a directory"),
    ("blank", "--add-dir: FILE: is not a directory"),
    ("text", "--add-dir: FILE: is not a directory"),
    ("binary", "--add-dir: FILE: is not a directory"),
];

const NO_ROOT: [(&str, &str); 5] = [
    ("missing", "FILE: No such file or directory"),
    ("empty", "FILE: not a session file"),
    ("blank", "FILE: not a session file"),
    ("text", "FILE: not a session file"),
    ("binary", "FILE: not a session file"),
];

#[test]
fn options_refuse_odd_paths_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    for (name, odd, _) in ODD_INPUTS {
        odd.make(&folder.path().join(format!("{name}.toml")));
    }
    for (command, refused) in OPTIONS {
        for name in ["missing", "directory", "empty", "blank", "text", "binary"] {
            let path = folder.path().join(format!("{name}.toml"));
            let run = with_files(command, &[&path]);
            let mut lines = run.stderr.lines().filter(|line| !line.starts_with("hint:"));
            let reason = refused.iter().find(|(refused, _)| *refused == name);
            let Some((_, reason)) = reason else {
                // A search without hits is not a failure.
                let status = i32::from(command.contains("search"));
                assert_eq!(run.status, Some(status), "{command} {name}: {run:?}");
                assert_eq!(lines.next(), None, "{command} {name}");
                continue;
            };
            assert_eq!(run.status, Some(2), "{command} {name}: {run:?}");
            let reason = reason.replace("FILE", path.to_str().unwrap());
            let message = lines.next().unwrap();
            assert!(
                message.starts_with(&format!("turnpipe: {reason}")),
                "{command} {name}: {message}"
            );
            assert_eq!(lines.next(), None, "{command} {name}");
        }
    }
}

#[test]
fn a_directory_on_standard_input_is_refused_in_one_line_with_a_hint() {
    for command in [
        "run-tools",
        "summarize-batch --model builtin",
        "summarize-batch --model builtin -",
        "title --model builtin",
        "recap --model builtin -",
        "check text --kind terminal",
        "check shell",
        "session append f",
        "session show -",
        "session tail -",
        "session search x -",
        "session check -",
        "session stats -",
        "session path -",
    ] {
        let run = shell(&format!("turnpipe {command} < /"));
        assert_eq!(run.status, Some(2), "{command}: {run:?}");
        let lines: Vec<&str> = run.stderr.lines().collect();
        assert_eq!(lines.len(), 2, "{command}: {lines:?}");
        assert!(
            lines[0].ends_with("standard input is a directory"),
            "{command}: {lines:?}"
        );
        assert!(lines[1].starts_with("hint: "), "{command}: {lines:?}");
    }
}

#[test]
fn labels_are_not_recorded_next_to_other_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.txt");
    std::fs::write(&file, "some text\nof two lines\n").unwrap();
    let name = file.to_str().unwrap();
    let run = run(
        &["summarize-batch", "--model", "builtin", "--record", name],
        b"{\"a\":1}\n",
    );
    let expected = format!(
        "turnpipe: {name}: not a session file of a known agent\nhint: name a new file, or a session \
         file; `turnpipe list` shows them\n"
    );
    assert_eq!(run, failed_run(2, &expected));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_stream_that_is_not_understood_is_mentioned_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new.jsonl");
    let append = format!("session append {}", file.display());
    let commands = [
        "run-tools",
        "summarize-batch --model builtin",
        "title --model builtin",
        "recap --model builtin",
        &append,
    ];
    let foreign = "{\"event\":\"x\"}\n{\"event\":\"y\"}\n";
    let words = "{\"type\":\"assistant\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Hello there\"}]}}\n";
    for command in commands {
        let arguments: Vec<&str> = command.split(' ').collect();
        let result = run(&arguments, foreign.as_bytes());
        let lines: Vec<&str> = result.stderr.lines().collect();
        assert_eq!(lines.len(), 2, "{command}: {result:?}");
        assert_eq!(lines[0], "turnpipe: no line of the input was understood");
        assert!(
            lines[1].starts_with("hint: `turnpipe "),
            "{command}: {result:?}"
        );
        assert!(result.stdout.starts_with(foreign), "{command}");
        let quiet = [&["--quiet"], &arguments[..]].concat();
        for (arguments, input) in [(&quiet, foreign), (&arguments, words), (&arguments, "\n")] {
            let result = run(arguments, input.as_bytes());
            assert_eq!(result.stderr, "", "{arguments:?}: {result:?}");
        }
    }
}

#[test]
fn other_inputs_are_still_processed() {
    let good = data("qwen-rewound.jsonl");
    let good = Path::new(&good);
    let missing = Path::new("/no/such/file.jsonl");
    for command in [
        "check text --kind terminal",
        "check shell",
        "summarize-batch --model builtin",
        "title --model builtin",
        "recap --model builtin",
        "session search -i .",
        "session check",
        "session path",
    ] {
        let once = with_files(command, &[good]).stdout.lines().count();
        let both = with_files(command, &[missing, good, good]);
        assert_refused(&both, command, missing, ODD_INPUTS[0].2);
        // A message in two copies of a session is one hit.
        let copies = if command.starts_with("session search") {
            1
        } else {
            2
        };
        assert!(both.stdout.lines().count() >= copies * once, "{command}");
    }
}

#[test]
fn a_list_without_sessions_is_a_no_op() {
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

/// Each line of a list has one record. Bad lines do not make the command fail.
#[test]
fn bad_lines_of_a_list_are_reported_as_records() {
    let good = &*data("qwen-rewound.jsonl");
    let good = run(&["session", "path", good, "--json"], b"").stdout;
    let bad = "garbage\n{\"type\":\"session\"}\n{\"type\":\"session\",\"path\":\"/none.jsonl\"}\n\
        {\"type\":\"session\",\"path\":\"/etc/passwd\"}\n";
    for command in [
        "title --model builtin -o jsonl",
        "recap --model builtin -o jsonl",
        "session check --summary -o jsonl -",
        "session path --json -",
    ] {
        let arguments: Vec<&str> = command.split(' ').collect();
        for list in [format!("{bad}{good}"), format!("{good}{bad}")] {
            let output = run(&arguments, list.as_bytes());
            assert_eq!(output.status, Some(0), "{command}: {output:?}");
            let lines: Vec<&str> = output.stdout.lines().collect();
            assert_eq!(lines.len(), 5, "{command}: {output:?}");
            let errors = lines.iter().filter(|line| line.contains("\"error\":"));
            assert_eq!(errors.count(), 4, "{command}: {output:?}");
            assert_eq!(output.stderr.lines().count(), 4, "{command}: {output:?}");
        }
    }
}

#[test]
fn sessions_are_named_by_a_list_or_a_file_on_standard_input() {
    let path = &*data("qwen-rewound.jsonl");
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
fn a_file_on_standard_input_is_the_session_unless_others_are_named_or_it_was_read_from() {
    let (file, other) = (data("qwen-rewound.jsonl"), data("claude-parallel.jsonl"));
    for command in [
        "show", "tail", "calls", "check", "stats", "search .", "report",
    ] {
        let command = format!("turnpipe --quiet session {command}");
        let outputs = shell(&format!(
            "{command} - < {file}; echo ---; {command} < {file}; echo ---; \
             {command} {other} < {file}; echo ---; {command} {other}; echo ---; \
             while read -r line; do {command} {other}; break; done < {file}"
        ));
        assert_eq!(outputs.stderr, "", "{command}");
        let outputs: Vec<&str> = outputs.stdout.split("---\n").collect();
        let [dash, redirected, named_with_file, named, looped] = outputs.as_slice() else {
            panic!("{command}: {outputs:?}");
        };
        assert!(!dash.is_empty() && dash != named, "{command}");
        assert_eq!(dash, redirected, "{command}");
        assert_eq!([named, looped], [named_with_file, named], "{command}");
    }
    let home = tempfile::tempdir().unwrap();
    let loops = shell(&format!(
        "export HOME={}; while read -r line; do turnpipe show; break; done < {file}",
        home.path().display()
    ));
    assert!(
        loops
            .stderr
            .starts_with("turnpipe: latest: there is no such session"),
        "{loops:?}"
    );
}

#[test]
fn a_terminal_is_refused_in_one_line_with_a_hint() {
    if is_missing("script") {
        return;
    }
    for command in [
        "check text --kind terminal",
        "run-tools",
        "summarize-batch",
        "session append f",
    ] {
        let run = shell(&format!(
            "script -qec \"$TURNPIPE {command}\" /dev/null; echo status $?"
        ));
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
