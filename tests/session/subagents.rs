//! Costs by what spent them: `--by agent-type`, `--by subagent`, `--by workflow`, and the tree of `show`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::bench::{Run, turnpipe};

const TIME: &str = "2026-01-01T10:00:00Z";
const LATER: &str = "2026-01-01T10:00:09Z";

fn write(home: &Path, name: &str, rows: &[Value]) {
    let path = home.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    fs::write(path, lines.join("\n") + "\n").unwrap();
}

/// Rows of Claude Code: a prompt, and a reply of this many tokens with these calls.
fn claude(id: &str, is_side: bool, prompt: &str, tokens: u64, calls: &[Value]) -> Vec<Value> {
    let row = |kind: &str, parent: Value, message: Value| {
        json!({"type": kind, "uuid": format!("{id}-{kind}"), "parentUuid": parent, "sessionId": "main-session",
            "isSidechain": is_side, "timestamp": TIME, "cwd": "/w", "message": message})
    };
    let reply = json!({"id": format!("msg_{id}"), "role": "assistant", "model": "claude-haiku-4-5",
        "usage": {"input_tokens": tokens, "output_tokens": 0}, "content": calls});
    vec![
        row(
            "user",
            Value::Null,
            json!({"role": "user", "content": prompt}),
        ),
        row("assistant", json!(format!("{id}-user")), reply),
    ]
}

fn task(id: &str, kind: &str, prompt: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Agent", "input": {"prompt": prompt, "subagent_type": kind}})
}

/// Claude Code with each layout of subagents: with a type next to the file, with one that only the call states, in a
/// workflow, started by a subagent, and in the file of the session.
fn claude_session(home: &Path) {
    let top = ".claude/projects/p/main-session";
    let calls = [
        task("call_1", "Explore", "look around"),
        task("call_2", "planner", "plan it"),
    ];
    let mut rows = claude("m", false, "go", 1, &calls);
    rows.extend(claude("in-file", true, "plan it", 2, &[]));
    write(home, &format!("{top}.jsonl"), &rows);
    let subagent = |name: &str, prompt: &str, tokens: u64, meta: Option<Value>| {
        let path = format!("{top}/subagents/{name}");
        let id = name.rsplit('/').next().unwrap();
        write(
            home,
            &format!("{path}.jsonl"),
            &claude(id, true, prompt, tokens, &[]),
        );
        if let Some(meta) = meta {
            write(home, &format!("{path}.meta.json"), &[meta]);
        }
    };
    subagent("agent-a1", "look around", 4, None);
    subagent(
        "agent-b2",
        "x",
        8,
        Some(json!({"agentType": "worker", "spawnDepth": 1})),
    );
    subagent(
        "agent-c3",
        "y",
        16,
        Some(json!({"agentType": "worker", "parentAgentId": "b2"})),
    );
    let in_workflow = Some(json!({"agentType": "scanner"}));
    subagent("workflows/wf_01234567-abc/agent-d4", "z", 32, in_workflow);
}

