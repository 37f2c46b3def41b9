//! `session calls`.

use serde_json::{Value, json};

use crate::bench::{data, recordings, session};
use crate::schema::assert_fits;

/// Returns a session of Claude Code with an edit, a failing command, a denied one and one without a
/// result.
fn transcript(id: &str) -> String {
    let call = |number: u32, tool: &str, input: Value| {
        json!({"type": "assistant", "uuid": format!("a{number}"), "sessionId": id, "cwd": "/demo",
            "timestamp": format!("2026-11-20T10:00:{number:02}.000Z"),
            "message": {"role": "assistant", "id": format!("m{number}"), "content": [
                {"type": "tool_use", "id": format!("t{number}"), "name": tool, "input": input}]}})
    };
    let result = |number: u32, text: &str, failed: bool| {
        json!({"type": "user", "uuid": format!("r{number}"), "sessionId": id, "cwd": "/demo",
            "timestamp": format!("2026-11-20T10:00:{:02}.500Z", number + 1),
            "message": {"role": "user", "content": [{"type": "tool_result",
                "tool_use_id": format!("t{number}"), "content": text, "is_error": failed}]}})
    };
    let rows = [
        json!({"type": "user", "uuid": "p", "sessionId": id, "cwd": "/demo",
            "timestamp": "2026-11-20T10:00:00.000Z",
            "message": {"role": "user", "content": "mend the parser"}}),
        call(
            1,
            "Edit",
            json!({"file_path": "src/a.rs", "old_string": "a\nb\n", "new_string": "a\nc\nd\n"}),
        ),
        result(1, "The file was updated.", false),
        call(
            2,
            "Bash",
            json!({"command": "cargo test | tail -3; git status"}),
        ),
        result(2, "Exit code 101\nfailures: 2", true),
        call(3, "Bash", json!({"command": "git push"})),
        result(
            3,
            "Permission to use Bash with command git push has been denied.",
            true,
        ),
        call(4, "Read", json!({"file_path": "/demo/src/b.rs"})),
    ];
    let lines: Vec<String> = rows.iter().map(ToString::to_string).collect();
    lines.join("\n") + "\n"
}

fn calls(arguments: &[&str]) -> Vec<Value> {
    let found = session(&[&["calls"], arguments].concat());
    assert_eq!(found.status, Some(0), "{}", found.messages);
    found.records()
}

#[test]
fn each_call_has_one_record_with_its_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.jsonl");
    std::fs::write(&file, transcript("s")).unwrap();
    let file = file.to_str().unwrap();
    let records = calls(&[file]);
    for record in &records {
        assert_fits("session_call", record);
    }
    let column =
        |name: &str| -> Vec<Value> { records.iter().map(|record| record[name].clone()).collect() };
    assert_eq!(column("tool"), ["Edit", "Bash", "Bash", "Read"]);
    assert_eq!(
        column("outcome"),
        [json!("ok"), json!("failed"), json!("denied"), Value::Null]
    );
    assert_eq!(
        column("exit_status"),
        [Value::Null, json!(101), Value::Null, Value::Null]
    );
    assert_eq!(column("duration_ms")[..3], [1500, 1500, 1500]);
    assert_eq!(
        records[0]["files"],
        json!([{"path": "/demo/src/a.rs", "added": 2, "removed": 1}])
    );
    assert_eq!(records[0]["about"], "src/a.rs (+2 -1)");
    let input: Value = serde_json::from_str(records[1]["input"].as_str().unwrap()).unwrap();
    assert_eq!(input["command"], "cargo test | tail -3; git status");
}

#[test]
fn filters_select_calls() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.jsonl");
    std::fs::write(&file, transcript("s")).unwrap();
    let file = file.to_str().unwrap();
    let rows: [(&[&str], &[&str]); 10] = [
        (&["--failed"], &["t2"]),
        (&["--denied"], &["t3"]),
        (&["--denied", "--failed"], &["t2", "t3"]),
        (&["--changed"], &["t1"]),
        (&["--tool", "bash"], &["t2", "t3"]),
        (&["--path", "/demo/src"], &["t1", "t4"]),
        (&["--path", "/demo/src/b.rs"], &["t4"]),
        // It does not exist here.
        (&["--path", "src/b.rs"], &["t4"]),
        (&["--since", "2026-11-20T10:00:03Z"], &["t3", "t4"]),
        (&["-n", "1"], &["t1"]),
    ];
    for (arguments, expected) in rows {
        let records = calls(&[&[file], arguments].concat());
        let ids: Vec<&str> = records
            .iter()
            .map(|record| record["tool_use_id"].as_str().unwrap())
            .collect();
        assert_eq!(ids, expected, "{arguments:?}");
    }
    let field = calls(&[file, "--tool", "Bash", "--field", "command"]);
    assert_eq!(field[1]["field"], "git push");
    assert_eq!(field[1].get("input"), None);
}

