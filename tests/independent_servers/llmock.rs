//! `llmock`: four dialects, faults on demand, and a grade for the client.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use serde_json::{Value, json};
use turnpipe::client::model::{
    Delivery, Failure, Provider, Reply, ReplyEvent, ReplyPart, Request, Retryability,
};
use turnpipe::io::CancelToken;

use crate::models::{forced_request, model, request};
use crate::server::Server;

/// Dialects: the provider, its address on the server, and the path of its requests.
const DIALECTS: [(&str, &str, &str); 4] = [
    ("openai", "/v1", "/v1/chat/completions"),
    ("responses", "/v1", "/v1/responses"),
    ("anthropic", "/anthropic", "/anthropic/v1/messages"),
    ("gemini", "/gemini", "/gemini/v1beta/models/m:"),
];

fn program(folder: &Path) -> PathBuf {
    folder.join("llmock/bin/llmock")
}

pub(crate) fn start(folder: &Path, options: &[&str]) -> Server {
    Server::start(|port| {
        let mut command = Command::new(program(folder));
        command.args(["serve", "--host", "127.0.0.1", "--port", port]);
        command.args(options);
        command
    })
}

/// Returns the server's grade of its client, as text.
pub(crate) fn grade(folder: &Path, server: &Server) -> String {
    let report = Command::new(program(folder))
        .args(["report", "--url", &server.url("")])
        .output()
        .unwrap();
    let grade = String::from_utf8(report.stdout).unwrap();
    println!("{grade}");
    assert!(report.status.success(), "{grade}");
    grade
}

pub(crate) fn run(folder: &Path) {
    let server = start(folder, &[]);
    for (provider, base, path) in DIALECTS {
        let model = model(provider, &server.url(base));
        check_replies(provider, &model);
        check_faults(provider, &server, &model);
        let journal: Value =
            serde_json::from_str(&server.ask("GET", "/_llmock/requests", "")).unwrap();
        let journal = journal
            .as_array()
            .or_else(|| journal["requests"].as_array())
            .unwrap();
        let asked = journal
            .iter()
            .filter(|entry| {
                entry["path"]
                    .as_str()
                    .is_some_and(|asked| asked.starts_with(path))
            })
            .count();
        println!("llmock, {provider}: {asked} requests");
        assert!(asked >= 20, "{provider}: {asked}");
    }
    grade(folder, &server);
}

fn complete(model: &Arc<dyn Provider>, request: &Request) -> Result<Reply, Failure> {
    model.complete(request, &CancelToken::default())
}

/// Streams a reply, and checks that the events form it.
fn stream(model: &Arc<dyn Provider>, request: &Request) -> Result<Reply, Failure> {
    let mut text = String::new();
    let reply = model.ask(
        request,
        Delivery::Streamed,
        &CancelToken::default(),
        &mut |event| match event {
            ReplyEvent::Restart => text.clear(),
            ReplyEvent::Part(ReplyPart::Text(part)) => text.push_str(&part),
            _ => {}
        },
    )?;
    assert_eq!(text, reply.text);
    Ok(reply)
}

fn check_replies(provider: &str, model: &Arc<dyn Provider>) {
    for number in 0..4 {
        let reply = complete(model, &request(&format!("Say something, {number}"))).unwrap();
        assert!(!reply.text.is_empty(), "{provider}");
        assert!(
            reply.usage.input > 0 && reply.usage.output > 0,
            "{provider}: {reply:?}"
        );
        let reply = stream(model, &request(&format!("Stream something, {number}"))).unwrap();
        assert!(!reply.text.is_empty(), "{provider}");
        for reply in [
            complete(model, &forced_request(&format!("Name it, {number}"))).unwrap(),
            stream(
                model,
                &forced_request(&format!("Name it in parts, {number}")),
            )
            .unwrap(),
        ] {
            let answer = reply.structured_output("respond_in_schema").unwrap();
            assert!(answer["title"].is_string(), "{provider}: {answer}");
        }
    }
}

fn check_faults(provider: &str, server: &Server, model: &Arc<dyn Provider>) {
    let script = |behavior: Value| {
        let scenario = json!({"behaviors": [behavior]}).to_string();
        server.ask("POST", "/_llmock/scenario", &scenario);
    };
    // Temporary faults: the reply arrives eventually.
    for (number, status) in [429, 503, 500].into_iter().enumerate() {
        script(json!({"type": "fail", "status": status, "retry_after": 0.4, "times": 2}));
        let reply = complete(model, &request(&format!("Busy, {number}")));
        assert!(reply.is_ok(), "{provider}: {reply:?}");
    }
    script(json!({"type": "fail", "status": 529, "times": 1}));
    assert!(stream(model, &request("Overloaded")).is_ok(), "{provider}");
    for kind in ["truncate", "disconnect", "malformed"] {
        script(json!({"type": "stream_fault", "kind": kind, "after_chunks": 2}));
        let reply = stream(model, &request(&format!("Then {kind}")));
        assert!(reply.is_ok(), "{provider}, {kind}: {reply:?}");
    }
    script(
        json!({"type": "stream_fault", "kind": "stall", "after_chunks": 2, "stall_seconds": 30}),
    );
    assert!(
        stream(model, &request("Then nothing for long")).is_ok(),
        "{provider}"
    );
    // Permanent faults: one request, and a reason.
    for status in [400, 401, 403, 404, 422] {
        script(json!({"type": "fail", "status": status}));
        let failure = complete(model, &request(&format!("Wrong, {status}"))).unwrap_err();
        assert_eq!(
            failure.retryability(),
            Retryability::Permanent,
            "{provider}: {failure}"
        );
        let told =
            matches!(&failure, Failure::Rejected { status: Some(told), .. } if *told == status);
        assert!(told, "{provider}: {failure:?}");
    }
}
