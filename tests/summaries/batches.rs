//! Batches: stale titles, the estimate and the limit of cost, the recap of a period.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::files::{claude, codex, records, write};
use crate::server::{Server, run_with_input, text_reply, titles};
use crate::turnpipe::{Run, run};

/// A conversation that moves on from its first topic.
const MOVED_ON: [&str; 8] = [
    "Let the parser of the import trim the fields of each line.",
    "Done.",
    "Which of the pages loads the slowest?",
    "The orders.",
    "Cache the orders in memory for a minute.",
    "Cached.",
    "Show the age of the cache in the footer.",
    "It is shown.",
];

/// A title record of Claude Code after the first reply.
fn titled(talk: &[&str], record: &Value) -> String {
    let lines = claude(talk);
    let end = lines.match_indices('\n').nth(1).unwrap().0 + 1;
    format!("{}{record}\n{}", &lines[..end], &lines[end..])
}

fn stale(path: &Path, more: &[&str]) -> Value {
    let path = path.to_str().unwrap();
    let output = run(
        &[&["title", "--stale", "--model", "builtin", path], more].concat(),
        b"",
    );
    records(&output.stdout)[0].clone()
}

#[test]
fn only_titles_that_a_session_has_moved_on_from_are_stale() {
    let auto = json!({"type": "ai-title", "aiTitle": "Trim fields in the import parser", "sessionId": "s"});
    let manual = json!({"type": "custom-title", "customTitle": "Mine", "sessionId": "s"});
    let mut same = MOVED_ON;
    same[6] = "Does the parser still trim the fields of the import?";
    let mut compacted = claude(&MOVED_ON);
    compacted.insert_str(0, &format!("{auto}\n"));
    let rows = [
        (titled(&MOVED_ON, &auto), None),
        (titled(&MOVED_ON[..6], &auto), Some("title_fits")),
        (titled(&same, &auto), Some("title_fits")),
        (titled(&MOVED_ON, &manual), Some("manual_title")),
        (claude(&MOVED_ON), Some("untitled")),
        (compacted, Some("unknown_title_time")),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (number, (lines, reason)) in rows.into_iter().enumerate() {
        let path = write(folder.path(), &format!("{number}.jsonl"), &lines);
        let found = stale(&path, &[]);
        assert_eq!(found["reason"].as_str(), reason, "{number}: {found}");
        if reason.is_none() {
            assert_eq!(found["title"], "Which of the pages loads the slowest?");
        }
    }
}

/// In the files of Claude Code a title has a place, in the index of Codex and in a side file a time.
#[test]
fn a_title_that_was_replaced_is_not_stale() {
    let auto = json!({"type": "ai-title", "aiTitle": "Trim fields in the import parser", "sessionId": "s"});
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("sessions/2026");
    std::fs::create_dir_all(&home).unwrap();
    let name = json!({"id": "44444444-4444-4444-8444-444444444444", "titleSource": "auto",
        "thread_name": "Trim fields in the import parser", "updated_at": "2026-01-02T03:01:30Z"});
    write(folder.path(), "session_index.jsonl", &format!("{name}\n"));
    for path in [
        write(folder.path(), "a.jsonl", &titled(&MOVED_ON, &auto)),
        write(
            &home,
            "rollout-2026-01-02T03-00-00-44444444-4444-4444-8444-444444444444.jsonl",
            &codex(&MOVED_ON),
        ),
    ] {
        let written = stale(&path, &["--write"]);
        assert_eq!(written["written"], true, "{written}");
        assert_eq!(stale(&path, &["--write"])["reason"], "title_fits");
    }
}

/// Runs a command with a model that has a price.
fn ask(server: &Server, arguments: &[&str]) -> Run {
    let model = ["--model", "openai:gpt-5-mini"];
    let command: Command = server.command(&[arguments, &model].concat());
    run_with_input(command, "")
}

#[test]
fn nothing_is_sent_if_the_estimate_is_above_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.jsonl", "b.jsonl"].map(|name| write(folder.path(), name, &claude(&MOVED_ON)));
    let paths = paths.each_ref().map(|path| path.to_str().unwrap());
    let server = Server::start(
        Duration::ZERO,
        Box::new(|_| (200, titles("Cache the orders"))),
    );
    let all = ["title", paths[0], paths[1]];
    let dry = ask(&server, &[&all[..], &["--dry-run"]].concat());
    assert_eq!(dry.stdout.lines().count(), 2);
    let estimate = "estimate: 2 requests, about ";
    assert!(dry.stderr.contains(estimate), "{}", dry.stderr);
    let refused = ask(&server, &[&all[..], &["--max-cost", "0.0001"]].concat());
    assert_eq!((refused.status, refused.stdout.as_str()), (Some(6), ""));
    let hint = refused.stderr.split("`--max-cost ").nth(1).unwrap();
    let enough = hint.split('`').next().unwrap();
    assert!(server.bodies.lock().unwrap().is_empty());
    let permitted = ask(&server, &[&all[..], &["--max-cost", enough]].concat());
    assert_eq!(permitted.status, Some(0), "{}", permitted.stderr);
    assert_eq!(server.bodies.lock().unwrap().len(), 2);
    let unpriced = run_with_input(
        server.command(&[&all[..], &["--max-cost", "1"]].concat()),
        "",
    );
    assert_eq!(unpriced.status, Some(2));
    assert!(
        unpriced.stderr.contains("has no price"),
        "{}",
        unpriced.stderr
    );
}

