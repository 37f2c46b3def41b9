//! The same calls and results in every view.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use turnpipe::agent::is_among_subagents;

use crate::bench::{files, session};

/// The numbers of calls and of results.
type Counts = (usize, usize);

/// Returns the counts in records.
fn count_records(records: &[Value]) -> Counts {
    let blocks = records
        .iter()
        .filter_map(|record| record["message"]["content"].as_array());
    let kinds: Vec<&str> = blocks
        .flatten()
        .filter_map(|block| block["type"].as_str())
        .collect();
    let count = |kind| kinds.iter().filter(|known| **known == kind).count();
    (count("tool_use"), count("tool_result"))
}

/// Returns the lines of a page, without the marks before the lines of subagents.
fn lines<'a>(page: &'a str, mark: &'static str) -> impl Iterator<Item = &'a str> {
    page.lines().map(move |line| line.trim_start_matches(mark))
}

/// Returns the counts in text. Each call has a line for its result.
fn count_text(page: &str) -> Counts {
    let results = lines(page, "    ┆ ").filter(|line| line.starts_with("    ⎿ "));
    let missing = lines(page, "    ┆ ").filter(|line| *line == "    ⎿ no result");
    let calls = results.count();
    (calls, calls - missing.count())
}

fn count_markdown(page: &str) -> Counts {
    let is_result = |line: &&str| line.trim_start_matches('`') == "text" && line.starts_with("```");
    let results = lines(page, "> ").filter(is_result).count();
    let missing = lines(page, "> ").filter(|line| *line == "  *no result*");
    (results + missing.count(), results)
}

fn count_html(page: &str) -> Counts {
    let calls = page
        .lines()
        .filter(|line| line.starts_with("<details") && line.contains(" class=\"call "));
    (calls.count(), page.matches(" class=\"output\">").count())
}

/// Returns the counts in a trajectory and in the subagents of the same file.
fn count_trajectory(trajectory: &Value) -> Counts {
    let count = |of: fn(&Value) -> &Value| {
        let steps = trajectory["steps"].as_array().unwrap().iter();
        steps
            .filter_map(|step| of(step).as_array())
            .map(Vec::len)
            .sum::<usize>()
    };
    let subagents = trajectory["subagent_trajectories"]
        .as_array()
        .into_iter()
        .flatten();
    let inside = subagents.filter(|subagent| subagent["trajectory_id"] == "subagents");
    let inside = inside
        .map(count_trajectory)
        .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let results = count(|step| &step["observation"]["results"]);
    (
        count(|step| &step["tool_calls"]) + inside.0,
        results + inside.1,
    )
}

/// Checks the views of a session. Returns the number of its calls.
fn check(path: &Path) -> usize {
    let path = path.to_str().unwrap();
    let shown = |form: &[&str]| session(&[&["show", path], form].concat());
    let records = shown(&[]);
    if records.status != Some(0) {
        return 0;
    }
    let expected = count_records(&records.records());
    if expected == (0, 0) {
        return 0;
    }
    let folder = tempfile::tempdir().unwrap();
    session(&[
        "export",
        folder.path().to_str().unwrap(),
        path,
        "-o",
        "atif",
    ]);
    let mut exported = Vec::new();
    files(folder.path(), &[".atif.json"], &mut exported);
    let trajectory = fs::read(exported.first().unwrap()).unwrap();
    let all = count_records(&shown(&["--all-branches"]).records());
    let calls = session(&["calls", path]).records();
    let has_result = |call: &&Value| call["result_bytes"].is_number();
    let listed = (calls.len(), calls.iter().filter(has_result).count());
    let views = [
        ("text", count_text(&shown(&["-o", "text"]).text)),
        ("md", count_markdown(&shown(&["-o", "md"]).text)),
        ("html", count_html(&shown(&["-o", "html"]).text)),
        (
            "atif",
            count_trajectory(&serde_json::from_slice(&trajectory).unwrap()),
        ),
    ];
    for (view, counts) in views {
        assert_eq!(counts, expected, "{path}: {view}");
    }
    // Its list also has the calls of subagents in other files.
    let own = Path::new(path);
    if !own.with_extension("").is_dir() && !is_among_subagents(own) {
        assert_eq!(listed, all, "{path}: calls");
    }
    expected.0
}

#[test]
fn all_views_of_all_samples_have_the_same_calls_and_results() {
    let samples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data"));
    let mut paths = Vec::new();
    for folder in ["agents", "session", "more_agents", "edits", "continued"] {
        files(&samples.join(folder), &[".jsonl", ".json"], &mut paths);
    }
    let chunks = paths.chunks(paths.len().div_ceil(4));
    let calls: usize = std::thread::scope(|scope| {
        let jobs: Vec<_> = chunks
            .map(|paths| scope.spawn(|| paths.iter().map(|path| check(path)).sum::<usize>()))
            .collect();
        jobs.into_iter().map(|job| job.join().unwrap()).sum()
    });
    assert!(calls > 200, "{calls}");
}

