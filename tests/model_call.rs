//! Asking a model from outside: configuration, keys, recordings and the exit status.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::JoinHandle;

use serde_json::{Value, json};

const CANARY: &str = "sk-canary-0123456789";
const REQUEST: &str = r#"{"system":"Be brief.","messages":[{"role":"user","content":"Hello"}]}"#;

/// Answers one request for each body, and returns what was asked.
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

fn said(text: &str) -> String {
    json!({
        "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2},
    })
    .to_string()
}

/// What Ollama says, which needs no key.
fn ollama_said(text: &str) -> String {
    json!({"message": {"role": "assistant", "content": text}, "done": true, "done_reason": "stop"})
        .to_string()
}

fn call(arguments: &[&str], environment: &[(&str, &str)], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_turnpipe"))
        .arg("model-call")
        .args(arguments)
        .env_clear()
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn shown(output: &Output) -> String {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    format!("{stdout}{stderr}")
}

fn reply(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_call_is_recorded_and_replayed_without_network_key_or_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    let recording = folder.path().join("recording.jsonl");
    let (port, server) = server(vec![(200, said("Hi"))]);
    let text = format!(
        "model = \"lab:m\"\n[providers.lab]\npreset = \"vllm\"\n\
         base_url = \"http://127.0.0.1:{port}/v1\"\napi_key_cmd = \"echo {CANARY}\"\n\
         headers = {{ X-Team = \"team-canary\" }}\n[providers.lab.dialect]\nbudget_key = \"n\"\n"
    );
    fs::write(&config, text).unwrap();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let live = call(
        &[
            "--config",
            &path(&config),
            "--record-http",
            &path(&recording),
        ],
        &[("PATH", "/usr/bin:/bin")],
        REQUEST,
    );
    assert!(live.status.success(), "{}", shown(&live));
    assert_eq!(reply(&live)["text"], "Hi");
    assert_eq!(reply(&live)["model_used"], "lab:m");
    let asked = server.join().unwrap().remove(0);
    assert!(
        asked.contains(&format!("authorization: Bearer {CANARY}")),
        "{asked}"
    );
    assert!(
        asked.contains("x-team: team-canary") && asked.contains("\"n\":300"),
        "{asked}"
    );

    let replay = format!("replay:{}", path(&recording));
    let again = call(&["--model", &replay], &[], REQUEST);
    assert_eq!(again.stdout, live.stdout, "{}", shown(&again));
    assert!(!fs::read_to_string(&recording).unwrap().contains("canary"));

    let other = REQUEST.replace("Hello", "Goodbye");
    let unknown = call(&["--model", &replay], &[], &other);
    assert_eq!(unknown.status.code(), Some(4));
    let shown = shown(&unknown);
    assert!(shown.contains("differs in 2 lines"), "{shown}");
    assert!(
        shown.contains("Hello") && shown.contains("Goodbye"),
        "{shown}"
    );
}

#[test]
fn this_machine_is_found_by_name_without_any_environment() {
    let (port, server) = server(vec![(200, ollama_said("Hi"))]);
    let base = format!("http://localhost:{port}");
    let output = call(&["--model", "ollama:m"], &[("OLLAMA_HOST", &base)], REQUEST);
    assert!(output.status.success(), "{}", shown(&output));
    assert_eq!(reply(&output)["text"], "Hi");
    server.join().unwrap();
}

#[test]
fn a_host_without_an_address_is_said_to_be_one() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    fs::write(&config, "[http]\nconnect_timeout_ms = 2000\n").unwrap();
    let arguments = ["--config", config.to_str().unwrap(), "--model", "ollama:m"];
    let host = [("OLLAMA_HOST", "http://no-such-host.invalid")];
    let output = call(&arguments, &host, REQUEST);
    assert_eq!(output.status.code(), Some(5), "{}", shown(&output));
    let reason = reply(&output)["reason"].as_str().unwrap().to_owned();
    // Where no name server answers, the time for the connection ends first.
    assert!(
        reason.contains("lookup address") || reason.contains("no answer within 2000 ms"),
        "{reason}"
    );
}

#[test]
fn the_exit_status_tells_what_another_try_is_good_for() {
    let refusal = json!({"error": {"message": format!("Incorrect API key: {CANARY}")}}).to_string();
    let spent = json!({"error": {"message": "gone", "code": "insufficient_quota"}}).to_string();
    for (status, body, expected) in [
        (401, refusal.clone(), 4),
        (429, spent, 4),
        (500, refusal, 5),
        (200, "<html>".to_owned(), 4),
    ] {
        let (port, server) = server(vec![(status, body)]);
        let output = call(
            &["--model", "openai:m"],
            &[
                ("OPENAI_API_KEY", CANARY),
                ("OPENAI_BASE_URL", &format!("http://127.0.0.1:{port}/v1")),
            ],
            REQUEST,
        );
        assert_eq!(output.status.code(), Some(expected), "{}", shown(&output));
        assert!(!shown(&output).contains("canary"), "{}", shown(&output));
        assert_eq!(server.join().unwrap().len(), 1);
    }
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let nobody = call(
        &["--model", "ollama:m"],
        &[("OLLAMA_HOST", &format!("127.0.0.1:{port}"))],
        REQUEST,
    );
    assert_eq!(nobody.status.code(), Some(5), "{}", shown(&nobody));
}

#[test]
fn what_makes_no_sense_is_told_before_anything_is_sent() {
    let rows: [(&[&str], &str); 6] = [
        (&[], "no model was chosen"),
        (&["--model", "gpt-5"], "not a model: `gpt-5`"),
        (&["--model", "opnai:m"], "did you mean `openai`?"),
        (
            &["--model", "openai:m"],
            "no key for openai: set OPENAI_API_KEY",
        ),
        (&["--model", "builtin"], "builtin answers no requests"),
        (
            &["--model", "replay:/nonexistent"],
            "recording /nonexistent: ",
        ),
    ];
    for (arguments, expected) in rows {
        let output = call(arguments, &[], REQUEST);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(shown(&output).contains(expected), "{}", shown(&output));
    }
}

#[test]
fn a_dry_run_prints_the_exact_body_and_needs_no_key() {
    let output = call(
        &["--model", "anthropic:claude-haiku-4-5", "--dry-run"],
        &[],
        REQUEST,
    );
    assert!(output.status.success(), "{}", shown(&output));
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        concat!(
            r#"{"model":"claude-haiku-4-5","max_tokens":300,"stream":false,"#,
            r#""system":[{"type":"text","text":"Be brief."}],"#,
            r#""messages":[{"role":"user","content":[{"type":"text","text":"Hello"}]}]}"#,
            "\n"
        )
    );
}
