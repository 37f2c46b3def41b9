//! Invalid arguments, help and version.

use crate::turnpipe::{data, failed_run, quiet_run, run};

const VERSION: &str = concat!("turnpipe ", env!("CARGO_PKG_VERSION"), "\n");

#[test]
fn the_version_is_one_line() {
    for option in ["--version", "-V"] {
        assert_eq!(run(&[option], b""), quiet_run(0, VERSION));
    }
    assert_eq!(
        run(&["--color", "never", "--version"], b""),
        quiet_run(0, VERSION)
    );
}

#[test]
fn requested_help_goes_to_standard_output() {
    for arguments in [
        &["--help"][..],
        &["-h"],
        &["check", "--help"],
        &["check", "text", "-h"],
    ] {
        let output = run(arguments, b"");
        assert_eq!(output.status, Some(0), "{arguments:?}");
        assert!(output.stdout.contains("Usage: turnpipe"), "{arguments:?}");
        assert!(
            !output.stdout.contains('\u{1b}') && output.stderr.is_empty(),
            "{arguments:?}"
        );
    }
}

#[test]
fn without_a_subcommand_help_goes_to_standard_error() {
    for arguments in [&[][..], &["check"]] {
        let output = run(arguments, b"");
        assert_eq!(
            (output.status, output.stdout.as_str()),
            (Some(2), ""),
            "{arguments:?}"
        );
        assert!(output.stderr.contains("Usage: turnpipe"), "{arguments:?}");
    }
}

#[test]
fn help_is_coloured_only_on_request() {
    assert!(
        run(&["--color", "always", "--help"], b"")
            .stdout
            .contains("\u{1b}[")
    );
    assert!(
        !run(&["--color", "never", "--help"], b"")
            .stdout
            .contains('\u{1b}')
    );
}

#[test]
fn invalid_arguments_are_one_line_and_a_hint() {
    let table: [(&[&str], &str, &str); 4] = [
        (
            &["--bogus"],
            "unexpected argument '--bogus'",
            "turnpipe --help",
        ),
        (
            &["check", "text"],
            "missing required argument: --kind <KIND>",
            "turnpipe check text --help",
        ),
        (
            &["check", "text", "--kind", "poem"],
            "invalid value 'poem' for '--kind <KIND>' [possible values: terminal, label, title, recap]",
            "turnpipe check text --help",
        ),
        (
            &["check", "text", "--kind", "te\u{1b}[31m\n"],
            "invalid value 'te ' for '--kind <KIND>' [possible values: terminal, label, title, recap]",
            "turnpipe check text --help",
        ),
    ];
    for (arguments, problem, help) in table {
        let output = run(arguments, b"");
        assert_eq!(
            (output.status, output.stdout.as_str()),
            (Some(2), ""),
            "{arguments:?}"
        );
        let more = format!("hint: for more information, try `{help}`\n");
        assert!(
            output.stderr.starts_with(&format!("turnpipe: {problem}\n")),
            "{}",
            output.stderr
        );
        assert!(output.stderr.ends_with(&more), "{}", output.stderr);
        assert!(!output.stderr.contains('\u{1b}'), "{}", output.stderr);
    }
}

#[test]
fn invalid_variables_are_a_usage_error() {
    let output = crate::turnpipe::shell("TURNPIPE_CLOCK=noon turnpipe --version");
    assert_eq!(
        output,
        failed_run(2, "turnpipe: TURNPIPE_CLOCK: not an RFC 3339 time: noon\n")
    );
}