/// Writes rows to a file.
fn write_session(folder: &Path, name: &str, rows: &[Value]) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let rows: Vec<String> = rows.iter().map(ToString::to_string).collect();
    fs::write(&path, rows.join("\n") + "\n").unwrap();
    path
}

/// A session of Copilot CLI whose subagent works beside it, and whose last call was interrupted.
fn write_parallel_session(folder: &Path) -> PathBuf {
    let row = |kind: &str, agent: Option<&str>, data: Value| {
        let mut row =
            json!({"type": kind, "id": "", "timestamp": "2026-01-01T10:00:00Z", "data": data});
        if let Some(agent) = agent {
            row["agentId"] = agent.into();
        }
        row
    };
    let request = |id: &str, name: &str, input: Value| json!({"toolCallId": id, "name": name, "arguments": input});
    let result = |id: &str, text: &str| json!({"toolCallId": id, "success": true, "result": {"content": text}});
    let mut rows = vec![
        row(
            "session.start",
            None,
            json!({"sessionId": "s", "context": {"cwd": "/w"}}),
        ),
        row("user.message", None, json!({"content": "Fix it"})),
        row(
            "assistant.message",
            None,
            json!({"messageId": "m1", "content": "", "toolRequests": [
                request("task", "task", json!({"prompt": "look"})), request("make", "bash", json!({"command": "make"}))]}),
        ),
        row("subagent.started", Some("a"), json!({"toolCallId": "task"})),
        row(
            "user.message",
            Some("a"),
            json!({"content": "look", "source": "agent-a"}),
        ),
        row(
            "tool.execution_complete",
            None,
            result("task", "started in the background"),
        ),
        row(
            "assistant.message",
            None,
            json!({"messageId": "m2", "content": "It works", "toolRequests": []}),
        ),
        row(
            "assistant.message",
            Some("a"),
            json!({"messageId": "s1", "content": "", "toolRequests": [request("grep", "grep", json!({"pattern": "x"}))]}),
        ),
        row("tool.execution_complete", None, {
            let mut result = result("make", "FAILED");
            result["shellExecution"] = json!({"exitCode": 3});
            result
        }),
        row("tool.execution_complete", Some("a"), result("grep", "a:1")),
        row(
            "assistant.message",
            None,
            json!({"messageId": "m3", "content": "", "toolRequests": [request("wait", "bash", json!({"command": "sleep 9"}))]}),
        ),
        row("abort", None, json!({"reason": "user_initiated"})),
    ];
    for (number, row) in rows.iter_mut().enumerate() {
        row["id"] = format!("e{number}").into();
    }
    write_session(folder, "session-state/s/events.jsonl", &rows)
}

#[test]
fn a_subagent_and_late_results_are_shown_with_their_calls() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_parallel_session(folder.path());
    let text = session(&["show", "-o", "text", path.to_str().unwrap()]).text;
    let (_, text) = text.split_once("\n\n").unwrap();
    let expected = "\
> Fix it

  task(look)
    ┆ > look
    ┆   grep(x)
    ┆     ⎿ a:1
    ⎿ started in the background
  bash(make)
    ⎿ failed: FAILED

It works

  bash(sleep 9)
    ⎿ no result

[context] [Request interrupted by user]

";
    assert_eq!(text, expected);
    let calls = session(&["calls", path.to_str().unwrap()]).records();
    let rows: Vec<Value> = calls
        .iter()
        .map(|call| {
            json!([
                call["tool"],
                call["subagent"],
                call["outcome"],
                call["exit_status"]
            ])
        })
        .collect();
    assert_eq!(
        json!(rows),
        json!([
            ["task", false, "ok", null],
            ["bash", false, "failed", 3],
            ["grep", true, "ok", null],
            ["bash", false, "interrupted", null]
        ])
    );
    assert_eq!(check(&path), 4);
}

