//! Results as messages for the next request of an API: loops in the shell, around a script
//! that checks its requests and responds like the API.

use serde_json::{Value, json};

use crate::bench::{BYPASS, Bench};
use crate::model_server::server_with_headers;
use crate::skip::is_missing;

/// Sends requests until the model makes no more calls. Requests are composed of lines, and nothing parses
/// replies.
const LOOP: &str = r#"
    set -eu
    printf '%s\n' "$PROMPT" > messages
    while :; do
        printf '{"%s":[%s]}' "$LIST" "$(paste -sd, messages)" > request
        python3 "$SERVER" "$API" "$FORM" < request > reply
        turnpipe run-tools --results "$DIALECT" < reply > new
        cat new >> messages
        grep -q "$RESULT" new || break
    done
"#;

#[test]
fn a_loop_around_any_api_needs_no_other_tool() {
    if is_missing("python3") {
        return;
    }
    let rows = [
        (
            "anthropic",
            "anthropic",
            "messages",
            "tool_result",
            &["whole", "stream"][..],
        ),
        (
            "openai",
            "openai",
            "messages",
            r#""role":"tool""#,
            &["whole", "stream"],
        ),
        (
            "responses",
            "openai",
            "input",
            "function_call_output",
            &["whole", "stream"],
        ),
        (
            "gemini",
            "gemini",
            "contents",
            "functionResponse",
            &["whole", "stream", "list"],
        ),
        (
            "ollama",
            "ollama",
            "messages",
            r#""role":"tool""#,
            &["whole", "stream"],
        ),
    ];
    for (api, dialect, list, result, forms) in rows {
        for form in forms {
            let bench = Bench::new();
            let prompt = match dialect {
                "gemini" => json!({"role": "user", "parts": [{"text": "hi"}]}),
                _ => json!({"role": "user", "content": "hi"}),
            };
            let server = concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/tests/run_tools/scripted_api.py"
            );
            let run = bench.shell(&format!(
                "API={api} FORM={form} DIALECT={dialect} LIST={list} RESULT='{result}'
                 SERVER={server} PROMPT='{prompt}'
                 {LOOP}"
            ));
            let (status, messages) = (run.status, run.stderr);
            assert!(
                status == Some(0) && messages.is_empty(),
                "{api} {form}: {messages}"
            );
            let said = bench.read("messages");
            assert!(said.contains(r#":"one""#), "{api} {form}: {said}");
            assert!(
                said.lines().last().unwrap().contains("Both are done."),
                "{api} {form}: {said}"
            );
            assert!(!said.contains("turnpipe"), "{api} {form}: {said}");
        }
    }
}

/// The example, with a server that checks what the API requires.
#[test]
fn the_loop_with_curl_works_as_written() {
    let script = include_str!("../../examples/curl-loop.sh");
    let Some(bench) = Bench::with_program("curl") else {
        return;
    };
    let answer = |head: &str, body: &Value| {
        let has = |text: &str| head.lines().any(|line| line == text);
        let error = |problem: &str| {
            let error = json!({"type": "invalid_request_error", "message": problem});
            (400, json!({"type": "error", "error": error}).to_string())
        };
        if !head.starts_with("post /v1/messages ") || !has("content-type: application/json") {
            return error("not a request");
        }
        if !has("anthropic-version: 2023-06-01") {
            return error("anthropic-version: header is required");
        }
        if !has("x-api-key: key") {
            return error("invalid x-api-key");
        }
        let tools = body["tools"].as_array().cloned().unwrap_or_default();
        if !tools
            .iter()
            .any(|tool| tool["name"] == "Bash" && tool["input_schema"].is_object())
        {
            return error("no tool named Bash");
        }
        let messages = body["messages"].as_array().unwrap();
        let result = messages.last().unwrap()["content"][0]["content"].as_str();
        let content = if let Some(result) = result {
            json!([{"type": "text", "text": format!("It prints {result}.")}])
        } else {
            let input = json!({"command": "echo one"});
            json!([{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": input}])
        };
        let stop = if messages.len() > 1 {
            "end_turn"
        } else {
            "tool_use"
        };
        let reply = json!({"id": "m", "type": "message", "role": "assistant", "model": "x",
            "content": content, "stop_reason": stop});
        (200, reply.to_string())
    };
    let (address, _requests) = server_with_headers(answer);
    let address = address.trim_end_matches("/v1");
    let run = |key: &str| {
        bench.shell(&format!(
            "export ANTHROPIC_BASE_URL={address} ANTHROPIC_API_KEY={key}\n{script}"
        ))
    };
    let done = run("key");
    assert_eq!(
        (done.status, done.stderr.as_str()),
        (Some(0), ""),
        "{done:?}"
    );
    let messages = values(&bench.read("messages"));
    assert_eq!(messages.len(), 4, "{messages:?}");
    assert_eq!(messages[3]["content"][0]["text"], "It prints one.");
    let refused = run("other");
    assert_eq!(refused.status, Some(3), "{refused:?}");
    assert!(refused.stderr.contains("invalid x-api-key"), "{refused:?}");
}

fn values(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn without_a_copy_there_are_only_results() {
    let bench = Bench::new();
    let reply = r#"{"role":"assistant","content":"x","tool_calls":[{"id":"a","function":{"name":"Bash","arguments":"{\"command\":\"echo one\"}"}}]}"#;
    let run = bench.run(&["--results", "openai", "--no-echo"], reply);
    let expected = json!({"role": "tool", "tool_call_id": "a", "content": "one"});
    assert_eq!(values(&run.stdout), [expected], "{}", run.stderr);
}

#[test]
fn images_are_sent_if_an_api_accepts_them() {
    // The smallest picture there is: one pixel.
    const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let bench = Bench::new();
    bench.write("encoded", PIXEL);
    let decoded = bench.shell("base64 -d encoded > pixel.png");
    assert_eq!(decoded.status, Some(0));
    let call = r#"{"type":"tool_use","id":"a","name":"Read","input":{"file_path":"pixel.png"}}"#;
    let rows = [
        ("anthropic", "/content/0/content/0/source/data"),
        ("gemini", "/parts/1/inlineData/data"),
    ];
    for (api, place) in rows {
        let run = bench.run(&["--results", api], call);
        let data = values(&run.stdout)[0].pointer(place).cloned();
        assert!(
            data.is_some_and(|data| data.as_str().is_some_and(|data| data.len() > 50)),
            "{}",
            run.stdout
        );
    }
    let run = bench.run(&["--results", "openai"], call);
    assert_eq!(
        values(&run.stdout)[0]["content"],
        "[image: image/png]",
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("data:image/png;base64,"));
    let item = r#"{"object":"response","output":[{"type":"function_call","call_id":"a","name":"Read","arguments":"{\"file_path\":\"pixel.png\"}"}]}"#;
    let run = bench.run(&["--results", "openai", "--no-echo"], item);
    let output = &values(&run.stdout)[0]["output"][0];
    assert!(
        output["image_url"]
            .as_str()
            .is_some_and(|address| address.starts_with("data:image/png;base64,")),
        "{}",
        run.stdout
    );
}

/// The result of a call of a tool that takes free text has its own form.
#[test]
fn a_custom_call_of_responses_gets_its_result() {
    let bench = Bench::new();
    let reply = r#"{"object":"response","output":[{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"*** Begin Patch"}]}"#;
    for api in ["openai", "responses"] {
        let run = bench.run(&["--results", api, "--no-echo"], reply);
        let item = &values(&run.stdout)[0];
        assert_eq!(item["type"], "custom_tool_call_output", "{}", run.stdout);
        assert_eq!(item["call_id"], "c");
    }
}

/// A conversation with the Responses API contains the results as items.
#[test]
fn a_call_with_its_output_in_the_conversation_never_runs() {
    let bench = Bench::new();
    let call = r#"{"object":"response","output":[{"type":"function_call","call_id":"c","name":"Glob","arguments":"{\"pattern\":\"*\"}"}]}"#;
    let output = r#"{"type":"function_call_output","call_id":"c","output":"x"}"#;
    for kind in ["function_call_output", "custom_tool_call_output"] {
        let conversation = format!("{call}\n{}\n", output.replace("function_call_output", kind));
        let run = bench.run(&[], conversation.as_str());
        assert_eq!(run.stdout, conversation, "{}", run.stderr);
    }
    // Calls that are items of a conversation were made earlier.
    let item = r#"{"type":"function_call","call_id":"c","name":"Glob","arguments":"{}"}"#;
    let run = bench.run(&[], format!("{item}\n"));
    assert_eq!(run.outcomes(), [], "{}", run.stdout);
}

/// The free text of a custom tool is its only required parameter.
#[test]
fn custom_calls_run_tools_that_require_one_text() {
    let bench = Bench::new();
    bench.write("note", "from the note");
    let rows = [
        ("Bash", "echo one\nexit 0", "one"),
        ("shell", "echo two", "two"),
        ("Read", "note", "from the note"),
        ("Edit", "note", "Edit failed due to the following issue"),
    ];
    for (name, input, expected) in rows {
        let call =
            json!({"type": "custom_tool_call", "call_id": "c", "name": name, "input": input});
        let item = json!({"type": "response.output_item.done", "item": call});
        let end = json!({"type": "response.completed", "response": {"status": "completed"}});
        let whole = json!({"object": "response", "output": [call]});
        let chat = json!({"object": "chat.completion", "choices": [{"index": 0, "finish_reason": "tool_calls",
            "message": {"role": "assistant", "tool_calls": [
                {"id": "c", "type": "custom", "custom": {"name": name, "input": input}}]}}]});
        let replies = [&[item, end][..], &[whole], &[chat]];
        for reply in replies.map(|records| {
            records
                .iter()
                .map(Value::to_string)
                .collect::<Vec<_>>()
                .join("\n")
        }) {
            let run = bench.run(&[&BYPASS[..], &["--no-echo"]].concat(), reply.as_str());
            assert!(run.content("c").contains(expected), "{reply} {run:?}");
        }
    }
    let end = json!({"type": "response.completed", "response": {"status": "completed"}});
    let cut = json!({"type": "response.output_item.done", "item": {"type": "custom_tool_call",
        "status": "incomplete", "call_id": "c", "name": "Bash", "input": "touch cut"}});
    let run = bench.run(
        &[&BYPASS[..], &["--no-echo"]].concat(),
        format!("{cut}\n{end}"),
    );
    assert!(run.content("c").contains("not run"), "{run:?}");
    assert!(!bench.work().join("cut").exists());
}

#[test]
fn each_message_precedes_its_results() {
    let bench = Bench::new();
    let reply = |id: &str, command: &str| {
        json!({"id": id, "type": "message", "role": "assistant", "content": [
        {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]})
    };
    let input = format!(
        "{}\n{}\n",
        reply("a", "sleep 0.2; echo one"),
        reply("b", "echo two")
    );
    let run = bench.run(
        &[
            "--results",
            "anthropic",
            "--permission-mode",
            "bypassPermissions",
        ],
        input,
    );
    let order: Vec<String> = values(&run.stdout)
        .iter()
        .map(|message| {
            let block = &message["content"][0];
            let id = block["id"].as_str().or(block["tool_use_id"].as_str());
            format!("{} {}", message["role"].as_str().unwrap(), id.unwrap())
        })
        .collect();
    assert_eq!(
        order,
        ["assistant a", "user a", "assistant b", "user b"],
        "{}",
        run.stderr
    );
}

#[test]
fn conflicting_options_are_refused() {
    let bench = Bench::new();
    for other in [&["--plan"][..], &["--permission-prompt", "stdio"]] {
        let arguments: Vec<&str> = ["--results", "openai"]
            .iter()
            .chain(other)
            .copied()
            .collect();
        assert_eq!(bench.run(&arguments, "").status, Some(2), "{other:?}");
    }
}
