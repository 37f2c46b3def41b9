//! `turn --output-schema`.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::files::records;
use crate::server::{Server, completion, run_with_input, text_reply};
use crate::turnpipe::Run;

const SCHEMA: &str = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}"#;

/// Returns a folder with the schema.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("schema.json"), SCHEMA).unwrap();
    folder
}

/// Returns a command that uses this server as every provider.
fn command(server: &Server, folder: &Path, model: &str, arguments: &[&str]) -> Command {
    let always = ["turn", "--output-schema", "schema.json", "--model", model];
    let mut command = server.command(&[&always, arguments].concat());
    let address = format!("http://{}", server.address);
    command.current_dir(folder).env("HOME", folder);
    for name in [
        "ANTHROPIC_BASE_URL",
        "GOOGLE_GEMINI_BASE_URL",
        "OLLAMA_HOST",
    ] {
        command.env(name, &address);
    }
    for name in ["ANTHROPIC_API_KEY", "GEMINI_API_KEY"] {
        command.env(name, "x");
    }
    command
}

/// Asks `openai` for a reply.
fn ask(server: &Server, folder: &Path, arguments: &[&str]) -> (Run, Vec<Value>) {
    let prompt = [&["--prompt", "Count.", "--no-stream"], arguments].concat();
    let run = run_with_input(command(server, folder, "openai:gpt-4.1", &prompt), "");
    let records = records(&run.stdout);
    (run, records)
}

/// Starts a server that gives these replies, one after the other; the last one again and again.
fn start_server(replies: &[(u16, String)]) -> Server {
    let replies = replies.to_vec();
    let asked = std::sync::atomic::AtomicUsize::new(0);
    Server::start(
        Duration::ZERO,
        Box::new(move |_| {
            let number = asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            replies[number.min(replies.len() - 1)].clone()
        }),
    )
}

fn texts(records: &[Value]) -> Vec<&str> {
    let is_message = |record: &&Value| record["message"].is_object();
    let contents = records.iter().filter(is_message).map(|record| {
        let content = &record["message"]["content"];
        content.as_str().or(content[0]["text"].as_str()).unwrap()
    });
    contents.collect()
}

/// Returns the message to the model about `{}`.
fn correction() -> String {
    format!(
        "The last reply must be JSON that fits this JSON Schema: {SCHEMA}\n\nThis reply does not fit:\n\
         The required parameter `n` is missing\n\nReply with the corrected JSON and nothing else."
    )
}

#[test]
fn a_reply_that_does_not_fit_is_corrected() {
    let folder = folder();
    let server = start_server(&[
        (200, text_reply("{}")),
        (200, text_reply("```json\n{\"n\": 2}\n```")),
    ]);
    let recording = ["--record-http", "exchanges.jsonl"];
    let (run, said) = ask(&server, folder.path(), &recording);
    assert_eq!((run.status, &*run.stderr), (Some(0), ""), "{}", run.stdout);
    assert_eq!(
        texts(&said),
        ["Count.", "{}", &correction(), "```json\n{\"n\": 2}\n```"]
    );
    let result = said.last().unwrap();
    assert_eq!(result["subtype"], "success");
    assert_eq!(result["structured_output"], json!({"n": 2}));
    assert_eq!(result["num_turns"], 2);
    assert_eq!(result["usage"]["input_tokens"], 22);
    let replies = said.iter().filter(|record| record["type"] == "assistant");
    let ids: Vec<&Value> = replies.map(|reply| &reply["message"]["id"]).collect();
    assert_ne!(ids[0], ids[1]);
    let asked = server.bodies.lock().unwrap();
    let messages = asked[1]["messages"].as_array().unwrap();
    assert_eq!(
        messages[2..],
        [
            json!({"role": "assistant", "content": "{}"}),
            json!({"role": "user", "content": correction()}),
        ]
    );

    // The recording is replayed in the same directory, and the session is complete.
    let replay = [
        "turn",
        "--model",
        "replay:exchanges.jsonl",
        "--output-schema",
        "schema.json",
    ];
    let mut again = server.command(&[&replay[..], &["--prompt", "Count.", "--no-stream"]].concat());
    again.current_dir(folder.path()).env("HOME", folder.path());
    let again = run_with_input(again, "");
    assert_eq!(again.status, Some(0), "{}", again.stderr);
    assert_eq!(texts(&records(&again.stdout)), texts(&said));
    assert_eq!(append_run(folder.path(), &run), Some(10));
}

