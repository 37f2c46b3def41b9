//! Forks, subagents and copies: every command counts the same sessions, and each request once.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::bench::{data, session};
use crate::more_agents::Opencode;

/// Returns a row of Codex, so many seconds after the first.
fn row(seconds: u32, kind: &str, payload: &Value) -> String {
    let time = format!("2026-01-01T10:{:02}:{:02}.000Z", seconds / 60, seconds % 60);
    json!({"timestamp": time, "type": kind, "payload": payload}).to_string()
}

fn head(seconds: u32, id: &str, parent: Option<&str>, more: &Value) -> String {
    let mut head = json!({"id": id, "cwd": "/w", "history_mode": "legacy"});
    if let Some(parent) = parent {
        head["forked_from_id"] = parent.into();
    }
    let members = more.as_object().into_iter().flatten();
    for (name, value) in members {
        head[name] = value.clone();
    }
    row(seconds, "session_meta", &head)
}

/// The ids of messages in versions of Codex.
#[derive(Clone, Copy, PartialEq)]
enum Ids {
    OfItems,
    None,
}

/// Returns a prompt, a call and a reply, with two requests of 100 tokens each.
fn turn(ids: Ids, seconds: u32, number: u32, prompt: &str, requests: u32) -> Vec<String> {
    let item = |name: &str, mut item: Value| {
        if ids == Ids::OfItems {
            item["id"] = format!("{name}_{number}").into();
        }
        row(seconds, "response_item", &item)
    };
    let text = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    let call_id = format!("call_{number}");
    let call = json!({"type": "function_call", "name": "exec_command", "call_id": call_id, "arguments": "{\"cmd\":\"ls\"}"});
    let result = json!({"type": "function_call_output", "call_id": call_id, "output": "README"});
    let meter = |count: u32| {
        let tokens = |count: u32| json!({"input_tokens": 90 * count, "output_tokens": 10 * count});
        let info = json!({"last_token_usage": tokens(1), "total_token_usage": tokens(count)});
        row(
            seconds,
            "event_msg",
            &json!({"type": "token_count", "info": info}),
        )
    };
    vec![
        item("msg_u", text("user", "input_text", prompt)),
        item("fc", call),
        meter(requests + 1),
        item("fco", result),
        item("msg_a", text("assistant", "output_text", "Done.")),
        meter(requests + 2),
    ]
}

fn write(dir: &Path, id: &str, rows: &[Vec<String>]) {
    let path = dir.join(format!("rollout-2026-01-01T10-00-00-{id}.jsonl"));
    fs::write(path, rows.concat().join("\n") + "\n").unwrap();
}

/// Writes a session of Codex with two turns, a fork that copied both at once and continued with a prompt that is
/// also in the parent, and a fork of the fork.
fn codex(dir: &Path, ids: Ids) {
    let model = row(1, "turn_context", &json!({"model": "gpt-5"}));
    let none = json!({});
    let parent = [
        vec![head(0, "a", None, &none), model.clone()],
        turn(ids, 10, 1, "List the files", 0),
        turn(ids, 20, 2, "continue", 2),
        turn(ids, 90, 3, "continue", 4),
    ];
    write(dir, "a", &parent);
    let copied = |seconds: u32| {
        [
            vec![head(seconds, "a", None, &none), model.clone()],
            turn(ids, seconds, 1, "List the files", 0),
            turn(ids, seconds, 2, "continue", 2),
        ]
        .concat()
    };
    let fork = [
        vec![head(60, "b", Some("a"), &none)],
        copied(60),
        turn(ids, 80, 4, "continue", 4),
    ];
    write(dir, "b", &fork);
    // A subagent with the context of its parent: its instructions are not a prompt.
    let spawn =
        json!({"source": {"subagent": {"thread_spawn": {"parent_thread_id": "a", "depth": 1}}}});
    let subagent = [
        vec![head(70, "c", Some("a"), &spawn)],
        copied(70),
        turn(ids, 75, 5, "Look for tests", 4),
    ];
    write(dir, "c", &subagent);
}

