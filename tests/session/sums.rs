//! Tokens that agents state in their own ways, and relations of sessions.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::bench::{files, run, session, turnpipe};

/// A directory with files of sessions.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new(files: &[(&str, &[Value])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, rows) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let lines: String = rows
                .iter()
                .flat_map(|row| [row.to_string(), "\n".to_owned()])
                .collect();
            fs::write(path, lines).unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn records(&self, arguments: &[&str]) -> Vec<Value> {
        let root = self.path("");
        let result = session(&[arguments, &["--root", &root, "-o", "jsonl"]].concat());
        assert_eq!(result.status, Some(0), "{arguments:?}: {}", result.messages);
        result.records()
    }

    fn list_session(&self, id: &str) -> Value {
        let listed = self.records(&["list", "--all", "--counts", "--subagents"]);
        let mut found = listed.into_iter().filter(|one| one["session_id"] == id);
        let one = found.next().unwrap();
        assert_eq!(found.next(), None, "{id} is listed twice");
        one
    }
}

/// Returns the tokens of input, of output, read from the cache and written to it.
fn tokens(record: &Value) -> [u64; 4] {
    let names = [
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
    ];
    names.map(|name| record["usage"][name].as_u64().unwrap())
}

fn copilot(second: u32, kind: &str, data: &Value) -> Value {
    json!({"type": kind, "data": data, "id": format!("e{second}"), "parentId": null,
        "timestamp": format!("2026-01-01T00:00:{second:02}.000Z")})
}

#[test]
fn totals_of_copilot_are_of_each_model() {
    let used = |input: u32, output: u32| json!({"usage": {"inputTokens": input, "outputTokens": output, "cacheReadTokens": 10}});
    let models =
        json!({"big": used(100, 20), "small": used(50, 5), "free": {"requests": {"count": 1}}});
    let start = |id: &str| {
        copilot(
            0,
            "session.start",
            &json!({"sessionId": id, "context": {"cwd": "/w"}}),
        )
    };
    let result = |output: u32| json!({"messageId": format!("m{output}"), "model": "big", "content": "ok", "outputTokens": output});
    let home = Home::new(&[
        (
            "a/events.jsonl",
            &[
                start("a"),
                copilot(1, "user.message", &json!({"content": "Go"})),
                copilot(2, "assistant.message", &result(20)),
                copilot(
                    3,
                    "session.shutdown",
                    &json!({"modelMetrics": {"big": used(60, 12)}}),
                ),
                copilot(4, "session.shutdown", &json!({"modelMetrics": models})),
            ],
        ),
        // It was left without an end.
        (
            "b/events.jsonl",
            &[start("b"), copilot(2, "assistant.message", &result(500))],
        ),
    ]);
    let of = |model: &str, session: &str| {
        let sums = home.records(&["stats", "--by", "session,model"]);
        let mut sums = sums.into_iter().filter(|sum| {
            sum["dimensions"]["model"] == model && sum["dimensions"]["session"] == session
        });
        sums.next().unwrap()
    };
    assert_eq!(tokens(&of("big", "a")), [90, 20, 10, 0]);
    assert_eq!(tokens(&of("small", "a")), [40, 5, 10, 0]);
    let unknown = of("big", "b");
    assert_eq!(tokens(&unknown), [0, 500, 0, 0]);
    assert_eq!(unknown["unpriced_models"], json!(["big"]));
}