#[test]
fn quiet_runs_do_not_report_denials() {
    let call = br#"{"type":"tool_use","id":"1","name":"Bash","input":{"command":"touch x"}}"#;
    let output = run(&["run-tools"], call);
    assert!(output.stderr.contains("was denied"), "{output:?}");
    let output = run(&["--quiet", "run-tools"], call);
    assert_eq!((output.status, output.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_missing_home_directory_is_reported() {
    let output = run(&["session", "list", "-o", "text"], b"");
    assert_eq!(
        output.stderr,
        "turnpipe: no sessions found\nhint: HOME is not set; `--root DIR` names a directory\n"
    );
}

#[test]
fn removed_state_is_reported_as_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let arguments = ["state", "clean", "--older-than", "1d", "-o", "text"];
    let output = run(&[&arguments[..], &["--state-dir", path]].concat(), b"");
    assert_eq!(output.stdout, format!("{path}: removed 0 files, 0 bytes\n"));
}

#[test]
fn problems_have_hints() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let file = file.to_str().unwrap();
    let session = data("claude-parallel.jsonl");
    let document = data("session-document.json");
    let rows: [(&[&str], i32, &str); 6] = [
        (
            &["session", "tail", "--follow", &document],
            2,
            &format!(
                "turnpipe: {document}: a file that is one JSON document cannot be followed\n\
                 hint: without `-f`, `--raw` and `--offset` its last messages are shown\n"
            ),
        ),
        (
            &["title", "--model", "foo:bar", &session],
            2,
            "turnpipe: unknown model provider `foo`\nhint: known providers are openai, responses, \
             anthropic, gemini, ollama, dashscope, openrouter, llamacpp, vllm, lmstudio\n",
        ),
        (
            &["title", "--model", "builtin", "nonsense", "-o", "text"],
            2,
            "turnpipe: nonsense: there is no such session\n\
             hint: `turnpipe list` lists all sessions\n",
        ),
        (
            &["session", "export", file],
            2,
            &format!(
                "turnpipe: {file} is not a directory\nhint: name another directory; it is created if needed\n"
            ),
        ),
        (
            &[
                "session", "search", "-i", "nonsense", &session, "-o", "text",
            ],
            1,
            "hint: `--in all` also searches thinking, calls and results\n",
        ),
        (
            &["hook", "pre-tool-use"],
            2,
            "turnpipe: invalid hook input: EOF while parsing a value at line 1 column 0\n\
             hint: supported events: PreToolUse, PermissionRequest, BeforeTool, preToolUse, permissionRequest, \
             beforeShellExecution, beforeMCPExecution, beforeReadFile, beforeTabFileRead, subagentStart\n",
        ),
    ];
    for (arguments, status, messages) in rows {
        let output = run(arguments, b"");
        assert_eq!(output.status, Some(status), "{arguments:?}");
        assert_eq!(output.stderr, messages, "{arguments:?}");
    }
}

#[test]
fn a_new_name_is_reported_as_text() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("session.jsonl");
    std::fs::copy(data("claude-parallel.jsonl"), &copy).unwrap();
    let copy = copy.to_str().unwrap();
    let output = run(
        &[
            "session", "rename", copy, "My name", "-o", "text", "--force",
        ],
        b"",
    );
    assert_eq!(output, quiet_run(0, &format!("{copy}: My name\n")));
}

/// Words that users expect, and the names of the options.
const SYNONYMS: [(&str, &str); 2] = [
    ("session tail FILE --lines 2", "session tail FILE --limit 2"),
    (
        "session list --root FILE --model x",
        "session list --root FILE --last-model x",
    ),
];

#[test]
fn synonyms_of_options_work() {
    let file = data("claude-parallel.jsonl");
    let words = |line: &str| -> Vec<String> {
        line.split(' ')
            .map(|word| word.replace("FILE", &file))
            .collect()
    };
    for (old, new) in SYNONYMS {
        let [old, new] = [old, new].map(|line| {
            let words = words(line);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            run(&words, b"\"Read it\"\n")
        });
        assert_eq!(old, new);
        assert!(
            !old.stderr.contains("unexpected argument"),
            "{}",
            old.stderr
        );
    }
    let schema = run(&["schema", "tool-result"], b"");
    assert_eq!(schema.status, Some(0));
    assert_eq!(schema, run(&["schema", "tool_result"], b""));
}
