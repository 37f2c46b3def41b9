//! A model that judges calls which the rules leave open.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use crate::bench::{Bench, Run, bash, pairs};

/// A server that answers questions as `reply` says, and tells what was asked.
fn server(reply: fn(&str) -> &'static str) -> (String, Receiver<String>) {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", server.local_addr().unwrap());
    let (asked, questions) = channel();
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let (mut stream, asked) = (stream.unwrap(), asked.clone());
            std::thread::spawn(move || {
                let mut request = Vec::new();
                let body = loop {
                    let mut piece = [0; 4096];
                    let length = stream.read(&mut piece).unwrap();
                    request.extend(&piece[..length]);
                    let text = String::from_utf8_lossy(&request).into_owned();
                    let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
                    if let Some(Ok(body)) = body.map(|body| serde_json::from_str::<Value>(&body)) {
                        break body;
                    }
                };
                let question =
                    body["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
                let answer = json!({"choices": [{"message": {"role": "assistant", "content": reply(&question)}, "finish_reason": "stop"}]}).to_string();
                let _ = asked.send(question);
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{answer}",
                    answer.len()
                );
            });
        }
    });
    (address, questions)
}

fn judged(bench: &Bench, address: &str, further: &[&str], calls: &str) -> Run {
    let arguments = ["--permission-mode", "auto", "--judge", "openai:small"];
    let mut command = bench.run_tools(&[&arguments[..], further].concat());
    command
        .env("OPENAI_BASE_URL", address)
        .env("OPENAI_API_KEY", "sk-0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(calls.as_bytes())
        .unwrap();
    Run::of(&child.wait_with_output().unwrap())
}

fn strict(question: &str) -> &'static str {
    let (_, call) = question.rsplit_once("The call:").unwrap();
    match (call.contains("touch good"), call.contains("one word")) {
        (true, _) => "allow",
        (false, true) => "block",
        (false, false) => "It writes a file.\nblock: writes a file that nobody asked for",
    }
}

#[test]
fn a_judge_decides_what_rules_leave_open() {
    let bench = Bench::new();
    let (address, questions) = server(strict);
    let calls = bash("a", "touch good") + &bash("b", "touch other") + &bash("c", "ls");
    let run = judged(&bench, &address, &[], &calls);
    assert_eq!(
        run.outcomes(),
        pairs(&[("a", "ok"), ("b", "denied"), ("c", "ok")]),
        "{run:?}"
    );
    let by = |id: &str| run.result(id)["turnpipe"]["permission"]["by"].clone();
    assert_eq!(by("a"), json!({"mode": "auto"}));
    assert_eq!(by("c"), json!({"builtin": "read-only"}));
    assert!(
        run.content("b")
            .contains("writes a file that nobody asked for"),
        "{run:?}"
    );
    let asked: Vec<String> = questions.try_iter().collect();
    assert_eq!(
        asked.len(),
        3,
        "one question about the first call, two about the second"
    );
    assert!(
        asked.last().unwrap().contains("touch good"),
        "the call before is shown"
    );
}

#[test]
fn rules_are_above_the_judge() {
    let bench = Bench::new();
    let (address, questions) = server(|_| "allow");
    let rules = [
        "--deny",
        "Bash(touch a)",
        "--ask",
        "Bash(touch b)",
        "--allow",
        "Bash(touch c)",
    ];
    let calls = bash("a", "touch a") + &bash("b", "touch b") + &bash("c", "touch c");
    let run = judged(&bench, &address, &rules, &calls);
    let expected = [("a", "denied"), ("b", "denied"), ("c", "ok")];
    assert_eq!(run.outcomes(), pairs(&expected), "{run:?}");
    assert_eq!(questions.try_iter().count(), 0);
}

#[test]
fn a_judge_that_keeps_saying_no_is_asked_no_more() {
    let bench = Bench::new();
    let (address, questions) = server(strict);
    let calls: String = (0..5)
        .map(|number| bash(&format!("c{number}"), &format!("touch x{number}")))
        .collect();
    let run = judged(&bench, &address, &[], &calls);
    assert!(
        run.outcomes()
            .iter()
            .all(|(_, outcome)| outcome == "denied"),
        "{run:?}"
    );
    assert_eq!(
        questions.try_iter().count(),
        6,
        "three calls, two questions each"
    );
}

#[test]
fn without_a_judge_the_mode_is_an_error_and_without_an_answer_a_denial() {
    let bench = Bench::new();
    let run = bench.run(&["--permission-mode", "auto"], bash("a", "touch made"));
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("needs a model"), "{run:?}");
    let run = judged(
        &bench,
        "http://127.0.0.1:9/v1",
        &[],
        &bash("a", "touch made"),
    );
    assert_eq!(run.outcomes(), pairs(&[("a", "denied")]), "{run:?}");
    assert!(run.stderr.contains("judge:"), "{run:?}");
    assert!(!bench.work().join("made").exists());
}
