//! What a model was paid for is used: replies up to the token limit, labels and titles of earlier runs.

use std::collections::HashMap;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::agent_script::wait_until;
use crate::files::{TALK, claude, qwen, records, stream, write};
use crate::server::{Server, completion, run_with_input, text_reply, titles};
use crate::turnpipe::run;

/// Returns a server whose replies all stop at the token limit.
fn token_limited_server(text: &str) -> Server {
    let reply = completion(&json!({"role": "assistant", "content": text}));
    let reply = reply.replace("\"stop\"", "\"length\"");
    Server::start(Duration::ZERO, Box::new(move |_| (200, reply.clone())))
}

#[test]
fn a_reply_up_to_the_token_limit_is_used_if_it_has_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "s.jsonl", &claude(&TALK));
    let path = path.to_str().unwrap();
    let recaps = [
        (
            "<recap>Porting it. Next, run the tests.</recap> I chose",
            Some("Porting it. Next, run the tests."),
        ),
        (
            "<recap>Porting the parser. Next, run",
            Some("Porting the parser. Next, run"),
        ),
        ("The user wants a recap of", None),
    ];
    for (text, recap) in recaps {
        let result = run_with_input(token_limited_server(text).command(&["recap", path]), "");
        let found = &records(&result.stdout)[0];
        assert_eq!(found["recap"].as_str(), recap, "{result:?}");
        assert_eq!(found["turnpipe"]["usage"]["input_tokens"], 11);
        assert_eq!(result.status, Some(if recap.is_some() { 0 } else { 4 }));
    }
    let title = "{\"title\": \"Port the parser\"} This title";
    let result = run_with_input(token_limited_server(title).command(&["title", path]), "");
    assert_eq!(records(&result.stdout)[0]["title"], "Port the parser");
    for (text, count) in [("Read a file\nThe calls", 1), ("Read a fi", 0)] {
        let result = run_with_input(
            token_limited_server(text).command(&["summarize-batch"]),
            &stream(1),
        );
        assert_eq!(
            result.stdout.matches("\"Read a file\"").count(),
            count,
            "{result:?}"
        );
    }
}

fn labels(output: &str) -> Vec<(Value, Value)> {
    let found = records(output).into_iter();
    let found = found.filter(|record| record["type"] == "tool_use_summary");
    found
        .map(|label| {
            (
                label["preceding_tool_use_ids"].clone(),
                label["summary"].clone(),
            )
        })
        .collect()
}

#[test]
fn recorded_labels_are_written_again_and_not_requested() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let path = path.to_str().unwrap();
    let server = Server::start(
        Duration::ZERO,
        Box::new(|_| (200, text_reply("Read a file"))),
    );
    let asked = || server.bodies.lock().unwrap().len();
    let label = |when: &str, input: &str| {
        let words = ["summarize-batch", "--record", path, "--emit", when];
        let result = run_with_input(server.command(&words), input);
        assert_eq!(result.status, Some(0), "{}", result.stderr);
        labels(&result.stdout)
    };
    let beside = || std::fs::read_to_string(format!("{path}.turnpipe")).unwrap();
    let mut first = label("turn", &stream(3));
    assert_eq!((first.len(), asked(), beside().lines().count()), (3, 3, 3));
    for when in ["turn", "ready"] {
        let mut again = label(when, &stream(3));
        again.sort_by_key(|(ids, _)| ids.to_string());
        first.sort_by_key(|(ids, _)| ids.to_string());
        assert_eq!(again, first, "{when}");
    }
    assert_eq!((asked(), beside().lines().count()), (3, 3));
    // New batches are requested; so are other calls with the same ids.
    assert_eq!(label("turn", &stream(4)).len(), 4);
    assert_eq!((asked(), beside().lines().count()), (4, 4));
    label("turn", &stream(1).replace("f0.rs", "other.rs"));
    assert_eq!(asked(), 5);
}

#[test]
fn the_labels_of_a_shown_session_are_not_requested_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.jsonl");
    let path = path.to_str().unwrap();
    let kept = run(&["session", "append", path], stream(3).as_bytes());
    assert_eq!(kept.status, Some(0), "{}", kept.stderr);
    let server = Server::start(
        Duration::ZERO,
        Box::new(|_| (200, text_reply("Read a file"))),
    );
    let words = ["summarize-batch", "--record", path];
    let first = labels(&run_with_input(server.command(&words), &stream(3)).stdout);
    let shown = run(&["session", "show", path, "--json"], b"").stdout;
    assert_eq!(labels(&shown), first);
    let result = run_with_input(server.command(&["summarize-batch"]), &shown);
    assert_eq!(labels(&result.stdout), first);
    assert_eq!(server.bodies.lock().unwrap().len(), 3);
}

/// A killed run leaves at most the requests in flight without a title.
#[test]
fn a_killed_run_continues_without_asking_twice() {
    const SESSIONS: usize = 300;
    const JOBS: usize = 4;
    const KILLS: [usize; 5] = [10, 61, 128, 200, 290];
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_str().unwrap();
    for number in 0..SESSIONS {
        let talk = qwen(&[&format!("Port parser number {number}."), "Done."]);
        let id = format!("22222222-{number:04}");
        write(
            folder.path(),
            &format!("s{number}.jsonl"),
            &talk.replace("22222222-2222", &id),
        );
    }
    let server = Server::start(
        Duration::ZERO,
        Box::new(|_| (200, titles("Port the parser"))),
    );
    let asked = || server.bodies.lock().unwrap().len();
    let words = ["title", "--write", "--root", root, "--jobs", "4"];
    for count in KILLS {
        let mut child = server.command(&words);
        let mut child = child
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        wait_until("a request", || asked() >= count);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let result = run_with_input(server.command(&words), "");
    assert_eq!(result.status, Some(0), "{}", result.stderr);
    let untitled = run(
        &["session", "list", "--root", root, "--untitled", "--json"],
        b"",
    );
    assert_eq!(untitled.stdout, "");
    let mut requests: HashMap<String, usize> = HashMap::new();
    for body in server.bodies.lock().unwrap().iter() {
        let text = body.to_string();
        let number = text.split("parser number ").nth(1).unwrap();
        *requests
            .entry(number.split('.').next().unwrap().to_owned())
            .or_default() += 1;
    }
    assert_eq!(requests.len(), SESSIONS);
    let again: usize = requests.values().map(|count| count - 1).sum();
    assert!(again <= KILLS.len() * JOBS, "{again} requests too many");
}
