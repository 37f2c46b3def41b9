//! `session report`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::bench::{Run, files, recordings, session, some_recordings, turnpipe};
use crate::schema::assert_fits;

/// A call that a rule denied did not fail.
#[test]
fn denied_calls_of_qwen_code_are_listed_once() {
    let path = recordings().join("qwen/denied-auto.session.jsonl");
    let report = session(&["report", path.to_str().unwrap()]);
    assert!(
        report.text.contains("0 failed, 1 denied"),
        "{}",
        report.text
    );
    assert!(report.text.contains("### Denied calls"), "{}", report.text);
    assert!(!report.text.contains("### Failed calls"), "{}", report.text);
}

/// Returns a session of Claude Code with an edit, a failing command and a denied one.
fn transcript(model: &str) -> String {
    let call = |number: u32, tool: &str, input: Value| {
        json!({"type": "assistant", "uuid": format!("a{number}"),
            "parentUuid": if number == 1 { "p".to_owned() } else { format!("r{}", number - 1) }, "sessionId": "s", "cwd": "/demo",
            "timestamp": format!("2026-11-20T10:00:{number:02}.000Z"),
            "message": {"role": "assistant", "id": format!("m{number}"), "model": model,
                "usage": {"input_tokens": 100_000, "output_tokens": 1000},
                "content": [{"type": "tool_use", "id": format!("t{number}"), "name": tool, "input": input}]}})
    };
    let result = |number: u32, text: &str, failed: bool| {
        json!({"type": "user", "uuid": format!("r{number}"), "parentUuid": format!("a{number}"), "sessionId": "s", "cwd": "/demo",
            "timestamp": format!("2026-11-20T10:00:{:02}.500Z", number + 1),
            "message": {"role": "user", "content": [{"type": "tool_result",
                "tool_use_id": format!("t{number}"), "content": text, "is_error": failed}]}})
    };
    let edit = json!({"file_path": "src/a.rs", "old_string": "a\nb\n", "new_string": "a\nc\nd\n"});
    let denial = "Permission to use Bash with command git push has been denied.";
    let rows = [
        json!({"type": "user", "uuid": "p", "parentUuid": null, "sessionId": "s", "cwd": "/demo",
            "timestamp": "2026-11-20T10:00:00.000Z",
            "message": {"role": "user", "content": "Mend the parser with the key ghp_0123456789abcdefghijABCDEFGHIJ012345"}}),
        call(1, "Edit", edit),
        result(1, "The file was updated.", false),
        call(2, "Bash", json!({"command": "cargo test | tail -3"})),
        result(2, "Exit code 101\nfailures: 2", true),
        call(3, "Bash", json!({"command": "git push origin main"})),
        result(3, denial, true),
        json!({"type": "assistant", "uuid": "a4", "parentUuid": "r3", "sessionId": "s", "cwd": "/demo",
            "timestamp": "2026-11-20T10:02:00.000Z",
            "message": {"role": "assistant", "id": "m4", "model": model, "stop_reason": "end_turn",
                "content": [{"type": "text", "text": "Fixed the parser. ::error::x"}]}}),
    ];
    let lines: Vec<String> = rows.iter().map(ToString::to_string).collect();
    lines.join("\n") + "\n"
}

struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    /// Creates a folder with the session `s.jsonl`.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let folder = Self { folder };
        fs::write(folder.path("s.jsonl"), transcript("claude-sonnet-4-5")).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn report(&self, arguments: &[&str]) -> Run {
        let file = self.path("s.jsonl");
        session(&[&["report", file.to_str().unwrap()], arguments].concat())
    }
}

#[test]
fn the_summary_says_what_happened() {
    let report = Folder::new().report(&[]);
    assert_eq!((report.status, &*report.messages), (Some(0), ""));
    let expected = "\
## Session

**Task:** Mend the parser with the key ghp\\_\\[redacted\\]

**Outcome:** Fixed the parser.

| | |
|---|---|
| Agent | claude |
| Model | claude-sonnet-4-5 |
| Calls | 3: 1 failed, 1 denied |
| Changes | 1 file, +2 −1 |
| Tokens | 300.0k input, 3.0k output |
| Cost | $0.95 |
| Duration | 2 min |

### Changed files

| file | | |
|---|--:|--:|
| `src/a.rs` | +2 | −1 |

### Denied calls

- Bash `git push origin main` · 1 s

### Failed calls

- Bash cargo test \\| tail -3 · exit status 101 · 1 s
";
    assert_eq!(report.text, expected);
}