/// Returns the status of a loop after this reply.
fn append_run(folder: &Path, run: &Run) -> Option<i32> {
    let mut command = crate::turnpipe::command();
    let arguments = ["session", "append", "s.jsonl", "--exit-status", "--no-echo"];
    command
        .args(arguments)
        .current_dir(folder)
        .env("HOME", folder);
    run_with_input(command, &run.stdout).status
}

#[test]
fn a_reply_that_never_fits_has_its_own_status() {
    let table: [(&[&str], usize); 3] = [
        (&[], 3),
        // Corrections count as turns and use up budgets.
        (&["--max-turns", "2"], 2),
        (&["--max-session-tokens", "14"], 1),
    ];
    for (arguments, requests) in table {
        let folder = folder();
        let server = start_server(&[(200, text_reply("no"))]);
        let (run, said) = ask(&server, folder.path(), arguments);
        assert_eq!(run.status, Some(7), "{}", run.stderr);
        let problem = "The reply is not JSON: expected ident at line 1 column 2";
        assert_eq!(
            run.stderr,
            format!("turnpipe: the last reply does not fit the schema: {problem}\n")
        );
        let result = said.last().unwrap();
        assert_eq!(result["subtype"], "error_max_structured_output_retries");
        assert_eq!(result["errors"], json!([problem]));
        assert_eq!(result["num_turns"], requests);
        assert_eq!(server.bodies.lock().unwrap().len(), requests);
        assert_eq!(append_run(folder.path(), &run), Some(11));
    }
}

#[test]
fn a_schema_does_not_prevent_calls_or_streams() {
    let folder = folder();
    let chunk = |choice: Value| format!("data: {}\n\n", json!({ "choices": [choice] }));
    let body = [
        chunk(json!({"index": 0, "delta": {"content": "{\"n\":"}})),
        chunk(json!({"index": 0, "delta": {"content": "7}"}, "finish_reason": "stop"})),
        "data: [DONE]\n\n".to_owned(),
    ];
    let stream = format!(
        "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{}",
        body.concat()
    );
    let arguments = json!({"command": "pwd"}).to_string();
    let call = json!({"id": "a", "type": "function", "function": {"name": "Bash", "arguments": arguments}});
    let calls =
        completion(&json!({"role": "assistant", "content": "I look.", "tool_calls": [call]}));
    let server = start_server(&[(200, calls), (200, stream)]);
    let (run, said) = ask(&server, folder.path(), &[]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let result = said.last().unwrap();
    assert_eq!(
        (result["subtype"].as_str(), result.get("structured_output")),
        (Some("success"), None)
    );
    let (run, said) = {
        let run = run_with_input(
            command(
                &server,
                folder.path(),
                "openai:gpt-4.1",
                &["--prompt", "x", "--partial"],
            ),
            "",
        );
        let said = records(&run.stdout);
        (run, said)
    };
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert_eq!(said.last().unwrap()["structured_output"], json!({"n": 7}));
    for body in &*server.bodies.lock().unwrap() {
        assert_eq!(body["response_format"]["json_schema"]["strict"], true);
        assert!(body["tools"].is_array(), "{body}");
    }
}

/// Every API: the reply `text` in its form, the member that it calls a schema, and a refusal of it.
fn apis() -> [(&'static str, &'static str, Value, Value); 5] {
    let error =
        |message: &str| json!({"error": {"message": message, "type": "invalid_request_error"}});
    let chat = |text: Value| json!({"message": {"role": "assistant", "content": text}, "done": true, "done_reason": "stop"});
    [
        (
            "openai:gpt-4.1",
            "/response_format",
            serde_json::from_str(&text_reply("$TEXT")).unwrap(),
            error("Invalid schema for response_format 'reply'"),
        ),
        (
            "responses:gpt-4.1",
            "/text/format",
            json!({"status": "completed", "output": [{"type": "message", "role": "assistant",
                "content": [{"type": "output_text", "text": "$TEXT"}]}]}),
            error("Unsupported parameter: 'text.format' is not supported with this model."),
        ),
        (
            "anthropic:claude-haiku-4-5",
            "/output_config",
            json!({"type": "message", "role": "assistant", "stop_reason": "end_turn",
                "content": [{"type": "text", "text": "$TEXT"}]}),
            json!({"type": "error", "error": {"type": "invalid_request_error",
                "message": "output_config: Extra inputs are not permitted"}}),
        ),
        (
            "gemini:gemini-2.5-flash",
            "/generationConfig/responseMimeType",
            json!({"candidates": [{"finishReason": "STOP",
                "content": {"role": "model", "parts": [{"text": "$TEXT"}]}}]}),
            json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message":
                "Function calling with a response mime type: 'application/json' is unsupported"}}),
        ),
        (
            "ollama:llama3",
            "/format",
            chat("$TEXT".into()),
            json!({"error": "invalid JSON schema in format"}),
        ),
    ]
}