/// `stats` without dimensions and with others reads less of each record.
#[test]
fn all_commands_count_the_same_failures() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.jsonl"), transcript("s")).unwrap();
    let own = folder.path().display().to_string();
    let [droid, qwen] =
        ["../more_agents/droid", "qwen"].map(|name| recordings().join(name).display().to_string());
    for (root, expected) in [(own, Some(1)), (droid, Some(1)), (qwen, None)] {
        let sum = |arguments: &[&str], place: &str| -> u64 {
            let found = session(&[arguments, &["--json", "--root", &root]].concat());
            let records = found.records();
            let failed = records.iter().map(|record| record.pointer(place).unwrap());
            failed.map(|failed| failed.as_u64().unwrap()).sum()
        };
        let failed = calls(&["--failed", "--root", &root]).len() as u64;
        assert!(expected.is_none_or(|expected| failed == expected), "{root}");
        assert_eq!(sum(&["stats", "--by", "tool"], "/failed"), failed, "{root}");
        let stats = session(&["stats", "--json", "--root", &root])
            .records()
            .remove(0);
        let tools = stats["by_tool"].as_array().unwrap().iter();
        let counted: u64 = tools.map(|tool| tool["failed"].as_u64().unwrap()).sum();
        assert_eq!(counted, failed, "{root}");
        if expected.is_some() {
            assert_eq!(
                sum(&["list", "--counts"], "/counts/failed"),
                failed,
                "{root}"
            );
        }
    }
}

#[test]
fn programs_are_counted_once_per_call() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.jsonl");
    let line = "cargo test | tail -3; git status";
    let moved = format!("/x/turnpipe sandbox --settings /s -- bash -c '{line}'");
    std::fs::write(&file, transcript("s").replace(line, &moved)).unwrap();
    let file = file.to_str().unwrap();
    assert_eq!(calls(&[file])[1]["about"], line);
    let counts = calls(&[file, "--tool", "Bash", "--count"]);
    let rows: Vec<(&str, u64, u64)> = counts
        .iter()
        .map(|count| {
            assert_fits("session_call_count", count);
            let number = |name: &str| count[name].as_u64().unwrap();
            let command = count["command"].as_str().unwrap();
            (command, number("calls"), number("denied"))
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("cargo test", 1, 0),
            ("git push", 1, 1),
            ("git status", 1, 0),
            ("tail", 1, 0)
        ]
    );
}

#[test]
fn a_copied_call_appears_once() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["one", "two", "three"] {
        let file = folder.path().join(format!("{name}.jsonl"));
        std::fs::write(file, transcript(name)).unwrap();
    }
    let root = folder.path().to_str().unwrap();
    assert_eq!(calls(&["--root", root]).len(), 4);
}

#[test]
fn calls_are_as_many_as_stats_counts() {
    let root = data("");
    let counted: u64 = session(&["stats", "--by", "tool", "--root", &root])
        .records()
        .iter()
        .map(|tool| tool["calls"].as_u64().unwrap())
        .sum();
    let records = calls(&["--root", &root]);
    assert!(counted > 0);
    assert_eq!(records.len() as u64, counted);
}

#[test]
fn text_has_one_fitting_line_per_call() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.jsonl");
    std::fs::write(&file, transcript("s")).unwrap();
    let found = session(&["calls", file.to_str().unwrap(), "-o", "text"]);
    let text = found.text;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "mend the parser · claude");
    assert_eq!(lines.len(), 5, "{text}");
    assert!(
        lines[2].contains("failed") && lines[2].ends_with("git status"),
        "{text}"
    );
    assert!(lines[4].contains("no result"), "{text}");
}