#[test]
fn compactions_and_summaries_are_paid_for_in_every_sum() {
    let used = |input: u32| json!({"input": input, "output": 2 * input, "cacheRead": 3, "cacheWrite": 4, "cost": {"total": 0}});
    let row = |kind: &str, id: &str, parent: Value, members: Value| {
        let mut row = json!({"type": kind, "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:01.000Z"});
        row.as_object_mut()
            .unwrap()
            .extend(members.as_object().unwrap().clone());
        row
    };
    let reply = json!({"role": "assistant", "model": "m", "content": [{"type": "text", "text": "ok"}], "usage": used(10)});
    let pi = [
        json!({"type": "session", "version": 3, "id": "p", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/w"}),
        row(
            "message",
            "b",
            Value::Null,
            json!({"message": {"role": "user", "content": "Go"}}),
        ),
        row("message", "c", "b".into(), json!({"message": reply})),
        row(
            "compaction",
            "d",
            "c".into(),
            json!({"summary": "So far", "usage": used(100)}),
        ),
        row(
            "branch_summary",
            "e",
            "d".into(),
            json!({"summary": "Branch", "usage": used(1000)}),
        ),
    ];
    let compaction = json!({"summaryContent": "So far", "compactionTokensUsed": {"model": "m", "inputTokens": 103, "outputTokens": 200, "cacheReadTokens": 3}});
    let record = json!({"usage": {"model": "m", "inputTokens": 13, "outputTokens": 20, "cacheReadTokens": 3, "accounting": {"usageId": "1"}}});
    let copilot = [
        copilot(
            0,
            "session.start",
            &json!({"sessionId": "c", "context": {"cwd": "/w"}}),
        ),
        copilot(1, "user.message", &json!({"content": "Go"})),
        copilot(2, "session.usage_record", &record),
        copilot(3, "session.compaction_complete", &compaction),
    ];
    let home = Home::new(&[("2026_p.jsonl", &pi), ("c/events.jsonl", &copilot)]);
    for (id, expected) in [("p", [1110, 2220, 9, 12]), ("c", [110, 220, 6, 0])] {
        assert_eq!(tokens(&home.list_session(id)["counts"]), expected, "{id}");
        assert_eq!(tokens(&home.records(&["stats", id])[0]), expected, "{id}");
        assert_eq!(home.list_session(id)["counts"]["compactions"], 1);
        let shown = session(&["show", id, "--root", &home.path(""), "-o", "text"]).text;
        let output = shown.lines().find(|line| line.contains("tokens")).unwrap();
        let rounded = if id == "p" {
            "2.2k output"
        } else {
            "220 output"
        };
        assert!(output.contains(rounded), "{output}");
        let to = home.path(&format!("to-{id}"));
        session(&["export", &to, id, "--root", &home.path(""), "-o", "atif"]);
        let mut found = Vec::new();
        files(Path::new(&to), &[".atif.json"], &mut found);
        let trajectory = fs::read_to_string(&found[0]).unwrap();
        let trajectory: Value = serde_json::from_str(&trajectory).unwrap();
        let totals = &trajectory["final_metrics"];
        assert_eq!(totals["total_completion_tokens"], expected[1], "{totals}");
    }
}

fn codex(second: u32, kind: &str, payload: &Value) -> Value {
    json!({"timestamp": format!("2026-01-01T00:00:{second:02}.000Z"), "type": kind, "payload": payload})
}

fn codex_prompt(second: u32, text: &str) -> Value {
    let content = json!([{"type": "input_text", "text": text}]);
    codex(
        second,
        "response_item",
        &json!({"type": "message", "role": "user", "content": content}),
    )
}

fn codex_reply(second: u32, text: &str) -> Value {
    let content = json!([{"type": "output_text", "text": text}]);
    codex(
        second,
        "response_item",
        &json!({"type": "message", "role": "assistant", "content": content}),
    )
}

fn codex_count(second: u32, last: u32, total: u32) -> Value {
    let tokens = |count: u32| json!({"input_tokens": count, "output_tokens": count});
    codex(
        second,
        "event_msg",
        &json!({"type": "token_count", "info": {"last_token_usage": tokens(last), "total_token_usage": tokens(total)}}),
    )
}

fn codex_request(second: u32, id: &str, used: u32, total: u32) -> Value {
    let tokens = |count: u32| json!({"input_tokens": count, "output_tokens": count});
    codex(
        second,
        "token_usage_record",
        &json!({"response_id": id, "usage": tokens(used), "thread_token_usage": tokens(total)}),
    )
}

#[test]
fn a_second_file_of_a_thread_repeats_the_last_reading_of_the_first() {
    let first = [
        codex(0, "session_meta", &json!({"id": "t", "cwd": "/w"})),
        codex_prompt(1, "Go"),
        codex_reply(2, "Gone"),
        codex_request(2, "r1", 10, 10),
        codex_count(2, 10, 10),
    ];
    // Its base is said to be longer than the first file is.
    let base = json!({"id": "t", "cwd": "/w", "history_base": {"thread_id": "t", "end_byte_offset": 1_000_000}});
    let second = [
        codex(5, "session_meta", &base),
        codex_count(6, 10, 10),
        codex_reply(7, "Summary"),
        codex_request(7, "r2", 20, 30),
        codex_count(7, 20, 30),
    ];
    let home = Home::new(&[("rollout-t.jsonl", &first), ("rollout-t_2.jsonl", &second)]);
    let listed = home.list_session("t");
    assert_eq!(
        (tokens(&listed["counts"]), &listed["counts"]["messages"]),
        ([30, 30, 0, 0], &json!(3))
    );
    assert_eq!(listed["first_prompt"], "Go");
    assert_eq!(tokens(&home.records(&["stats"])[0]), [30, 30, 0, 0]);
    let shown = session(&["show", "t", "--root", &home.path(""), "-o", "text"]).text;
    for text in ["> Go", "Gone", "Summary"] {
        assert_eq!(shown.matches(text).count(), 1, "{shown}");
    }
}

#[test]
fn an_answer_that_is_only_in_an_event_is_shown_once() {
    let item = |second: u32, kind: &str, text: &str| {
        let item = json!({"type": kind, "id": second.to_string(), "content": [{"type": "text", "text": text}]});
        codex(
            second,
            "event_msg",
            &json!({"type": "item_completed", "item": item}),
        )
    };
    let rows = [
        codex(0, "session_meta", &json!({"id": "t", "cwd": "/w"})),
        codex(1, "turn_context", &json!({"model": "m"})),
        item(1, "UserMessage", "One?"),
        item(2, "AgentMessage", "First."),
        codex_reply(3, "First."),
        codex(4, "turn_context", &json!({"model": "m"})),
        item(4, "UserMessage", "Two?"),
        item(5, "AgentMessage", "Second."),
        item(6, "AgentMessage", "Third."),
    ];
    let home = Home::new(&[("rollout-t.jsonl", &rows)]);
    let shown = session(&["show", "t", "--root", &home.path(""), "-o", "text"]).text;
    for text in ["> One?", "First.", "> Two?", "Second.", "Third."] {
        let lines = shown.lines().filter(|line| *line == text).count();
        assert_eq!(lines, 1, "{text}: {shown}");
    }
    for (pattern, role, expected) in [
        (".", "assistant", &["First.", "Second.", "Third."][..]),
        (".", "user", &["One?", "Two?"]),
        ("d\\.", "assistant", &["Second.", "Third."]),
    ] {
        let root = home.path("");
        let found = session(&["search", pattern, "--role", role, "--root", &root]).records();
        let found: Vec<&str> = found
            .iter()
            .map(|hit| hit["snippet"].as_str().unwrap())
            .collect();
        assert_eq!(found, expected, "{pattern} {role}");
    }
}

#[test]
fn a_stream_of_codex_counts_once_with_other_streams_and_with_its_session() {
    let stream = |total: u32| {
        [
            json!({"type": "thread.started", "thread_id": "t"}),
            json!({"type": "turn.started"}),
            json!({"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": "Done"}}),
            json!({"type": "turn.completed", "usage": {"input_tokens": total, "output_tokens": total}}),
        ]
    };
    // The second run resumed the thread.
    let (first, second) = (stream(10), stream(30));
    let streams = Home::new(&[("one.jsonl", &first), ("two.jsonl", &second)]);
    assert_eq!(tokens(&streams.records(&["stats"])[0]), [30, 30, 0, 0]);
    let rollout = [
        codex(0, "session_meta", &json!({"id": "t", "cwd": "/w"})),
        codex_prompt(1, "Go"),
        codex_reply(2, "Done"),
        codex_request(2, "r1", 30, 30),
    ];
    let home = Home::new(&[
        ("one.jsonl", &first),
        ("two.jsonl", &second),
        ("rollout-t.jsonl", &rollout),
    ]);
    let stats = &home.records(&["stats"])[0];
    assert_eq!(
        (tokens(stats), &stats["replies"], &stats["sessions"]),
        ([30, 30, 0, 0], &json!(1), &json!(1))
    );
    assert!(
        home.list_session("t")["path"]
            .as_str()
            .unwrap()
            .ends_with("rollout-t.jsonl")
    );
}

#[test]
fn a_stream_whose_session_was_left_without_a_reply_does_not_count() {
    let stream = [
        json!({"type": "thread.started", "thread_id": "t"}),
        json!({"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": "Half"}}),
        json!({"type": "turn.completed", "usage": {"input_tokens": 5, "output_tokens": 5}}),
    ];
    let rollout = [
        codex(0, "session_meta", &json!({"id": "t", "cwd": "/w"})),
        codex_prompt(1, "Go"),
    ];
    let home = Home::new(&[("one.jsonl", &stream[..]), ("rollout-t.jsonl", &rollout)]);
    for arguments in [&["stats", "--by", "agent"][..], &["stats"]] {
        let counted = home.records(arguments);
        let replies = counted.iter().map(|row| row["replies"].as_u64().unwrap());
        assert_eq!(replies.sum::<u64>(), 0, "{counted:?}");
    }
}

