//! `aimock`: five dialects, including Ollama's own, with scripted replies to the
//! user's text.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde_json::json;
use turnpipe::client::model::{
    CallInput, Delivery, Failure, Function, Provider, ReplyEvent, ReplyForm, ReplyPart, Request,
    Retryability,
};
use turnpipe::io::CancelToken;

use crate::models::{forced_request, model, request};
use crate::server::Server;

const DIALECTS: [(&str, &str); 5] = [
    ("openai", "/v1"),
    ("responses", "/v1"),
    ("anthropic", ""),
    ("gemini", ""),
    ("ollama", ""),
];

pub(crate) fn run(folder: &Path) {
    for (provider, base) in DIALECTS {
        // One server each: sequences of replies are counted.
        let server = start(folder);
        let asked = ask(provider, &model(provider, &server.url(base)));
        println!("aimock, {provider}: {asked} requests as expected");
    }
}

pub(crate) fn start(folder: &Path) -> Server {
    let scratch = tempfile::tempdir().unwrap();
    let config = scratch.path().join("config.json");
    let fixtures = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/independent_servers/fixtures"
    );
    let settings = json!({"llm": {"fixtures": fixtures, "chunkSize": 8}});
    std::fs::write(&config, settings.to_string()).unwrap();
    // The server only listens after it has read everything.
    Server::start(|port| {
        let script = "aimock/node_modules/@copilotkit/aimock/dist/aimock-cli.js";
        let mut command = Command::new("node");
        command
            .arg(folder.join(script))
            .arg("--config")
            .arg(&config);
        command.args(["--host", "127.0.0.1", "--port", port]);
        command
    })
}

/// Streams a reply. Returns its text and its thinking.
fn stream(model: &Arc<dyn Provider>, request: &Request) -> (Result<String, Failure>, usize) {
    let mut parts = 0;
    let reply = model.ask(
        request,
        Delivery::Streamed,
        &CancelToken::default(),
        &mut |event| match event {
            ReplyEvent::Restart => parts = 0,
            ReplyEvent::Part(ReplyPart::Text(_)) => parts += 1,
            _ => {}
        },
    );
    (reply.map(|reply| reply.text), parts)
}

fn ask(provider: &str, model: &Arc<dyn Provider>) -> usize {
    let complete = |request: &Request| model.complete(request, &CancelToken::default());
    let mut asked = 0;
    for number in 0..5 {
        let text = format!("Hello, {number}");
        assert_eq!(
            complete(&request(&text)).unwrap().text,
            "Searched in auth/",
            "{provider}"
        );
        let (said, parts) = stream(model, &request(&text));
        assert_eq!(said.unwrap(), "Searched in auth/", "{provider}");
        assert!(parts > 1, "{provider}: {parts}");
        asked += 2;
    }
    // JavaScript splits strings inside a surrogate pair.
    let (said, _) = stream(model, &request("EMOJI"));
    assert_eq!(said.unwrap(), "a😀b😀c😀d😀e😀f😀g", "{provider}");
    assert_eq!(
        complete(&request("BUSY_ONCE")).unwrap().text,
        "Answered the second time"
    );
    let failure = complete(&request("WRONG_KEY")).unwrap_err();
    assert!(
        matches!(
            failure,
            Failure::Rejected {
                status: Some(401),
                ..
            }
        ),
        "{provider}: {failure:?}"
    );
    let once = Request {
        attempts: turnpipe::client::model::Attempts::One,
        ..request("BUSY_ALWAYS")
    };
    assert_eq!(
        complete(&once).unwrap_err().retryability(),
        Retryability::Temporary,
        "{provider}"
    );
    for text in ["CUT_OFF", "HANG_UP"] {
        let cut = Request {
            attempts: turnpipe::client::model::Attempts::One,
            ..request(text)
        };
        let failure = stream(model, &cut).0.unwrap_err();
        assert!(
            matches!(failure, Failure::Cut { .. }),
            "{provider}: {text}: {failure:?}"
        );
    }
    asked += 7;
    let reply = complete(&request("THOUGHTS")).unwrap();
    assert_eq!(reply.text, "Said aloud", "{provider}");
    // Hostile text arrives unchanged. Cleaning is the job of the program that displays it.
    assert_eq!(
        complete(&request("HOSTILE")).unwrap().text,
        "\u{1b}]0;title\u{7}red\u{1b}[31m"
    );
    let calls = Request {
        form: ReplyForm::Tools(vec![Function {
            name: "read_file".to_owned(),
            description: "Reads".to_owned(),
            parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        }]),
        ..request("TWO_CALLS")
    };
    for delivery in [Delivery::Whole, Delivery::Streamed] {
        let reply = model.ask(&calls, delivery, &CancelToken::default(), &mut |_| ());
        let reply = reply.unwrap();
        let inputs: Vec<String> = reply
            .calls
            .iter()
            .map(|call| match &call.input {
                CallInput::Object(raw) => {
                    let value: serde_json::Value = serde_json::from_str(raw.get()).unwrap();
                    format!("{}:{}", call.name, value["path"].as_str().unwrap())
                }
                CallInput::Unusable(text) => text.clone(),
            })
            .collect();
        assert_eq!(inputs, ["read_file:ä.txt", "read_file:b.txt"], "{provider}");
        assert_ne!(reply.calls[0].id, reply.calls[1].id, "{provider}");
    }
    asked += 4;
    let titled = complete(&forced_request("Name it"));
    if provider == "ollama" {
        // This API cannot force a call and requests JSON instead, which this server does not support.
        assert_eq!(titled.unwrap().text, "Searched in auth/");
    } else {
        let answer = titled
            .unwrap()
            .structured_output("respond_in_schema")
            .unwrap();
        assert_eq!(answer["title"], "Fix the log-in form", "{provider}");
    }
    asked + 1
}
