use std::path::{Path, PathBuf};

use super::*;
use crate::{Agent, SessionError, TitleSource};
use turnpipe_core::jsonl::Mapping;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data/session")
        .join(name)
}

/// Returns one line per message: role, origin and content.
fn outline(name: &str, scope: Scope) -> Vec<String> {
    let session = Session::open(&data(name)).unwrap();
    let mut lines = Vec::new();
    for message in session.messages(scope).unwrap() {
        let message = message.unwrap();
        if message.origin != Origin::Meter {
            let calls: Vec<_> = message.calls().map(|call| call.id.as_str()).collect();
            let results = message.results().map(|result| {
                let mark = if result.failed { "!" } else { "" };
                format!("{}={}{mark}", result.id, result.text())
            });
            let results: Vec<String> = results.collect();
            lines.push(
                format!(
                    "{:?} {} {} {}",
                    message.origin,
                    message.text(),
                    calls.join(","),
                    results.join(",")
                )
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
            );
        }
    }
    lines
}

#[test]
fn typed_text_is_a_prompt_even_in_a_shared_row() {
    assert_eq!(
        outline("claude-editor-note.jsonl", Scope::Live),
        [
            "Injected <ide_opened_file>The user opened the file /p/x.go in the IDE. This may or \
             may not be related to the current task.</ide_opened_file>",
            "Prompt add a CODEOWNERS file",
            "Reply Done."
        ]
    );
    assert_eq!(
        outline("claude-typed-beside-results.jsonl", Scope::Live)[2..4],
        [
            "Results t1=Found 1 file",
            "Prompt and make sure this is tested"
        ]
    );
    let session = Session::open(&data("claude-editor-note.jsonl")).unwrap();
    let facts = session.summary(Mapping::Allowed).unwrap();
    assert_eq!(facts.first_prompt.as_deref(), Some("add a CODEOWNERS file"));
}

#[test]
fn history_continues_before_a_compaction() {
    let live = outline("claude-compacted.jsonl", Scope::Live);
    assert_eq!(
        live[..2],
        ["Prompt Port the config parser to Rust", "Reply Ported."]
    );
    let short = outline("claude-compacted.jsonl", Scope::SinceCompaction);
    assert_eq!(live[2..], short);
    assert_eq!(short.len(), 4);
}

#[test]
fn repeated_records_are_shown_once() {
    let expected = ["Prompt hello there friend", "Reply Done."];
    assert_eq!(outline("claude-repeated.jsonl", Scope::Live), expected);
}

#[test]
fn the_last_row_of_a_reply_counts_anywhere() {
    let session = Session::open(&data("claude-parallel-results.jsonl")).unwrap();
    let (_, counts) = session.facts(Mapping::Refused).unwrap();
    let usage = counts.usage;
    assert_eq!(counts.messages - counts.prompts, 1);
    let read = (usage.input, usage.cache_read);
    assert_eq!((read, usage.output), ((10, 1000), 7));
}

#[test]
fn labels_in_the_file_follow_their_results() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let rows = [
        r#"{"type":"user","parentUuid":null,"sessionId":"s","uuid":"a","message":{"role":"user","content":"go"}}"#,
        r#"{"type":"assistant","parentUuid":"a","uuid":"b","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{}}]}}"#,
        r#"{"type":"user","parentUuid":"b","uuid":"c","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}}"#,
        r#"{"type":"assistant","parentUuid":"c","uuid":"d","message":{"id":"n","role":"assistant","content":[{"type":"text","text":"done"}]}}"#,
        r#"{"type":"tool_use_summary","summary":"Read one","preceding_tool_use_ids":["t1"],"uuid":"e","turnpipe":{"v":1}}"#,
    ];
    std::fs::write(&path, rows.join("\n")).unwrap();
    let session = Session::open(&path).unwrap();
    let messages = session.messages(Scope::Live).unwrap();
    let texts: Vec<String> = messages.map(|message| message.unwrap().text()).collect();
    assert_eq!(texts, ["go", "", "", "Read one", "done"]);
}