#[test]
fn the_rest_of_a_stream_belongs_to_the_model_that_made_it() {
    let used = |input: u32| json!({"input_tokens": input, "output_tokens": 5});
    let rows = [
        json!({"type": "system", "subtype": "init", "cwd": "/w", "session_id": "s", "model": "m-1"}),
        json!({"type": "assistant", "message": {"id": "a", "role": "assistant", "model": "m-1", "content": [], "usage": used(10)}, "session_id": "s"}),
        json!({"type": "result", "subtype": "success", "is_error": false, "session_id": "s", "usage": used(100),
            "modelUsage": {"m-1": {"inputTokens": 100, "outputTokens": 5}}}),
    ];
    let home = Home::new(&[("s.jsonl", &rows)]);
    let stats = &home.records(&["stats"])[0];
    assert_eq!(stats["by_model"].as_array().unwrap().len(), 1, "{stats}");
    assert_eq!(tokens(&stats["by_model"][0]), [100, 5, 0, 0]);
}

#[test]
fn telemetry_of_qwen_counts_where_no_reply_repeats_it() {
    let event = |id: &str, prompt: &str, model: &str, input: u32| {
        json!({"uuid": id, "parentUuid": null, "sessionId": "q", "timestamp": "2026-01-01T00:00:02Z", "type": "system",
            "subtype": "ui_telemetry", "systemPayload": {"uiEvent": {"event.name": "qwen-code.api_response", "response_id": id,
                "model": model, "prompt_id": prompt, "input_token_count": input, "output_token_count": 1, "total_token_count": input + 1}}})
    };
    let rows = [
        json!({"uuid": "u", "parentUuid": null, "sessionId": "q", "timestamp": "2026-01-01T00:00:01Z", "type": "user", "cwd": "/w",
            "message": {"role": "user", "parts": [{"text": "Go"}]}}),
        event("x1", "q########0", "m", 10),
        json!({"uuid": "a", "parentUuid": "u", "sessionId": "q", "timestamp": "2026-01-01T00:00:03Z", "type": "assistant", "cwd": "/w",
            "model": "m", "message": {"role": "model", "parts": [{"text": "ok"}]},
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 1, "totalTokenCount": 11}}),
        event("x2", "q#managed-auto-memory-extractor-1a#0", "fast", 100),
        event("x3", "compress-1795908787428", "m", 1000),
    ];
    let home = Home::new(&[("chats/q.jsonl", &rows), ("copy/q.jsonl", &rows)]);
    assert_eq!(tokens(&home.records(&["stats"])[0]), [1110, 3, 0, 0]);
    assert_eq!(tokens(&home.list_session("q")["counts"]), [1110, 3, 0, 0]);
    let purposes = home.records(&["stats", "--by", "prompt"]);
    let purposes = purposes
        .iter()
        .map(|sum| sum["dimensions"]["prompt"].as_str().unwrap());
    assert!(purposes.eq(["compress", "main", "managed-auto-memory-extractor"]));
}

