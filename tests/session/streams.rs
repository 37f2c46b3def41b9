//! Saved streams of runs, read as sessions.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::bench::{files, recordings, session, turnpipe};
use crate::skip::{is_full_run, sample};

fn records(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    lines.collect()
}

fn stats(path: &Path) -> Value {
    let result = session(&["stats", "--json", path.to_str().unwrap()]);
    assert_eq!(
        result.status,
        Some(0),
        "{}: {}",
        path.display(),
        result.messages
    );
    result.records().swap_remove(0)
}

/// Returns the input and output tokens of the whole run and the reason for its end, as stated by the stream.
fn stated_totals(path: &Path) -> Option<([u64; 2], Value)> {
    let agent = path.parent()?.file_name()?.to_str()?;
    let count = |value: &Value| value.as_u64().unwrap_or_default();
    let (mut tokens, mut end) = ([0, 0], None);
    for record in records(path) {
        let usage = &record["usage"];
        let kind = record["type"].as_str().unwrap_or_default();
        match (agent, kind) {
            ("codex", "turn.completed") => {
                tokens = [
                    count(&usage["input_tokens"]),
                    count(&usage["output_tokens"]),
                ];
                end = Some(json!("completed"));
            }
            ("codex", "turn.failed") => end = Some(json!("failed")),
            ("qwen", "result") => {
                tokens = [
                    count(&usage["input_tokens"]),
                    count(&usage["output_tokens"]),
                ];
                end = Some(record["subtype"].clone());
            }
            ("gemini", "result") => {
                let input = count(&record["stats"]["input_tokens"]);
                tokens = [input, count(&record["stats"]["total_tokens"]) - input];
                end = Some(record["status"].clone());
            }
            ("opencode", "step_finish") => {
                let used = &record["part"]["tokens"];
                tokens[0] += count(&used["input"]) + count(&used["cache"]["read"]);
                tokens[1] += count(&used["output"]) + count(&used["reasoning"]);
                end = Some(record["part"]["reason"].clone()).filter(|end| end != "tool-calls");
            }
            ("pi", "message_end") if record["message"]["role"] == "assistant" => {
                let used = &record["message"]["usage"];
                tokens[0] += count(&used["input"]) + count(&used["cacheRead"]);
                tokens[1] += count(&used["output"]);
            }
            ("pi", "agent_end") => {
                let last = record["messages"].as_array()?.last()?.clone();
                end = Some(last["stopReason"].clone());
            }
            _ => {}
        }
    }
    Some((tokens, end?))
}

/// Returns the recorded streams that are not empty.
fn find_streams() -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(&recordings(), &[".stream.jsonl"], &mut found);
    found.retain(|path| fs::metadata(path).unwrap().len() > 0);
    found
}

#[test]
fn totals_match_those_stated_by_the_stream() {
    let mut interrupted = 0;
    let agent = |path: &PathBuf| path.parent().map(Path::to_owned);
    let kind = |path: &PathBuf| (agent(path), stated_totals(path).is_some());
    for path in sample(find_streams(), 4, kind) {
        let total = stats(&path);
        let ends = &total["runs"]["ends"];
        let Some((tokens, end)) = stated_totals(&path) else {
            assert_eq!(ends, &json!({"interrupted": 1}), "{}", path.display());
            interrupted += 1;
            continue;
        };
        let usage = &total["usage"];
        let count = |name: &str| usage[name].as_u64().unwrap_or_default();
        let input = count("input_tokens") + count("cache_read_input_tokens");
        assert_eq!(
            [input, count("output_tokens")],
            tokens,
            "{}",
            path.display()
        );
        assert!(
            ends[end.as_str().unwrap()].is_u64(),
            "{}: {ends}",
            path.display()
        );
    }
    let floor = if is_full_run() { 5 } else { 2 };
    assert!(interrupted > floor, "{interrupted}");
}

