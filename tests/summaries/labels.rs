//! `summarize-batch` with the built-in rules.

use serde_json::json;

use crate::files::{records, stream};
use crate::turnpipe::run;

const BUILTIN: [&str; 3] = ["summarize-batch", "--model", "builtin"];

fn with_options<'a>(options: &[&'a str]) -> Vec<&'a str> {
    [&BUILTIN[..], options].concat()
}

#[test]
fn labels_precede_the_next_message_and_other_lines_are_unchanged() {
    let input = stream(2) + "{\"type\":\"result\",\"subtype\":\"success\"}\n";
    let result = run(&BUILTIN, input.as_bytes());
    assert_eq!((result.status, result.stderr.as_str()), (Some(0), ""));
    let found = records(&result.stdout);
    let kinds: Vec<&str> = found
        .iter()
        .map(|record| record["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "system",
            "assistant",
            "user",
            "tool_use_summary",
            "assistant",
            "user",
            "tool_use_summary",
            "result"
        ]
    );
    assert_eq!(found[3]["summary"], "Read f0.rs");
    assert_eq!(found[3]["preceding_tool_use_ids"], json!(["t0"]));
    assert_eq!(found[3]["session_id"], "s");
    assert_eq!(found[3]["turnpipe"]["model"], "builtin");
    let echoed: String = result
        .stdout
        .lines()
        .filter(|line| !line.contains("tool_use_summary"))
        .fold(String::new(), |all, line| all + line + "\n");
    assert_eq!(echoed, input);
}

#[test]
fn ready_labels_follow_their_results() {
    let result = run(&with_options(&["--emit", "ready"]), stream(2).as_bytes());
    let kinds: Vec<String> = records(&result.stdout)
        .iter()
        .map(|record| record["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        kinds,
        [
            "system",
            "assistant",
            "user",
            "tool_use_summary",
            "assistant",
            "user",
            "tool_use_summary"
        ]
    );
}

/// Conversations with an API, as `jq` prints them.
#[test]
fn printed_lists_of_messages_are_labelled() {
    let read = |name: &str| json!({"file_path": name}).to_string();
    let call = |id: &str| json!({"id": id, "function": {"name": "Read", "arguments": read(id)}});
    let openai = json!([
        {"role": "assistant", "tool_calls": [call("a.rs")]},
        {"role": "tool", "tool_call_id": "a.rs", "content": "x"},
        {"role": "assistant", "tool_calls": [call("b.rs")]},
        {"role": "tool", "tool_call_id": "b.rs", "content": "x"},
    ]);
    let block = |id: &str| json!([{"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": id}}]);
    let answer = |id: &str| json!([{"type": "tool_result", "tool_use_id": id, "content": "x"}]);
    let anthropic = json!([
        {"role": "assistant", "content": block("a.rs")},
        {"role": "user", "content": answer("a.rs")},
        {"role": "assistant", "content": block("b.rs")},
        {"role": "user", "content": answer("b.rs")},
    ]);
    let part = |kind: &str, rest: serde_json::Value| json!([{kind: rest}]);
    let gemini_call = |id: &str| {
        part(
            "functionCall",
            json!({"name": "Read", "args": {"file_path": id}}),
        )
    };
    let gemini_answer = || {
        part(
            "functionResponse",
            json!({"name": "Read", "response": {"output": "x"}}),
        )
    };
    let gemini = json!([
        {"role": "model", "parts": gemini_call("a.rs")},
        {"role": "user", "parts": gemini_answer()},
        {"role": "model", "parts": gemini_call("b.rs")},
        {"role": "user", "parts": gemini_answer()},
    ]);
    for messages in [openai, anthropic, gemini] {
        let lists = [
            serde_json::to_string_pretty(&messages).unwrap(),
            messages.to_string(),
        ];
        for list in lists {
            let result = run(&BUILTIN, format!("{list}\n").as_bytes());
            // Labels follow their calls.
            let labels = result
                .stdout
                .strip_prefix(&list)
                .unwrap_or_default()
                .trim_start();
            let found = records(labels);
            let summaries: Vec<&str> = found
                .iter()
                .map(|record| record["summary"].as_str().unwrap())
                .collect();
            assert_eq!(summaries, ["Read a.rs", "Read b.rs"], "{result:?}");
        }
    }
}

#[test]
fn labelled_batches_get_no_other_label() {
    for when in ["turn", "ready"] {
        let options = with_options(&["--emit", when]);
        let labelled = run(&options, stream(3).as_bytes()).stdout;
        assert_eq!(labelled.matches("tool_use_summary").count(), 3);
        assert_eq!(
            run(&options, labelled.as_bytes()).stdout,
            labelled,
            "{when}"
        );
        let is_second = |line: &&str| line.contains("[\"t1\"]");
        let without: Vec<&str> = labelled.lines().filter(|line| !is_second(line)).collect();
        let again = run(&options, format!("{}\n", without.join("\n")).as_bytes()).stdout;
        assert_eq!(again.lines().count(), labelled.lines().count(), "{when}");
        assert!(again.contains("[\"t1\"]"), "{when}: {again}");
    }
}

#[test]
fn text_has_one_line_per_label() {
    let result = run(&with_options(&["-o", "text"]), stream(2).as_bytes());
    assert_eq!(result.stdout, "● Read f0.rs\n● Read f1.rs\n");
}