/// Returns a subagent of Codex.
fn subagent() -> [Value; 3] {
    let source = json!({"subagent": {"thread_spawn": {"parent_thread_id": "0a0a0a0a-parent"}}});
    let task = json!({"type": "agent_message", "content": [{"type": "encrypted_content", "encrypted_content": "x"}]});
    [
        codex(
            3,
            "session_meta",
            &json!({"id": "0b0b0b0b-child", "cwd": "/w", "source": source}),
        ),
        codex(4, "response_item", &task),
        codex_reply(5, "Zebra"),
    ]
}

#[test]
fn subagents_are_found_by_the_ids_that_commands_print() {
    let parent = [
        codex(
            0,
            "session_meta",
            &json!({"id": "0a0a0a0a-parent", "cwd": "/w"}),
        ),
        codex_prompt(1, "Go"),
    ];
    let child = subagent();
    let agent = |id: &str, uuid: &str, is_side: bool| {
        json!({"type": "user", "uuid": uuid, "parentUuid": null, "sessionId": id, "cwd": "/w", "isSidechain": is_side,
            "timestamp": "2026-01-01T00:00:00Z", "message": {"role": "user", "content": "Look"}})
    };
    let (main, side) = (
        [agent("5e55-main", "u1", false)],
        [agent("5e55-main", "u2", true)],
    );
    let home = Home::new(&[
        ("rollout-0a0a0a0a-parent.jsonl", &parent),
        ("rollout-0b0b0b0b-child.jsonl", &child),
        ("p/5e55-main.jsonl", &main),
        ("p/5e55-main/subagents/agent-abc123.jsonl", &side),
    ]);
    let listed = home.list_session("0b0b0b0b-child");
    assert_eq!(listed["parent_session_id"], "0a0a0a0a-parent");
    assert_eq!(
        (&listed["fork_parent"], &listed["first_prompt"]),
        (&Value::Null, &json!("(encrypted)"))
    );
    assert_eq!(home.list_session("0a0a0a0a-parent")["subagents"], 1);
    let root = home.path("");
    for name in ["0b0b0b0b-child", "0b0b0b0b", "abc123", "agent-abc123"] {
        for command in ["show", "path", "stats", "calls", "check", "diff", "tail"] {
            let result = session(&[command, name, "--root", &root]);
            assert_ne!(
                result.status,
                Some(2),
                "{command} {name}: {}",
                result.messages
            );
        }
    }
    assert_eq!(
        session(&["path", "latest", "--root", &root]).text,
        format!("{}\n", home.path("rollout-0a0a0a0a-parent.jsonl"))
    );
}