#[test]
fn a_gate_fails_with_its_own_status_and_is_named() {
    let folder = Folder::new();
    let table: [(&[&str], Option<&str>); 17] = [
        (&["--max-cost", "1"], None),
        (&["--max-cost", "0.9"], Some("--max-cost 0.9: $0.95")),
        (&["--max-tokens", "303000"], None),
        (
            &["--max-tokens", "302999"],
            Some("--max-tokens 302999: 303,000 tokens"),
        ),
        (&["--fail-on", "error"], None),
        (
            &["--fail-on", "denied"],
            Some("--fail-on denied: 1 denied call"),
        ),
        (
            &["--fail-on", "error,failed"],
            Some("--fail-on failed: 1 failed call"),
        ),
        (
            &["--forbid", "Bash(git push *)"],
            Some("--forbid Bash(git push *): 1 matching call"),
        ),
        (
            &["--forbid", "Bash(tail *)"],
            Some("--forbid Bash(tail *): 1 matching call"),
        ),
        (&["--forbid", "Bash(git pull *)"], None),
        (
            &["--forbid", "Edit(src/**)"],
            Some("--forbid Edit(src/**): 1 matching call"),
        ),
        (&["--forbid", "Edit(docs/**)"], None),
        (&["--only", "src/**"], None),
        (&["--only", "docs/**", "--only", "/**"], None),
        (
            &["--only", "*.rs"],
            Some("--only *.rs: 1 other file changed"),
        ),
        (
            &["--only", "docs/**", "--only", "src/*/**"],
            Some("--only docs/** src/*/**: 1 other file changed"),
        ),
        (
            &["--forbid", "Bash(x *)", "--forbid", "Edit"],
            Some("--forbid Edit: 1 matching call"),
        ),
    ];
    for (arguments, failure) in table {
        let report = folder.report(arguments);
        let (status, message) = match failure {
            Some(failure) => (6, format!("turnpipe: gate failed: {failure}\n")),
            None => (0, String::new()),
        };
        assert_eq!(
            (report.status, report.messages),
            (Some(status), message),
            "{arguments:?}"
        );
        let result = if failure.is_some() {
            "failed"
        } else {
            "passed"
        };
        assert!(report.text.contains(result), "{}", report.text);
    }
}

#[test]
fn what_is_not_known_fails_a_gate() {
    let folder = Folder::new();
    let file = folder.path("s.jsonl");
    fs::write(&file, transcript("model-x")).unwrap();
    let report = folder.report(&["--max-cost", "1"]);
    let message = "turnpipe: gate failed: --max-cost 1: unknown cost, at least $0.00: \
                   a model, or a part of the requests, has no price\n";
    assert_eq!((report.status, &*report.messages), (Some(6), message));
    assert!(
        report.text.contains("| Without a price | model-x |"),
        "{}",
        report.text
    );
    // Without token counts.
    fs::write(
        &file,
        transcript("claude-sonnet-4-5").replace("usage", "other"),
    )
    .unwrap();
    let report = folder.report(&["--max-cost", "1", "--max-tokens", "1"]);
    let message = "turnpipe: gate failed: --max-cost 1: unknown cost, at least $0.00: a session has no token counts\n\
                   turnpipe: gate failed: --max-tokens 1: no token counts\n";
    assert_eq!((report.status, &*report.messages), (Some(6), message));
}

/// Returns a session with a turn of a second on the 1st and on the 5th, and a failed request on the 9th.
fn three_days() -> String {
    let mut lines = Vec::new();
    let mut parent = Value::Null;
    let mut add = |kind: &str, time: &str, mut record: Value| {
        let uuid = format!("u{}", lines.len());
        record["type"] = kind.into();
        record["uuid"] = uuid.clone().into();
        record["parentUuid"] = std::mem::replace(&mut parent, uuid.into());
        record["sessionId"] = "three".into();
        record["cwd"] = "/demo".into();
        record["timestamp"] = format!("2026-11-{time}Z").into();
        lines.push(record.to_string());
    };
    let said = |text: &str, id: &str| {
        json!({"message": {"role": "assistant", "id": id, "model": "claude-sonnet-4-5",
            "usage": {"input_tokens": 100, "output_tokens": 10},
            "content": [{"type": "text", "text": text}]}})
    };
    let prompt = |text: &str| json!({"message": {"role": "user", "content": text}});
    add("user", "01T10:00:00", prompt("Begin"));
    add("assistant", "01T10:00:01", said("Began the work.", "m1"));
    add("user", "05T10:00:00", prompt("Go on"));
    add(
        "assistant",
        "05T10:00:01",
        said("Continued the work.", "m2"),
    );
    add("user", "09T10:00:00", prompt("End"));
    let mut error = said("API Error: 500 overloaded", "m3");
    error["isApiErrorMessage"] = true.into();
    add("assistant", "09T10:00:02", error);
    lines.join("\n") + "\n"
}