/// Where a server refuses a schema, it is in the instructions, and the reply is checked all the same.
#[test]
fn every_api_works_with_and_without_a_schema_of_its_own() {
    for (model, member, reply, refusal) in apis() {
        for refuses in [false, true] {
            let folder = folder();
            let (reply, refusal) = (reply.clone(), refusal.clone());
            let server = Server::start(
                Duration::ZERO,
                Box::new(move |body| {
                    let with_tools = body.get("tools").is_some();
                    if refuses && body.pointer(member).is_some() && with_tools {
                        return (400, refusal.to_string());
                    }
                    let corrected = body.to_string().contains("This reply does not fit");
                    let text = if corrected {
                        r#"{\"n\":3}"#
                    } else {
                        "I think."
                    };
                    (200, reply.to_string().replace("$TEXT", text))
                }),
            );
            let arguments = ["--prompt", "Count.", "--no-stream", "--tools-only", "Read"];
            let run = run_with_input(command(&server, folder.path(), model, &arguments), "");
            assert_eq!(run.status, Some(0), "{model}: {}", run.stderr);
            let result = records(&run.stdout).pop().unwrap();
            assert_eq!(result["structured_output"], json!({"n": 3}), "{model}");
            let asked = server.bodies.lock().unwrap();
            let has_schema = asked[0].pointer(member).is_some();
            assert_eq!(has_schema, !model.starts_with("ollama"), "{model}");
            let in_words = asked
                .iter()
                .any(|body| body.to_string().contains("has to fit this JSON Schema"));
            assert_eq!(in_words, refuses || !has_schema, "{model}");
            assert!(
                asked.len() <= if refuses { 4 } else { 2 },
                "{model}: {}",
                asked.len()
            );
        }
    }
}

#[test]
fn a_schema_is_read_before_anything_else() {
    let server = start_server(&[(200, text_reply("{}"))]);
    let wrong = [
        (
            "{",
            "not a usable JSON Schema: EOF while parsing an object at line 1 column 1",
        ),
        (r#"{"type":"text"}"#, "not a usable JSON Schema: "),
    ];
    for (schema, reason) in wrong {
        let folder = folder();
        fs::write(folder.path().join("schema.json"), schema).unwrap();
        let (run, said) = ask(&server, folder.path(), &[]);
        assert_eq!((run.status, said.len()), (Some(2), 0));
        let start = format!("turnpipe: --output-schema: schema.json: {reason}");
        assert!(run.stderr.starts_with(&start), "{}", run.stderr);
    }
    let folder = folder();
    let (run, said) = ask(&server, folder.path(), &["--dry-run"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(said[0]["response_format"].is_object());
    assert!(server.bodies.lock().unwrap().is_empty());
}