#[test]
fn damage_on_lines_without_calls_passes_through() {
    let input = format!("\u{feff}{}{{torn\n{}", stream(1), r#"{"type":"result"}"#);
    let result = run(&BUILTIN, input.as_bytes());
    assert_eq!(result.status, Some(0));
    assert!(result.stdout.contains("\n{torn\n"), "{}", result.stdout);
    assert!(result.stdout.ends_with("{\"type\":\"result\"}"));
    assert_eq!(result.stdout.matches("tool_use_summary").count(), 1);
    assert_eq!(result.stderr, "");
}

#[test]
fn disabled_labels_copy_the_input() {
    let input = stream(2);
    let result = run(&["summarize-batch", "--model", "none"], input.as_bytes());
    assert_eq!((result.status, result.stdout), (Some(0), input.clone()));
    let mut command = crate::turnpipe::command();
    command
        .args(BUILTIN)
        .env("QWEN_CODE_EMIT_TOOL_USE_SUMMARIES", "0");
    let result = crate::server::run_with_input(command, &input);
    assert_eq!((result.status, result.stdout), (Some(0), input));
}

#[test]
fn without_a_model_the_rules_are_used_with_a_hint() {
    let result = run(&["summarize-batch", "--exit-status"], stream(1).as_bytes());
    assert_eq!(result.status, Some(0));
    assert!(
        result.stderr.starts_with("hint: no model is configured"),
        "{}",
        result.stderr
    );
    assert_eq!(result.stdout.matches("tool_use_summary").count(), 1);
    let nothing = run(
        &with_options(&["--exit-status"]),
        b"{\"type\":\"result\"}\n",
    );
    assert_eq!(nothing.status, Some(1));
}

#[test]
fn labels_are_recorded_next_to_the_session() {
    let folder = tempfile::tempdir().unwrap();
    let theirs = crate::files::write(
        folder.path(),
        "s.jsonl",
        &crate::files::claude(&crate::files::TALK),
    );
    let before = std::fs::read_to_string(&theirs).unwrap();
    let ours = folder.path().join("ours.jsonl");
    for target in [&theirs, &ours] {
        let target = target.to_str().unwrap();
        let result = run(
            &with_options(&["--no-echo", "--record", target]),
            stream(2).as_bytes(),
        );
        assert_eq!(result.status, Some(0), "{}", result.stderr);
        let beside = std::fs::read_to_string(format!("{target}.turnpipe")).unwrap();
        let found = records(&beside);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1]["summary"], "Read f1.rs");
    }
    assert!(!ours.exists());
    assert_eq!(std::fs::read_to_string(&theirs).unwrap(), before);
}

#[test]
fn prompts_and_requests_can_be_printed() {
    let prompt = run(&["summarize-batch", "--print-prompt"], b"");
    assert!(prompt.stdout.contains("Searched in auth/"));
    let body = run(
        &["summarize-batch", "--model", "openai:m", "--dry-run"],
        stream(1).as_bytes(),
    );
    let found = records(&body.stdout);
    assert_eq!(found.len(), 1, "{}", body.stderr);
    assert!(
        body.stdout.contains("Tool: Read\\nInput: {"),
        "{}",
        body.stdout
    );
    assert!(body.stdout.contains("I read file 0."), "{}", body.stdout);
}

/// What `run-tools` copies and writes in the form of each API.
#[test]
fn the_calls_of_run_tools_are_labelled_in_every_dialect() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.rs"), "x\n").unwrap();
    let input = json!({"file_path": "a.rs"});
    let text = input.to_string();
    let call =
        json!({"id": "c1", "type": "function", "function": {"name": "Read", "arguments": text}});
    let replies = [
        (
            "anthropic",
            json!({"id": "m1", "type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "c1", "name": "Read", "input": input}]}),
        ),
        (
            "openai",
            json!({"id": "m1", "choices": [{"index": 0, "message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"}]}),
        ),
        (
            "responses",
            json!({"id": "m1", "object": "response", "status": "completed", "output": [{"type": "function_call", "call_id": "c1", "name": "Read", "arguments": text}]}),
        ),
        (
            "gemini",
            json!({"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "Read", "args": input}}]}, "finishReason": "STOP"}]}),
        ),
        (
            "ollama",
            json!({"model": "q", "message": {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "Read", "arguments": input}}]}, "done": true}),
        ),
    ];
    for (api, reply) in replies {
        let mut command = crate::turnpipe::command();
        command
            .current_dir(folder.path())
            .args(["run-tools", "--results", api]);
        let ran = crate::server::run_with_input(command, &format!("{reply}\n"));
        assert_eq!(ran.status, Some(0), "{api}: {}", ran.stderr);
        let (_, results) = ran.stdout.split_once('\n').unwrap();
        let whole = format!("{reply}\n{results}");
        for stream in [&ran.stdout, &whole] {
            for form in [stream.clone(), json!(records(stream)).to_string()] {
                let result = run(&with_options(&["--no-echo"]), form.as_bytes());
                let found = records(&result.stdout);
                assert_eq!(found.len(), 1, "{api}: {form} {}", result.stderr);
                assert_eq!(found[0]["summary"], "Read a.rs", "{api}");
            }
        }
    }
}

#[test]
fn the_items_of_a_conversation_are_labelled_by_reply() {
    let call = |id: &str| {
        let arguments = json!({"file_path": format!("{id}.rs")}).to_string();
        json!({"type": "function_call", "call_id": id, "name": "Read", "arguments": arguments})
    };
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "x"});
    let said = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "More."}]});
    let reasoning = json!({"type": "reasoning", "summary": []});
    let items = [
        said,
        call("a"),
        reasoning,
        call("b"),
        output("a"),
        output("b"),
        call("c"),
        output("c"),
    ];
    let stream = items.map(|item| item.to_string()).join("\n");
    let found = records(&run(&with_options(&["--no-echo"]), stream.as_bytes()).stdout);
    let ids: Vec<_> = found
        .iter()
        .map(|label| label["preceding_tool_use_ids"].clone())
        .collect();
    assert_eq!(ids, [json!(["a", "b"]), json!(["c"])]);
}