#[test]
fn only_what_happened_in_the_period_counts() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("three.jsonl"), three_days()).unwrap();
    let cursor = recordings().join("../more_agents/cursor");
    let mut untimed = Vec::new();
    files(&cursor, &[".jsonl"], &mut untimed);
    fs::copy(&untimed[0], folder.path().join("cursor.jsonl")).unwrap();
    let root = folder.path().to_str().unwrap();
    // Start, end; sessions, replies, errors, outcome, duration.
    let rows = [
        ("2020-01-01", "2020-01-02", 0, 0, None, 0),
        (
            "2026-11-01",
            "2026-11-02",
            1,
            0,
            Some("Began the work."),
            1000,
        ),
        (
            "2026-11-05",
            "2026-11-06",
            1,
            0,
            Some("Continued the work."),
            1000,
        ),
        (
            "2026-11-05T10:00:00Z",
            "2026-11-05T10:00:01Z",
            1,
            0,
            None,
            0,
        ),
        ("2026-11-07", "2026-11-08", 0, 0, None, 0),
        (
            "2026-11-09",
            "2026-11-10",
            1,
            1,
            Some("API Error: 500 overloaded"),
            2000,
        ),
    ];
    for (since, until, sessions, errors, outcome, duration) in rows {
        let period = ["--since", since, "--until", until, "--root", root, "--json"];
        let report = session(&[&["report", "--fail-on", "error"], &period[..]].concat());
        let record = report.records().remove(0);
        let listed = record["sessions"].as_array().unwrap();
        let found = (
            listed.len() as u64,
            &record["errors"],
            &record["duration_ms"],
        );
        assert_eq!(
            found,
            (sessions, &errors.into(), &duration.into()),
            "{period:?}"
        );
        assert_eq!(
            listed.first().and_then(|listed| listed["outcome"].as_str()),
            outcome,
            "{period:?}"
        );
        assert_eq!(
            report.status,
            Some(if errors > 0 { 6 } else { 0 }),
            "{period:?}"
        );
        let stats = session(&[&["stats"], &period[..]].concat())
            .records()
            .remove(0);
        assert_eq!(stats["sessions"], sessions, "{period:?}");
    }
}

#[test]
fn an_unfinished_run_is_an_error() {
    let folder = Folder::new();
    let lines: Vec<String> = transcript("m").lines().map(str::to_owned).collect();
    for end in 1..lines.len() {
        fs::write(folder.path("s.jsonl"), lines[..end].join("\n") + "\n").unwrap();
        let report = folder.report(&["--fail-on", "error"]);
        assert_eq!(report.status, Some(6), "after {end} lines");
    }
    let recordings = [
        ("qwen/err429.stream.jsonl", 0),
        ("qwen/walltime.stream.jsonl", 6),
        ("codex/err429.stream.jsonl", 6),
        ("codex/kill-tool.stream.jsonl", 6),
        ("codex/plain.stream.jsonl", 0),
        ("qwen/par.stream.jsonl", 0),
        ("qwen/par.session.jsonl", 0),
    ];
    for (name, status) in recordings {
        let path = recordings_file(name);
        let report = session(&["report", &path, "--fail-on", "error"]);
        assert_eq!(report.status, Some(status), "{name}: {}", report.text);
    }
}

fn recordings_file(name: &str) -> String {
    recordings().join(name).display().to_string()
}

#[test]
fn every_recording_has_a_report() {
    for path in some_recordings(&[".jsonl", ".json"]) {
        let found = session(&["report", path.to_str().unwrap(), "--json"]);
        assert_eq!(
            found.status,
            Some(crate::bench::status_for(&path)),
            "{}",
            path.display()
        );
        for record in found.records() {
            assert_fits("session_report", &record);
        }
    }
}