fn codex_sessions(home: &Path) {
    let rows = |id: &str, source: Value, tokens: u64| {
        // Readings of the first second may be copies.
        let row = |kind: &str, payload: Value| {
            let time = if kind == "event_msg" { LATER } else { TIME };
            json!({"timestamp": time, "type": kind, "payload": payload})
        };
        let usage = json!({"input_tokens": tokens, "output_tokens": 0});
        [
            row(
                "session_meta",
                json!({"id": id, "cwd": "/w", "source": source}),
            ),
            row(
                "turn_context",
                json!({"cwd": "/w", "model": "gpt-5.1-codex"}),
            ),
            row(
                "event_msg",
                json!({"type": "user_message", "message": "go"}),
            ),
            row(
                "event_msg",
                json!({"type": "token_count", "info": {"total_token_usage": usage, "last_token_usage": usage}}),
            ),
        ]
    };
    let spawned = |parent: &str, role: Value| json!({"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1, "agent_role": role}}});
    let sessions = [
        ("top", json!("cli"), 64),
        ("child", spawned("top", json!("reviewer")), 128),
        ("grandchild", spawned("child", Value::Null), 256),
    ];
    for (id, source, tokens) in sessions {
        write(
            home,
            &format!(".codex/sessions/2026/rollout-x-{id}.jsonl"),
            &rows(id, source, tokens),
        );
    }
}

fn gemini_session(home: &Path) {
    let head = |id: &str, kind: &str| json!({"sessionId": id, "projectHash": "x", "startTime": TIME, "kind": kind});
    let prompt = |text: &str| json!({"id": format!("p-{text}"), "timestamp": TIME, "type": "user", "content": [{"text": text}]});
    let reply = |id: &str, tokens: u64, calls: Value| {
        json!({"id": id, "timestamp": TIME, "type": "gemini", "content": "", "model": "gemini-2.5-pro",
            "tokens": {"input": tokens, "output": 0, "cached": 0, "thoughts": 0}, "toolCalls": calls})
    };
    let call = json!([{"id": "c", "name": "invoke_agent", "args": {"agent_name": "generalist", "prompt": "read it"}}]);
    let chats = ".gemini/tmp/p/chats";
    let id = "903aa00d-72f7-47b1-a21a-5496f729e675";
    let main = [head(id, "main"), prompt("go"), reply("r1", 512, call)];
    write(
        home,
        &format!("{chats}/session-2026-01-01T10-00-903aa00d.jsonl"),
        &main,
    );
    let side = [
        head("5ad53149-3ac7-4460-8107-bc02a43b65da", "subagent"),
        prompt("read it"),
        reply("r2", 1024, json!([])),
    ];
    write(
        home,
        &format!("{chats}/{id}/5ad53149-3ac7-4460-8107-bc02a43b65da.jsonl"),
        &side,
    );
}

fn copilot_session(home: &Path) {
    let row = |number: u64, kind: &str, agent: Option<&str>, data: Value| {
        let mut row = json!({"type": kind, "id": format!("e{number}"), "parentId": null, "timestamp": TIME, "data": data});
        if let Some(agent) = agent {
            row["agentId"] = agent.into();
        }
        row
    };
    let usage = |id: &str, tokens: u64| json!({"usage": {"model": "gpt-5.1", "inputTokens": tokens, "outputTokens": 0, "apiCallId": id}});
    let rows = [
        row(
            1,
            "session.start",
            None,
            json!({"sessionId": "copilot", "context": {"cwd": "/w"}}),
        ),
        row(2, "user.message", None, json!({"content": "go"})),
        row(3, "session.usage_record", None, usage("q1", 2048)),
        row(
            4,
            "subagent.started",
            Some("side"),
            json!({"toolCallId": "c", "agentType": "task"}),
        ),
        row(5, "session.usage_record", Some("side"), usage("q2", 4096)),
        row(6, "session.usage_record", None, usage("q3", 8192)),
    ];
    write(home, ".copilot/session-state/copilot/events.jsonl", &rows);
}

fn qwen_session(home: &Path) {
    let row = |id: &str, kind: &str, agent: Option<&str>, tokens: u64| {
        let mut row = json!({"uuid": id, "parentUuid": null, "sessionId": "2f829f92", "timestamp": TIME, "type": kind,
            "cwd": "/w", "model": "qwen3-coder-plus", "provenance": "x", "message": {"parts": [{"text": "t"}]}});
        if tokens > 0 {
            row["usageMetadata"] = json!({"promptTokenCount": tokens, "candidatesTokenCount": 0});
        }
        if let Some(agent) = agent {
            row["agentName"] = agent.into();
            row["isSidechain"] = true.into();
        }
        row
    };
    let project = ".qwen/projects/-w";
    write(
        home,
        &format!("{project}/chats/2f829f92.jsonl"),
        &[
            row("u1", "user", None, 0),
            row("a1", "assistant", None, 16_384),
        ],
    );
    let side = [
        row("u2", "user", Some("general"), 0),
        row("a2", "assistant", Some("general"), 32_768),
    ];
    write(
        home,
        &format!("{project}/subagents/2f829f92/agent-general-c.jsonl"),
        &side,
    );
}

fn kimi_session(home: &Path) {
    let session = ".kimi-code/sessions/wd/session_0f8b92cf-f048-432a-b310-f8b7eaf27c99";
    let rows = |agent: &str, profile: &str, tokens: u64| {
        [
            json!({"type": "metadata", "protocol_version": "1.5", "created_at": 1_767_261_600_000_u64}),
            json!({"type": "profile.bind", "agentId": agent, "profileName": profile, "time": 1_767_261_600_000_u64}),
            json!({"type": "usage.record", "agentId": agent, "model": "m", "usageScope": "turn",
                "usage": {"inputOther": tokens, "output": 0}, "time": 1_767_261_600_000_u64 + tokens}),
        ]
    };
    for (agent, profile, tokens) in [("main", "default", 65_536), ("agent-0", "coder", 131_072)] {
        write(
            home,
            &format!("{session}/agents/{agent}/wire.jsonl"),
            &rows(agent, profile, tokens),
        );
    }
}

fn all_agents() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    for write_sessions in [
        claude_session,
        codex_sessions,
        gemini_session,
        copilot_session,
        qwen_session,
        kimi_session,
    ] {
        write_sessions(home);
    }
    folder
}

fn run(home: &Path, arguments: &[&str]) -> Run {
    let mut command = turnpipe(arguments);
    command.env("HOME", home);
    crate::bench::run(command)
}

/// Returns the tokens of groups, by the values of their dimensions.
fn groups(home: &Path, by: &str, others: &[&str]) -> Vec<(String, u64)> {
    let said = run(home, &[&["stats", "--json", "--by", by], others].concat());
    assert_eq!(said.status, Some(0), "{}", said.messages);
    let records = said.records().into_iter().map(|record| {
        let names = by.split(',').map(|name| {
            let name = record["dimensions"][name.replace('-', "_")].as_str();
            name.unwrap_or("?").to_owned()
        });
        (
            names.collect::<Vec<_>>().join(" "),
            record["usage"]["input_tokens"].as_u64().unwrap(),
        )
    });
    records.collect()
}

fn expect(found: &[(String, u64)], expected: &[(&str, u64)]) {
    let found: Vec<(&str, u64)> = found
        .iter()
        .map(|(name, sum)| (name.as_str(), *sum))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn tokens_count_for_the_type_of_the_subagent_that_spent_them() {
    let folder = all_agents();
    let home = folder.path();
    let rows = [
        ("claude Explore", 4),
        ("claude main", 1),
        ("claude planner", 2),
        ("claude scanner", 32),
        ("claude worker", 24),
        ("codex default", 256),
        ("codex main", 64),
        ("codex reviewer", 128),
        ("copilot main", 2048 + 8192),
        ("copilot task", 4096),
        ("gemini generalist", 1024),
        ("gemini main", 512),
        ("kimi coder", 131_072),
        ("kimi main", 65_536),
        ("qwen general", 32_768),
        ("qwen main", 16_384),
    ];
    expect(&groups(home, "agent,agent-type", &[]), &rows);
    expect(
        &groups(home, "workflow", &[]),
        &[("none", 262_143 - 32), ("wf_01234567-abc", 32)],
    );
}

#[test]
fn every_grouping_adds_up_to_the_total() {
    let folder = all_agents();
    let home = folder.path();
    let mut dimensions = vec![
        "agent-type",
        "workflow",
        "subagent",
        "session,subagent",
        "session",
        "day,agent-type",
    ];
    dimensions.extend([
        "model,subagent",
        "home,agent-type",
        "project,workflow",
        "prompt,agent-type",
    ]);
    for by in dimensions {
        let sum: u64 = groups(home, by, &[]).iter().map(|(_, sum)| sum).sum();
        assert_eq!(sum, 262_143, "{by}");
    }
}

#[test]
fn a_session_is_divided_among_its_subagents() {
    let folder = all_agents();
    let home = folder.path();
    let of_codex = [
        ("top child", 128),
        ("top grandchild", 256),
        ("top main", 64),
    ];
    expect(
        &groups(home, "session,subagent", &["--agent", "codex"]),
        &of_codex,
    );
    expect(&groups(home, "session,subagent", &["top"]), &of_codex);
    let of_claude = [
        ("main-session a1", 4),
        ("main-session b2", 8),
        ("main-session c3", 16),
        ("main-session d4", 32),
        ("main-session in-file-user", 2),
        ("main-session main", 1),
    ];
    expect(
        &groups(home, "session,subagent", &["--agent", "claude"]),
        &of_claude,
    );
    // A subagent, with those that it started.
    let own = groups(home, "agent-type", &["child"]);
    expect(&own, &[("default", 256), ("reviewer", 128)]);
}

#[test]
fn show_has_a_tree_of_subagents_with_their_costs() {
    let folder = all_agents();
    let home = folder.path();
    let text = run(home, &["show", "main-session", "-o", "text"]).text;
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("  subagent"))
        .collect();
    let expected = [
        "Explore · a1 · 4 input · $0.00",
        "worker · b2 · 8 input · $0.00",
        "└ worker · c3 · 16 input · $0.00",
        "scanner · d4 · wf_01234567-abc · 32 input · $0.00",
        "planner · in-file-user · 2 input · $0.00",
    ];
    let expected = expected.map(|line| format!("  subagent   {line}"));
    assert_eq!(lines, expected, "{text}");
    let page = run(home, &["show", "top", "-o", "html"]).text;
    assert!(page.contains("<dd>reviewer · child · 128 input"), "{page}");
    assert!(
        page.contains("<dd>└ default · grandchild · 256 input"),
        "{page}"
    );
}