/// Claude Code 1.0 wrote the messages of subagents into the file of the session, without the ids of their calls.
#[test]
fn sidechains_are_shown_with_the_calls_that_have_their_prompts() {
    let folder = tempfile::tempdir().unwrap();
    let row = |kind: &str, is_side: bool, id: &str, parent: &str, message: Value| {
        let parent = (!parent.is_empty()).then_some(parent);
        json!({"type": kind, "isSidechain": is_side, "uuid": id, "parentUuid": parent, "sessionId": "s", "cwd": "/w",
            "timestamp": "2026-01-01T10:00:00Z", "message": message})
    };
    let call = |message: &str, id: &str, name: &str, input: Value| {
        json!({"id": message, "role": "assistant", "model": "m", "content":
            [{"type": "tool_use", "id": id, "name": name, "input": input}]})
    };
    let result = |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": id}]});
    let prompt = |text: &str| json!({"role": "user", "content": text});
    let rows = [
        row("user", true, "w1", "", prompt("Warmup")),
        row("user", false, "u1", "", prompt("Do both")),
        row(
            "assistant",
            false,
            "a1",
            "u1",
            call("m1", "one", "Task", json!({"prompt": "First"})),
        ),
        row(
            "assistant",
            false,
            "a2",
            "a1",
            call("m1", "two", "Task", json!({"prompt": "Second"})),
        ),
        row("user", true, "s1", "", prompt("Second")),
        row("user", true, "f1", "", prompt("First")),
        row(
            "assistant",
            true,
            "s2",
            "s1",
            call("n1", "ls", "Bash", json!({"command": "ls"})),
        ),
        row(
            "assistant",
            true,
            "f2",
            "f1",
            call("n2", "pwd", "Bash", json!({"command": "pwd"})),
        ),
        row("user", true, "f3", "f2", result("pwd")),
        row("user", true, "s3", "s2", result("ls")),
        row("user", false, "u2", "a1", result("one")),
        row("user", false, "u3", "a2", result("two")),
    ];
    let path = write_session(folder.path(), "s.jsonl", &rows);
    let shown = session(&["show", "-o", "text", path.to_str().unwrap()]);
    let (_, text) = shown.text.split_once("\n\n").unwrap();
    let expected = "\
> Do both

  Task(First)
    ┆ > First
    ┆   Bash(pwd)
    ┆     ⎿ pwd
    ⎿ one
  Task(Second)
    ┆ > Second
    ┆   Bash(ls)
    ┆     ⎿ ls
    ⎿ two

";
    assert_eq!(text, expected);
    // The first one has no call.
    assert!(
        shown.messages.contains("omitted 1 message"),
        "{}",
        shown.messages
    );
    assert_eq!(check(&path), 4);
    let out = folder.path().join("out");
    session(&["export", out.to_str().unwrap(), path.to_str().unwrap()]);
    let mut pages = Vec::new();
    files(&out, &[".html"], &mut pages);
    let page = pages
        .iter()
        .find(|page| !page.ends_with("index.html"))
        .unwrap();
    assert!(
        fs::read_to_string(page)
            .unwrap()
            .contains("omitted 1 message")
    );
}

#[test]
fn hosted_searches_are_calls_with_results() {
    let folder = tempfile::tempdir().unwrap();
    let row = |kind: &str, payload: Value| json!({"timestamp": "2026-01-01T10:00:00Z", "type": kind, "payload": payload});
    let search = |id: Option<&str>, kind: &str| {
        let mut item = json!({"type": kind, "status": "completed", "action": {"type": "search", "query": "rust"}});
        if let Some(id) = id {
            item["id"] = id.into();
        }
        item
    };
    let codex = [
        row("session_meta", json!({"id": "t", "cwd": "/w"})),
        row(
            "response_item",
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Search"}]}),
        ),
        row("response_item", search(None, "web_search_call")),
        row("response_item", search(Some("ws_1"), "web_search_call")),
        row(
            "event_msg",
            json!({"type": "item_completed", "item": search(Some("ws_1"), "WebSearch")}),
        ),
        row(
            "response_item",
            json!({"type": "function_call", "name": "exec_command", "call_id": "c", "arguments": "{\"cmd\":\"sleep 9\"}"}),
        ),
        row(
            "response_item",
            json!({"type": "function_call_output", "call_id": "c", "output": "Wall time: 3.5 seconds\naborted by user"}),
        ),
        row(
            "response_item",
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done"}]}),
        ),
    ];
    let path = write_session(folder.path(), "codex.jsonl", &codex);
    let calls = session(&["calls", path.to_str().unwrap()]).records();
    let rows: Vec<Value> = calls
        .iter()
        .map(|call| json!([call["tool"], call["about"], call["outcome"]]))
        .collect();
    assert_eq!(
        json!(rows),
        json!([
            ["web_search", "rust", "ok"],
            ["web_search", "rust", "ok"],
            ["exec_command", "sleep 9", "interrupted"]
        ])
    );
    assert_eq!(check(&path), 3);
    let found = [
        json!({"type": "web_search_result", "title": "Rust", "url": "https://rust-lang.org", "encrypted_content": "x"}),
    ];
    let content = json!([
        {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"query": "rust"}},
        {"type": "web_search_tool_result", "tool_use_id": "srv", "content": found},
        {"type": "server_tool_use", "id": "srv2", "name": "web_search", "input": {"query": "c"}},
        {"type": "web_search_tool_result", "tool_use_id": "srv2",
            "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}},
    ]);
    let claude = [
        json!({"type": "assistant", "uuid": "a", "parentUuid": null, "sessionId": "s", "cwd": "/w",
        "message": {"id": "m", "role": "assistant", "model": "m", "content": content}}),
    ];
    let path = write_session(folder.path(), "claude.jsonl", &claude);
    let text = session(&["show", "-o", "text", path.to_str().unwrap()]).text;
    assert!(text.contains("⎿ Rust https://rust-lang.org"), "{text}");
    assert!(text.contains("⎿ failed: max_uses_exceeded"), "{text}");
    assert_eq!(check(&path), 2);
}