#[test]
fn outputs_and_test_cases_are_written_to_files() {
    let folder = Folder::new();
    let (outputs, junit) = (folder.path("outputs"), folder.path("gates.xml"));
    fs::write(&outputs, "earlier=1\n").unwrap();
    fs::write(&junit, "x".repeat(10_000)).unwrap();
    let report = folder.report(&[
        "--max-cost",
        "1",
        "--forbid",
        "Bash(\"<&>\")",
        "--fail-on",
        "denied",
        "--github-output",
        outputs.to_str().unwrap(),
        "--junit",
        junit.to_str().unwrap(),
    ]);
    assert_eq!(report.status, Some(6));
    let expected = "\
earlier=1
result=failed
failed_gates=--fail-on denied
cost_usd=0.9450
task=Mend the parser with the key ghp_[redacted]
outcome=Fixed the parser.
sessions=1
calls=3
failed_calls=1
denied_calls=1
errors=0
files_changed=1
lines_added=2
lines_removed=1
tokens=303000
duration_ms=120000
";
    assert_eq!(fs::read_to_string(outputs).unwrap(), expected);
    let expected = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites>
<testsuite name=\"turnpipe session report\" tests=\"3\" failures=\"1\" errors=\"0\">
<testcase classname=\"turnpipe\" name=\"--max-cost 1\"/>
<testcase classname=\"turnpipe\" name=\"--fail-on denied\"><failure message=\"1 denied call\"/></testcase>
<testcase classname=\"turnpipe\" name=\"--forbid Bash(&quot;&lt;&amp;&gt;&quot;)\"/>
</testsuite>
</testsuites>
";
    assert_eq!(fs::read_to_string(junit).unwrap(), expected);
}

#[test]
fn unusable_arguments_and_inputs_end_with_their_status() {
    let folder = Folder::new();
    let empty = folder.path("empty.jsonl");
    fs::write(&empty, "").unwrap();
    let empty = empty.to_str().unwrap();
    let file = folder.path("s.jsonl");
    let file = file.to_str().unwrap();
    let table: [(&[&str], i32); 8] = [
        (&[], 2),
        (&[empty], 2),
        (&["-"], 2),
        (&[file, "/nonexistent.jsonl"], 2),
        (&[file, "--forbid", "Bash("], 2),
        (&[file, "--fail-on", "x"], 2),
        (&[file, "--junit", "/nonexistent/gates.xml"], 74),
        (&["--since", "1d", "--root", "/nonexistent"], 2),
    ];
    for (arguments, status) in table {
        let report = session(&[&["report"], arguments].concat());
        assert_eq!(
            report.status,
            Some(status),
            "{arguments:?}: {}",
            report.messages
        );
        assert!(!report.messages.is_empty(), "{arguments:?}");
    }
}

/// Runs a command with this file as standard input.
fn report_from_stdin(command: &str, file: &Path) -> Run {
    let mut child = turnpipe(&["session", command, "-", "--json"]);
    let mut child = child
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&fs::read(file).unwrap()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    Run {
        status: output.status.code(),
        text: String::from_utf8(output.stdout).unwrap(),
        messages: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_stream_on_standard_input_is_read() {
    let stream = recordings().join("qwen/par.stream.jsonl");
    let report = report_from_stdin("report", &stream);
    assert_eq!((report.status, &*report.messages), (Some(0), ""));
    let record = &report.records()[0];
    assert_eq!(record["sessions"][0]["path"], "-");
    assert_eq!(record["runs"]["ends"], json!({"success": 1}));
    let calls = report_from_stdin("calls", &stream);
    assert_eq!((calls.status, &*calls.messages), (Some(0), ""));
    assert_eq!(json!(calls.records().len()), record["calls"]);
}

#[test]
fn several_sessions_and_a_period_are_added_up() {
    let folder = Folder::new();
    let other = transcript("claude-sonnet-4-5").replace("\"s\"", "\"other\"");
    let other = other
        .replace("2026-11-20", "2026-11-24")
        .replace("id\":\"t", "id\":\"u")
        .replace("id\":\"m", "id\":\"n")
        .replace("uuid\":\"", "uuid\":\"o")
        .replace("Uuid\":\"", "Uuid\":\"o");
    fs::write(folder.path("other.jsonl"), other).unwrap();
    let root = folder.folder.path().to_str().unwrap();
    let count = |arguments: &[&str]| {
        let report = session(&[&["report", "--json", "--root", root], arguments].concat());
        assert_eq!(report.status, Some(0), "{}", report.messages);
        let record = &report.records()[0];
        let sessions = record["sessions"].as_array().unwrap().len();
        (
            sessions,
            record["calls"].clone(),
            record["usage"]["input_tokens"].clone(),
            record["files"][0]["added"].clone(),
        )
    };
    assert_eq!(
        count(&["--since", "2026-01-01"]),
        (2, json!(6), json!(600_000), json!(4))
    );
    assert_eq!(
        count(&["--since", "2026-11-24"]),
        (1, json!(3), json!(300_000), json!(2))
    );
    let since = ["--since", "2026-11-20T10:00:02Z", "--until", "2026-11-23"];
    assert_eq!(count(&since), (1, json!(2), json!(200_000), Value::Null));
    assert_eq!(
        count(&["--since", "2026-12-01"]),
        (0, json!(0), json!(0), Value::Null)
    );
}