#[test]
fn rows_of_a_claude_message_are_joined() {
    let expected = [
        "Prompt Compare the two files",
        "Reply t1,t2",
        "Results t1=one",
        "Results t2=two!",
        "Reply They differ.",
    ];
    assert_eq!(outline("claude-parallel.jsonl", Scope::Live), expected);
    assert_eq!(
        outline("claude-parallel.jsonl", Scope::AllBranches),
        expected
    );
    let session = Session::open(&data("claude-parallel.jsonl")).unwrap();
    let (facts, counts) = session.facts(Mapping::Allowed).unwrap();
    assert_eq!(session.agent(), Agent::Claude);
    let title = facts.title.clone().unwrap();
    assert_eq!(
        (title.text.as_str(), title.source),
        ("Compare files", TitleSource::Auto)
    );
    assert_eq!(facts.branch.as_deref(), Some("feature"));
    assert_eq!(facts.model.as_deref(), Some("model-b"));
    assert_eq!(facts.first_prompt.as_deref(), Some("Compare the two files"));
    assert_eq!(
        (counts.records, counts.calls, counts.results, counts.failed),
        (8, 2, 2, 1)
    );
    assert_eq!((counts.usage.input, counts.usage.output), (30, 12));
    assert_eq!(session.summary(Mapping::Refused).unwrap(), facts);
}

#[test]
fn an_abandoned_qwen_branch_is_not_shown() {
    let live = [
        "Prompt Fix the parser",
        "Reply Reading. c1",
        "Results c1=fn main(){}",
        "Prompt Use tabs instead",
        "Reply Done with tabs.",
        "Compaction",
        "Recap Tabs are in; next: tests.",
    ];
    assert_eq!(outline("qwen-rewound.jsonl", Scope::Live), live);
    assert_eq!(
        outline("qwen-rewound.jsonl", Scope::AllBranches).len(),
        live.len() + 2
    );
    let session = Session::open(&data("qwen-rewound.jsonl")).unwrap();
    let (facts, counts) = session.facts(Mapping::Allowed).unwrap();
    // Titles of abandoned branches count, as in the agent's own reader.
    assert_eq!(facts.title.unwrap().text, "Spaces");
    assert_eq!(counts.compactions, 1);
}

#[test]
fn a_repeated_codex_message_is_shown_once() {
    let expected = [
        "Injected <environment_context> </environment_context>",
        "Prompt Run the tests",
        "Reply",
        "Reply call_1",
        "Results call_1=1 failed!",
        "Reply One test fails.",
    ];
    assert_eq!(outline("codex.jsonl", Scope::Live), expected);
    let session = Session::open(&data("codex.jsonl")).unwrap();
    for message in session.messages(Scope::Live).unwrap() {
        let message = message.unwrap();
        let model = (message.role == Role::Assistant).then_some("model-c");
        assert_eq!(message.model.as_deref(), model, "{message:?}");
    }
    let (facts, counts) = session.facts(Mapping::Allowed).unwrap();
    assert_eq!(facts.title.unwrap().text, "Test run");
    assert_eq!(facts.started.unwrap().to_string(), "2026-01-01T09:59:59Z");
    let usage = counts.usage;
    let input = usage.input + usage.cache_read;
    assert_eq!(input + usage.output, 330);
}

#[test]
fn a_codex_compaction_that_is_told_twice_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let rows = [
        r#"{"timestamp":"2026-01-01T10:00:00Z","type":"session_meta","payload":{"id":"s","cwd":"/x"}}"#,
        r#"{"timestamp":"2026-01-01T10:00:01Z","type":"compacted","payload":{"message":"Sum"}}"#,
        r#"{"timestamp":"2026-01-01T10:00:02Z","type":"event_msg","payload":{"type":"context_compacted"}}"#,
    ];
    std::fs::write(&path, rows.join("\n")).unwrap();
    let session = Session::open(&path).unwrap();
    let texts = session.messages(Scope::Live).unwrap();
    let texts: Vec<String> = texts.map(|message| message.unwrap().text()).collect();
    assert_eq!(texts, ["Sum"]);
}

