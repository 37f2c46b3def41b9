//! Requests to models through the binary: configuration, keys, recordings and the exit status.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::JoinHandle;

use serde_json::{Value, json};

#[path = "skip/mod.rs"]
mod skip;

const CANARY: &str = "sk-canary-0123456789";

/// Returns a session in which the user asks for `what`.
fn session(folder: &Path, what: &str) -> String {
    let path = folder.join(format!("{what}.jsonl"));
    let asked = json!({"role": "user", "content": format!("Port the {what} to Rust, please")});
    let asked = json!({"type": "user", "uuid": "a", "sessionId": "s", "message": asked});
    let said = json!([{"type": "text", "text": "I have ported it."}]);
    let said = json!({"id": "m", "role": "assistant", "content": said});
    let said = json!({"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "s", "message": said});
    fs::write(&path, format!("{asked}\n{said}\n")).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Starts a server that sends these responses, one per request. Returns the requests.
fn server(answers: Vec<(u16, String)>) -> (u16, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        let mut asked = Vec::new();
        for (status, body) in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            loop {
                let count = stream.read(&mut buffer).unwrap();
                request.extend_from_slice(&buffer[..count]);
                let text = String::from_utf8_lossy(&request);
                let whole = text
                    .split_once("\r\n\r\n")
                    .is_some_and(|(_, body)| serde_json::from_str::<Value>(body).is_ok());
                if whole || count == 0 {
                    break;
                }
            }
            asked.push(String::from_utf8(request).unwrap());
            let length = body.len();
            write!(
                stream,
                "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-type: application/json\r\n\
                 content-length: {length}\r\n\r\n{body}"
            )
            .unwrap();
        }
        asked
    });
    (port, thread)
}

const TITLE: &str = r#"{"title":"Port the parser"}"#;

fn reply() -> String {
    json!({
        "choices": [{"message": {"content": TITLE}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2},
    })
    .to_string()
}

/// Returns a response of Ollama, which needs no key.
fn ollama_said() -> String {
    json!({"message": {"role": "assistant", "content": TITLE}, "done": true, "done_reason": "stop"})
        .to_string()
}

/// Runs `title` in exactly this environment.
fn title(arguments: &[&str], environment: &[(&str, &str)], session: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_turnpipe"))
        .args(["title", "-o", "jsonl", session])
        .args(arguments)
        .env_clear()
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn output_text(output: &Output) -> String {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    format!("{stdout}{stderr}")
}

fn record(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn an_exchange_is_recorded_and_replayed_without_network_key_or_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    let recording = folder.path().join("recording.jsonl");
    let (port, server) = server(vec![(200, reply())]);
    let text = format!(
        "fast_model = \"lab:m\"\n[providers.lab]\npreset = \"vllm\"\n\
         base_url = \"http://127.0.0.1:{port}/v1\"\napi_key_cmd = \"echo {CANARY}\"\n\
         headers = {{ X-Team = \"team-canary\" }}\n[providers.lab.dialect]\nbudget_key = \"n\"\n"
    );
    fs::write(&config, text).unwrap();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let parser = session(folder.path(), "parser");
    let live = title(
        &[
            "--config",
            &path(&config),
            "--record-http",
            &path(&recording),
        ],
        &[("PATH", &skip::search_path())],
        &parser,
    );
    assert!(live.status.success(), "{}", output_text(&live));
    assert_eq!(record(&live)["title"], "Port the parser");
    assert_eq!(record(&live)["model"], "lab:m");
    let asked = server.join().unwrap().remove(0);
    assert!(
        asked.contains(&format!("authorization: Bearer {CANARY}")),
        "{asked}"
    );
    assert!(
        asked.contains("x-team: team-canary") && asked.contains("\"n\":100"),
        "{asked}"
    );

    let replay = format!("replay:{}", path(&recording));
    let again = title(&["--model", &replay], &[], &parser);
    assert_eq!(again.stdout, live.stdout, "{}", output_text(&again));
    assert!(!fs::read_to_string(&recording).unwrap().contains("canary"));

    let other = session(folder.path(), "printer");
    let unknown = title(&["-v", "--model", &replay], &[], &other);
    assert_eq!(unknown.status.code(), Some(4));
    let shown = output_text(&unknown);
    assert!(shown.contains("the nearest request differs in "), "{shown}");
    assert!(
        shown.contains("the parser") && shown.contains("the printer"),
        "{shown}"
    );
}

#[test]
fn localhost_resolves_without_any_environment() {
    let (port, server) = server(vec![(200, ollama_said())]);
    let base = format!("http://localhost:{port}");
    let folder = tempfile::tempdir().unwrap();
    let parser = session(folder.path(), "parser");
    let output = title(&["--model", "ollama:m"], &[("OLLAMA_HOST", &base)], &parser);
    assert!(output.status.success(), "{}", output_text(&output));
    assert_eq!(record(&output)["title"], "Port the parser");
    server.join().unwrap();
}

#[test]
fn an_unknown_host_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    fs::write(&config, "[http]\nconnect_timeout_ms = 2000\n").unwrap();
    let arguments = ["--config", config.to_str().unwrap(), "--model", "ollama:m"];
    let host = [("OLLAMA_HOST", "http://no-such-host.invalid")];
    let output = title(&arguments, &host, &session(folder.path(), "parser"));
    assert_eq!(output.status.code(), Some(5), "{}", output_text(&output));
    let reason = record(&output)["error"].as_str().unwrap().to_owned();
    // Without a name server, the connection timeout expires first.
    assert!(
        reason.contains("lookup address") || reason.contains("no response within 2000 ms"),
        "{reason}"
    );
}

#[test]
fn invalid_arguments_are_reported_before_anything_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let parser = session(folder.path(), "parser");
    let rows: [(&[&str], &str); 4] = [
        (&["--model", "gpt-5"], "not a model: `gpt-5`"),
        (&["--model", "opnai:m"], "did you mean `openai`?"),
        (
            &["--model", "openai:m"],
            "no key for openai: set OPENAI_API_KEY",
        ),
        (
            &["--model", "replay:/nonexistent"],
            "recording /nonexistent: ",
        ),
    ];
    for (arguments, expected) in rows {
        let output = title(arguments, &[], &parser);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            output_text(&output).contains(expected),
            "{}",
            output_text(&output)
        );
    }
}

#[test]
fn a_dry_run_prints_the_body_and_needs_no_key() {
    let folder = tempfile::tempdir().unwrap();
    let prompt = folder.path().join("prompt.md");
    fs::write(&prompt, "Be brief.").unwrap();
    let output = title(
        &[
            "--model",
            "anthropic:claude-haiku-4-5",
            "--dry-run",
            "--prompt-file",
            prompt.to_str().unwrap(),
        ],
        &[],
        &session(folder.path(), "parser"),
    );
    assert!(output.status.success(), "{}", output_text(&output));
    let body = record(&output);
    assert_eq!(body["model"], "claude-haiku-4-5");
    assert_eq!(body["max_tokens"], 100);
    let system = body["system"][0]["text"].as_str().unwrap();
    assert!(system.starts_with("Be brief."), "{system}");
    let asked = body["messages"][0]["content"][0]["text"].as_str().unwrap();
    assert!(
        asked.contains("User: Port the parser to Rust, please"),
        "{asked}"
    );
}