#[test]
fn relations_are_read_in_every_format() {
    let start = |id: &str, second: u32| {
        copilot(
            second,
            "session.start",
            &json!({"sessionId": id, "context": {"cwd": "/w"}}),
        )
    };
    let fork =
        json!({"infoType": "fork", "message": "Forked from \"A (b)\" (c0c0) as \"B\" (c1c1)."});
    let copied = copilot(1, "user.message", &json!({"content": "Go"}));
    let outcome = json!({"type": "agent_turn_outcome", "turnId": "x", "reason": "completed"});
    let droid = [
        json!({"type": "session_start", "id": "d1", "title": "T", "cwd": "/w", "parent": "d0", "forkedAtMessageId": "m"}),
        outcome,
    ];
    let gemini = |id: &str, kind: &str| json!({"sessionId": id, "projectHash": "h", "startTime": "2026-01-01T00:00:00Z", "kind": kind});
    let parent = "9c0ffee0-0000-4000-8000-000000000001";
    let snapshot = json!({"id": "s", "timestamp": "2026-01-01T00:00:03Z", "type": "user", "content": [{"text": "<state_snapshot>x</state_snapshot>"}]});
    let result = json!({"id": "u", "timestamp": "2026-01-01T00:00:01Z", "type": "user", "content": [{"text": "Go"}]});
    let main = [
        gemini(parent, "main"),
        result.clone(),
        json!({"$set": {"messages": [snapshot]}}),
    ];
    let home = Home::new(&[
        (
            "c1c1/events.jsonl",
            &[start("c1c1", 9), copied, copilot(9, "session.info", &fork)],
        ),
        ("d/d1.jsonl", &droid),
        ("g/chats/session-2026-01-01T00-00-9c0ffee0.jsonl", &main),
        (
            &format!("g/chats/{parent}/child.jsonl"),
            &[gemini("child", "subagent"), result],
        ),
        ("d/session-discovery-index.json", &[json!({"sessions": []})]),
    ]);
    assert_eq!(home.list_session("c1c1")["fork_parent"], "c0c0");
    assert_eq!(home.list_session("d1")["fork_parent"], "d0");
    assert_eq!(home.list_session("child")["parent_session_id"], parent);
    assert_eq!(home.list_session(parent)["subagents"], 1);
    assert_eq!(home.list_session(parent)["counts"]["compactions"], 1);
    for path in ["c1c1/events.jsonl", "d/d1.jsonl"] {
        let checked = session(&["check", &home.path(path), "-o", "jsonl"]).records();
        assert_eq!(checked.len(), 1, "{checked:?}");
    }
}