#[test]
fn requests_copied_by_a_fork_of_codex_count_once() {
    for ids in [Ids::OfItems, Ids::None] {
        let folder = tempfile::tempdir().unwrap();
        codex(folder.path(), ids);
        let root = folder.path().display().to_string();
        let stats = session(&["stats", "--root", &root, "-o", "jsonl"]);
        let stats = &stats.records()[0];
        assert_eq!(stats["sessions"], 2);
        // Three in the parent, one in the fork.
        assert_eq!(stats["prompts"], 4);
        // A call and a reply in each of five turns.
        assert_eq!(stats["replies"], 10);
        assert_eq!(stats["by_tool"][0]["calls"], 5);
        assert_eq!(stats["usage"]["input_tokens"], 10 * 90);
        let calls = session(&["calls", "--root", &root, "-o", "jsonl"]);
        assert_eq!(calls.records().len(), 5);
    }
}

/// Returns the number and the sum of the costs at the top of an index page.
fn of_index(pages: &Path) -> (u64, String) {
    let index = fs::read_to_string(pages.join("index.html")).unwrap();
    let (_, totals) = index.split_once("<output>").unwrap();
    let (totals, _) = totals.split_once("</output>").unwrap();
    let mut totals = totals.split(", ");
    let sessions = totals.next().unwrap().split(' ').next().unwrap();
    (sessions.parse().unwrap(), totals.last().unwrap().to_owned())
}

/// A directory with forks and subagents of Codex, a session of Claude Code with subagents and a copy of it, and
/// a database of opencode with a fork.
#[test]
fn all_commands_count_the_same_sessions_and_costs() {
    const START: i64 = 1_767_261_600_000;
    let mut opencode = Opencode::new();
    opencode.session("ses_a", None, "Fix it");
    opencode.session("ses_f", None, "Fix it (fork #1)");
    opencode.session("ses_c", Some("ses_a"), "Look (@general subagent)");
    for copy in ["ses_a", "ses_f"] {
        opencode.prompt(copy, START, "Fix the parser");
        opencode.reply(copy, START + 10, "Done.");
    }
    opencode.reply("ses_c", START + 20, "Looked.");
    let root = opencode.root();
    let folder = Path::new(&root);
    codex(folder, Ids::OfItems);
    let name = "claude-subagents";
    let project = folder.join("projects/-w");
    fs::create_dir_all(project.join(name).join("subagents")).unwrap();
    for file in [
        format!("{name}.jsonl"),
        format!("{name}/subagents/agent-aa52773.jsonl"),
        format!("{name}/subagents/agent-b10c881.jsonl"),
    ] {
        fs::copy(data(&file), project.join(&file)).unwrap();
    }
    fs::copy(data("claude-subagents.jsonl"), project.join("copy.jsonl")).unwrap();

    let records = |arguments: &[&str]| {
        let said = session(&[arguments, &["--root", &root, "-o", "jsonl"]].concat());
        assert_eq!(said.status, Some(0), "{arguments:?}: {}", said.messages);
        said.records()
    };
    let listed = records(&["list"]).len();
    // Two of Codex, two of opencode, one of Claude Code and its copy.
    assert_eq!(listed, 6);
    // Subagents of Codex and opencode, which are separate sessions.
    assert_eq!(records(&["list", "--subagents"]).len(), listed + 2);
    let stats = &records(&["stats"])[0];
    assert_eq!(stats["sessions"], listed);
    assert_eq!(
        records(&["search", ".", "-l", "--no-subagents"]).len(),
        listed
    );
    let calls: u64 = records(&["stats", "--by", "tool"])
        .iter()
        .map(|tool| tool["calls"].as_u64().unwrap())
        .sum();
    assert_eq!(records(&["calls"]).len() as u64, calls);

    let total = stats["usage"]["cost_usd"].as_f64().unwrap();
    for dimension in ["session", "day,model", "agent"] {
        let sums = records(&["stats", "--by", dimension]);
        let sum: f64 = sums
            .iter()
            .filter_map(|sum| sum["usage"]["cost_usd"].as_f64())
            .sum();
        assert!(
            (sum - total).abs() < 1e-9,
            "{dimension}: {sum} is not {total}"
        );
    }
    let pages = tempfile::tempdir().unwrap();
    let to = pages.path().display().to_string();
    let exported = session(&["export", &to, "--root", &root]);
    assert_eq!(exported.status, Some(0), "{}", exported.messages);
    assert!(
        exported.messages.contains("6 sessions, 4 subagents"),
        "{}",
        exported.messages
    );
    let (sessions, cost) = of_index(pages.path());
    assert_eq!(sessions, listed as u64);
    assert_eq!(cost, format!("${total:.2}"));
}