#[test]
fn turns_denials_duration_and_cost_match_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let call =
        json!([{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "rm x"}}]);
    let denied =
        json!([{"type": "tool_result", "tool_use_id": "t", "content": "no", "is_error": true}]);
    let usage = |output: u64| json!({"input_tokens": 10, "output_tokens": output});
    let delta = json!({"type": "message_delta", "usage": {"output_tokens": 90}});
    let rows = [
        json!({"type": "system", "subtype": "init", "session_id": "s", "cwd": "/p", "model": "m",
            "claude_code_version": "2.1.300"}),
        json!({"type": "assistant", "session_id": "s", "uuid": "a", "message":
            {"id": "m1", "role": "assistant", "model": "m", "content": call, "usage": usage(3)}}),
        json!({"type": "stream_event", "session_id": "s", "event": delta}),
        json!({"type": "user", "session_id": "s", "message": {"role": "user", "content": denied}}),
        json!({"type": "result", "subtype": "error_max_turns", "is_error": true, "num_turns": 2,
            "duration_ms": 4000, "total_cost_usd": 0.25, "session_id": "s",
            "usage": {"input_tokens": 25, "output_tokens": 90}, "errors": ["too many turns"],
            "permission_denials": [{"tool_name": "Bash", "tool_use_id": "t"}]}),
    ];
    let text: Vec<String> = rows.iter().map(Value::to_string).collect();
    fs::write(&path, text.join("\n") + "\n").unwrap();
    let total = stats(&path);
    let runs =
        json!({"ends": {"error_max_turns": 1}, "turns": 2, "duration_ms": 4000, "denials": 1});
    assert_eq!(total["runs"], runs);
    assert_eq!(total["recorded_cost_usd"], 0.25);
    let usage = &total["usage"];
    assert_eq!(
        (&usage["input_tokens"], &usage["output_tokens"]),
        (&json!(25), &json!(90))
    );
    assert_eq!(total["replies"], 1);
    let shown = session(&["show", "-o", "text", path.to_str().unwrap()]).text;
    for part in [
        "ended: error_max_turns, 2 turns, 1 denied call, 4 s",
        "$0.25",
        "too many turns",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

/// `claude-execution-output.json` is a pretty-printed array of the same records.
#[test]
fn an_array_of_records_is_the_same_session() {
    let folder = tempfile::tempdir().unwrap();
    let array = folder.path().join("claude-execution-output.json");
    let stream = recordings().join("qwen/par.stream.jsonl");
    let rows = records(&stream);
    fs::write(&array, serde_json::to_string_pretty(&rows).unwrap()).unwrap();
    let named = |path: &Path| path.to_str().unwrap().to_owned();
    let result = |command: &str, more: &[&str], path: &Path| {
        let path = named(path);
        let arguments = [&[command], more, &[&path]].concat();
        let result = session(&arguments);
        assert_eq!(result.status, Some(0), "{command}: {}", result.messages);
        // Whitespace inside inputs is kept.
        let mut records = result.records();
        for record in &mut records {
            record["path"] = Value::Null;
            record["input"] = Value::Null;
        }
        serde_json::to_string(&records).unwrap()
    };
    for (command, more) in [
        ("stats", &["--json"][..]),
        ("show", &["-o", "jsonl"]),
        ("calls", &["--json"]),
        ("check", &["--json"]),
        (
            "search",
            &["[a-z]{5}", "--in", "text,calls,results", "--json"],
        ),
        ("tail", &["-n", "3", "-o", "jsonl"]),
    ] {
        assert_eq!(
            result(command, more, &array),
            result(command, more, &stream),
            "{command}"
        );
    }
    let path = named(&array);
    let listed = session(&["list", "--root", &path, "--json"]).records();
    assert_eq!(listed[0]["session_id"], rows[0]["session_id"]);
    let pages = folder.path().join("pages");
    let exported = session(&["export", "--root", &path, pages.to_str().unwrap()]);
    assert_eq!(exported.status, Some(0), "{}", exported.messages);
    // Cut off in the middle of an element.
    let text = fs::read_to_string(&array).unwrap();
    fs::write(&array, &text[..text.len() / 2]).unwrap();
    assert_eq!(stats(&array)["runs"]["ends"], json!({"interrupted": 1}));
}

#[test]
fn a_stream_is_followed_while_it_grows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let text = fs::read_to_string(recordings().join("codex/mixed.stream.jsonl")).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(&path, lines[..2].concat()).unwrap();
    let arguments = ["session", "tail", "-f", "--until-idle", "2s", "-o", "jsonl"];
    let arguments = [&arguments[..], &[path.to_str().unwrap()]].concat();
    let mut child = turnpipe(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(lines[2..].concat().as_bytes()).unwrap();
    let output = BufReader::new(child.stdout.take().unwrap()).lines();
    let result: Vec<Value> = output
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect();
    child.wait().unwrap();
    let blocks = |kind: &str| {
        let blocks = result
            .iter()
            .filter_map(|record| record["message"]["content"].as_array());
        blocks
            .flatten()
            .filter(|block| block["type"] == kind)
            .count()
    };
    let calls = session(&["calls", "--json", path.to_str().unwrap()])
        .records()
        .len();
    assert!(calls > 0);
    assert_eq!((blocks("tool_use"), blocks("tool_result")), (calls, calls));
}

/// The records of a stream belong to the program that wrote it.
#[test]
fn nothing_is_written_to_a_stream() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    fs::copy(recordings().join("pi/plain.stream.jsonl"), &path).unwrap();
    let before = fs::read(&path).unwrap();
    session(&["rename", path.to_str().unwrap(), "A name"]);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn the_last_reply_is_shown_as_text_only() {
    let stream = recordings().join("qwen/par.stream.jsonl");
    let result = session(&["show", "--last-answer", stream.to_str().unwrap()]);
    assert_eq!(
        result.text,
        "Fixed: fields are now trimmed in `src/parser.rs`.\n"
    );
    let result = session(&["show", "--last-answer", "--json", stream.to_str().unwrap()]);
    assert_eq!(result.records().len(), 1);
    // Interrupted before the first reply.
    let none = recordings().join("qwen/int-text-group.stream.jsonl");
    let result = session(&["show", "--last-answer", none.to_str().unwrap()]);
    assert_eq!((result.status, &*result.text), (Some(1), ""));
}