#[test]
fn a_renamed_session_and_messages_of_others_are_recognised() {
    let row = |uuid: &str, text: &str| {
        json!({"type": "user", "uuid": uuid, "parentUuid": null, "sessionId": "s", "cwd": "/w",
            "timestamp": "2026-01-01T00:00:00Z", "message": {"role": "user", "content": text}})
    };
    let peer = "Another Claude session sent a message:\n<teammate-message teammate_id=\"x\">hi</teammate-message>";
    let rows = [row("a", peer), row("b", "Fix it")];
    let home = Home::new(&[
        ("p/s.jsonl", &rows),
        (
            "p/s/custom-title.json",
            &[json!({"customTitle": "release-fix"})],
        ),
    ]);
    let listed = home.list_session("s");
    assert_eq!(
        (&listed["title"], &listed["first_prompt"]),
        (&json!("release-fix"), &json!("Fix it"))
    );
    assert_eq!(listed["counts"]["prompts"], 1);
}

#[test]
fn pi_may_keep_its_sessions_elsewhere() {
    let rows = [
        json!({"type": "session", "version": 3, "id": "p", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/w"}),
        json!({"type": "message", "id": "b", "parentId": null, "timestamp": "2026-01-01T00:00:01.000Z", "message": {"role": "user", "content": "Go"}}),
    ];
    let home = Home::new(&[("elsewhere/2026_p.jsonl", &rows)]);
    let mut command = turnpipe(&["session", "path", "latest"]);
    command.env("HOME", Path::new("/nonexistent"));
    command.env("PI_CODING_AGENT_SESSION_DIR", home.path("elsewhere"));
    assert_eq!(
        run(command).text,
        format!("{}\n", home.path("elsewhere/2026_p.jsonl"))
    );
}