#[test]
fn a_batch_stops_when_the_reported_tokens_cost_more_than_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b", "c"] {
        let lines = claude(&MOVED_ON).replace("11111111-1111", &format!("{name}1111111-1111"));
        let lines = lines.replace("00000000-0000", &format!("{name}0000000-0000"));
        write(folder.path(), &format!("{name}.jsonl"), &lines);
    }
    let reply =
        titles("Cache the orders").replace("\"prompt_tokens\":11", "\"prompt_tokens\":8000000");
    let server = Server::start(Duration::ZERO, Box::new(move |_| (200, reply.clone())));
    let root = folder.path().to_str().unwrap();
    let batch = [
        "title",
        "--root",
        root,
        "--write",
        "--max-cost",
        "1",
        "--jobs",
        "1",
    ];
    let stopped = ask(&server, &batch);
    assert_eq!(stopped.status, Some(6), "{}", stopped.stderr);
    let message = "gate failed: --max-cost 1: $2.00 spent, 2 sessions were not asked about";
    assert!(stopped.stderr.contains(message), "{}", stopped.stderr);
    let found = records(&stopped.stdout);
    assert_eq!(
        (&found[0]["written"], &found[1]["reason"]),
        (&json!(true), &json!("cost_limit"))
    );
    // What is paid is kept.
    assert_eq!(ask(&server, &batch).status, Some(6));
    assert_eq!(server.bodies.lock().unwrap().len(), 2);
}

#[test]
fn a_period_has_one_recap_of_what_happened_in_it() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.jsonl", &claude(&MOVED_ON));
    let root = folder.path().to_str().unwrap();
    let period = ["recap", "--root", root, "--until", "2026-01-02"];
    let after = [
        &period[..],
        &["--since", "2026-01-02T03:05:30Z", "--model", "builtin"],
    ]
    .concat();
    let text = run(&[&after[..], &["-o", "text"]].concat(), b"");
    let expected = "/w\n  03:06–03:07  claude    Show the age of the cache in the footer\n      \
                    Last report: It is shown.\n1 session in 1 project\n";
    assert_eq!(text.stdout, expected, "{}", text.stderr);
    let found = &records(&run(&after, b"").stdout)[0];
    assert_eq!(found["recap"], "1 session in 1 project");
    assert_eq!(found["sessions"][0]["started"], "2026-01-02T03:06:00Z");
    let none = run(
        &[
            &period[..],
            &["--since", "2026-01-02T04:00:00Z", "--model", "builtin"],
        ]
        .concat(),
        b"",
    );
    assert_eq!((none.status, none.stdout.as_str()), (Some(0), ""));
    assert!(none.stderr.contains("no sessions found"), "{}", none.stderr);
    let reply = text_reply("<recap>In w, the orders are cached.</recap>");
    let server = Server::start(Duration::ZERO, Box::new(move |_| (200, reply.clone())));
    let asked = ask(&server, &[&period[..], &["-o", "text"]].concat());
    let told =
        "※ recap: In w, the orders are cached.\n\n/w\n  03:00–03:07  claude    Let the parser";
    assert!(
        asked.stdout.starts_with(told),
        "{} {}",
        asked.stdout,
        asked.stderr
    );
    let bodies = server.bodies.lock().unwrap();
    assert_eq!(bodies.len(), 1);
    let question = bodies[0]["messages"][1]["content"].as_str().unwrap();
    assert!(question.contains("Show the age of the cache"), "{question}");
}