/// Messages that are only in events are split like those in items.
#[test]
fn the_context_of_an_editor_is_not_a_prompt() {
    let rows = [
        r#"{"type":"session_meta","payload":{"id":"s","cwd":"/p"}}"#,
        r##"{"type":"event_msg","payload":{"type":"user_message","message":"# Context from my IDE setup:\n\n## My request for Codex:\nlist files"}}"##,
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rollout.jsonl");
    std::fs::write(&path, rows.join("\n")).unwrap();
    let (facts, counts) = Session::open(&path)
        .unwrap()
        .facts(Mapping::Refused)
        .unwrap();
    assert_eq!(facts.first_prompt.as_deref(), Some("list files"));
    assert_eq!(counts.prompts, 1);
}

/// Claude Code writes replies itself if it made no request.
#[test]
fn text_written_by_the_agent_is_not_a_reply() {
    let row = |model: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{model}","parentUuid":null,"sessionId":"s","message":{{"id":"{model}","model":"{model}","content":[{{"type":"text","text":"No response requested."}}]}}}}"#
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    std::fs::write(&path, format!("{}\n{}\n", row("m"), row("<synthetic>"))).unwrap();
    let (_, counts) = Session::open(&path)
        .unwrap()
        .facts(Mapping::Refused)
        .unwrap();
    assert_eq!(counts.messages - counts.prompts, 1);
}

#[test]
fn old_codex_files_have_bare_items() {
    let expected = [
        "Prompt List files",
        "Reply call_1",
        "Results call_1=a.txt",
        "Reply One file.",
    ];
    assert_eq!(outline("codex-bare.jsonl", Scope::Live), expected);
    let session = Session::open(&data("codex-bare.jsonl")).unwrap();
    let (facts, counts) = session.facts(Mapping::Allowed).unwrap();
    assert_eq!(facts.branch.as_deref(), Some("main"));
    assert_eq!(counts.records, 6);
}

#[test]
fn a_gemini_log_is_replayed() {
    let expected = [
        "Injected <session_context> x </session_context>",
        "Prompt Run the tests.",
        "Reply shell_1",
        "Results shell_1=Exit Code: 3!",
        "Reply They fail.",
        "Prompt And now?",
    ];
    assert_eq!(outline("gemini-resumed.jsonl", Scope::Live), expected);
    let session = Session::open(&data("gemini-resumed.jsonl")).unwrap();
    let (facts, counts) = session.facts(Mapping::Allowed).unwrap();
    assert_eq!(facts.title.unwrap().text, "Test run");
    assert_eq!(counts.usage.input, 20);
}

/// Gemini CLI writes the history of a resumed session again: under other ids, without tokens, and
/// with calls and results in separate messages.
#[test]
fn both_parts_of_a_resumed_gemini_log_count() {
    let head = r#"{"sessionId":"s","projectHash":"p","startTime":"2026-01-01T10:00:00.000Z","kind":"main"}"#;
    let call = r#"{"id":"2","type":"gemini","content":"","tokens":{"input":800,"output":40,"cached":64,"thoughts":10},"model":"m","toolCalls":[{"id":"c","name":"ls","args":{},"result":[{"functionResponse":{"id":"c","name":"ls","response":{"output":"a"}}}],"status":"success"}]}"#;
    let history = r#"{"$set":{"messages":[{"id":"h1","type":"user","content":[{"text":"List"}]},{"id":"h2","type":"gemini","content":[{"functionCall":{"id":"c","name":"ls","args":{}}}]},{"id":"h3","type":"user","content":[{"functionResponse":{"id":"c","name":"ls","response":{"output":"a"}}}]}]}}"#;
    let rows = [
        head,
        r#"{"id":"1","type":"user","content":[{"text":"List"}]}"#,
        call,
        r#"{"id":"3","type":"user","content":[{"functionResponse":{"id":"c","name":"ls","response":{"output":"a"}}}]}"#,
        head,
        history,
        r#"{"id":"4","type":"user","content":[{"text":"And?"}]}"#,
        r#"{"id":"5","type":"gemini","content":"Done.","tokens":{"input":1243,"output":50,"cached":64},"model":"m"}"#,
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session-1.jsonl");
    std::fs::write(&path, rows.join("\n")).unwrap();
    let session = Session::open(&path).unwrap();
    let (_, counts) = session.facts(Mapping::Refused).unwrap();
    assert_eq!((counts.usage.input, counts.usage.output), (1915, 100));
    assert_eq!((counts.prompts, counts.messages), (2, 4));
    assert_eq!((counts.calls, counts.unanswered), (1, 0));
    let mut live = turnpipe_core::message::Pairs::default();
    for message in session.messages(Scope::Live).unwrap() {
        live.add(&message.unwrap());
    }
    assert!(live.unanswered_calls().is_empty() && live.orphans().is_empty());
}

#[test]
fn an_old_gemini_document_has_no_lines() {
    let expected = [
        "Prompt Read it",
        "Reply Reading. 2#0",
        "Results 2#0=text",
        "Error quota",
    ];
    assert_eq!(outline("session-document.json", Scope::Live), expected);
    let session = Session::open(&data("session-document.json")).unwrap();
    assert!(session.is_document());
    let (facts, _) = session.facts(Mapping::Allowed).unwrap();
    assert_eq!(facts.title.unwrap().text, "A document");
    assert_eq!(
        facts.last_activity.unwrap().to_string(),
        "2026-01-01T10:00:09Z"
    );
    // As `jq -c` prints it.
    let document = std::fs::read_to_string(data("session-document.json")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let line = directory.path().join("line.json");
    std::fs::write(&line, format!("{document}\n")).unwrap();
    assert_eq!(outline(line.to_str().unwrap(), Scope::Live), expected);
}

#[test]
fn a_pi_file_is_a_tree_with_costs() {
    let expected = [
        "Prompt Go",
        "Reply c1",
        "Results c1=gone!",
        "Compaction So far so good.",
        "Error overloaded",
    ];
    assert_eq!(outline("pi.jsonl", Scope::Live), expected);
    let session = Session::open(&data("pi.jsonl")).unwrap();
    let (facts, counts) = session.facts(Mapping::Allowed).unwrap();
    assert_eq!(facts.title.unwrap().text, "Named");
    assert_eq!(facts.forked_from.as_deref(), Some("parent-id"));
    assert_eq!(counts.usage.cost, Some(0.25));
    assert_eq!(counts.errors, 1);
}

#[test]
fn files_that_are_not_sessions_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let sound = include_str!("../../../../tests/data/session/claude-parallel.jsonl");
    let late = format!("{{\"v\":\"{}\"}}\n", "x".repeat(9000)).repeat(41) + sound;
    for (name, text) in [
        ("a.jsonl", "{\"v\":1}\n"),
        ("b.md", "# Title\n"),
        (
            "c.json",
            "[{\"sessionId\":\"x\",\"type\":\"user\",\"message\":\"y\"}]",
        ),
        ("d.jsonl", ""),
        ("e.json", "{\"messages\":[]}"),
        ("late.jsonl", &late),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let error = Session::open(&path).unwrap_err();
        assert!(matches!(error, SessionError::Unknown(_)), "{name}: {error}");
    }
}

/// A sequence of changes and the messages that remain.
type Row<'a> = (Vec<Change>, &'a [(u64, u32)]);

#[test]
fn rows_replace_each_other() {
    let put = |id: &str| Change::Put(id.to_owned());
    let reset = |ids: &[&str]| {
        let row = |id: &&str| turnpipe_formats::agent::LoggedRow {
            id: (*id).to_owned(),
            messages: Vec::new(),
        };
        Change::Reset(ids.iter().map(row).collect())
    };
    let rewind = |id: &str| Change::RewindTo(id.to_owned());
    let rows: [Row<'_>; 6] = [
        (vec![put("a"), put("b"), put("a")], &[(2, 0), (1, 0)]),
        (vec![put("a"), reset(&["b", "a"])], &[(1, 0), (1, 1)]),
        (vec![put("a"), reset(&["b"]), put("b")], &[(2, 0)]),
        (
            vec![put("a"), put("b"), rewind("b"), put("c")],
            &[(0, 0), (3, 0)],
        ),
        (vec![put("a"), rewind("x")], &[(0, 0)]),
        (vec![put("a"), put("b"), rewind("a"), put("b")], &[(3, 0)]),
    ];
    for (number, (changes, expected)) in rows.into_iter().enumerate() {
        let mut replay = Replay::default();
        for (offset, change) in (0..).zip(changes) {
            let place = Place {
                offset,
                length: 1,
                index: 0,
            };
            replay.apply(change, place);
        }
        let rows = replay.rows.iter();
        let rows: Vec<_> = rows.map(|pick| (pick.place.offset, pick.row)).collect();
        assert_eq!(rows, expected, "{number}");
    }
}
