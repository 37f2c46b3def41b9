//! `recap` with the built-in rules.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::files::{TALK, claude, qwen, records, write};
use crate::server::run_with_input;
use crate::turnpipe::{command, run};

const RECAP: &str = "Goal: Port the config parser to Rust. Last report: The parser reads all old files now. Waiting for an answer: Would you like me to delete the old one?";

#[test]
fn recaps_are_records_or_one_line_of_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "s.jsonl", &claude(&TALK));
    let path = path.to_str().unwrap();
    let output = run(&["recap", "--model", "builtin", path], b"");
    let record = &records(&output.stdout)[0];
    assert_eq!(
        (&record["type"], &record["recap"]),
        (&"recap".into(), &RECAP.into())
    );
    assert_eq!(record["turnpipe"]["model"], "builtin");
    let text = run(&["recap", "--model", "builtin", "-o", "text", path], b"");
    assert_eq!(text.stdout, format!("※ recap: {RECAP}\n"));
}

#[test]
fn recaps_are_written_so_that_a_resumed_session_shows_them() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("c.jsonl", claude(&TALK)), ("q.jsonl", qwen(&TALK))] {
        let path = write(folder.path(), name, &text);
        let output = run(
            &[
                "recap",
                "--model",
                "builtin",
                "--write",
                path.to_str().unwrap(),
            ],
            b"",
        );
        assert_eq!(records(&output.stdout)[0]["written"], true, "{name}");
        let shown = run(
            &["session", "show", path.to_str().unwrap(), "-o", "jsonl"],
            b"",
        );
        assert!(shown.stdout.contains(RECAP), "{name}: {}", shown.stdout);
    }
}

#[test]
fn a_recap_is_kept_although_the_agent_continues_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let talk: Vec<&str> = [TALK; 4].concat();
    for (name, lines) in [("c.jsonl", claude(&talk)), ("q.jsonl", qwen(&talk))] {
        // The running agent has not read the recap, so its next record follows its own last one.
        let lines: Vec<&str> = lines.split_inclusive('\n').collect();
        let path = write(folder.path(), name, &lines[..6].concat());
        let path = path.to_str().unwrap();
        let recap = ["recap", "--model", "builtin", path];
        let written = run(&[&recap[..], &["--write"]].concat(), b"");
        assert_eq!(records(&written.stdout)[0]["written"], true, "{name}");
        let mut file = std::fs::File::options().append(true).open(path).unwrap();
        file.write_all(lines[6..].concat().as_bytes()).unwrap();

        let shown = run(&["session", "show", path, "-o", "jsonl"], b"");
        assert_eq!(shown.stdout.matches(RECAP).count(), 1, "{name}");
        assert_eq!(shown.stderr, "", "{name}");
        let again = run(&[&recap[..], &["--auto"]].concat(), b"");
        assert_eq!(
            records(&again.stdout)[0]["reason"],
            "not_enough_activity",
            "{name}"
        );
    }
}

#[test]
fn automatic_recaps_wait_for_an_absence() {
    let folder = tempfile::tempdir().unwrap();
    let talk: Vec<&str> = [TALK; 3].concat();
    let path = write(folder.path(), "s.jsonl", &claude(&talk));
    let at = |now: &str, options: &[&str]| {
        let mut command = command();
        command
            .args([
                "recap",
                "--auto",
                "--model",
                "builtin",
                path.to_str().unwrap(),
            ])
            .args(options)
            .env("TURNPIPE_CLOCK", now);
        let output = run_with_input(command, "");
        records(&output.stdout)[0].clone()
    };
    assert_eq!(at("2026-01-02T03:06:00Z", &[])["reason"], "not_away");
    assert_eq!(
        at("2026-01-02T03:06:30Z", &["--away-minutes", "1"])["recap"],
        RECAP
    );
    assert_eq!(at("2026-01-02T03:30:00Z", &["--write"])["recap"], RECAP);
    assert_eq!(
        at("2026-01-02T04:30:00Z", &[])["reason"],
        "not_enough_activity"
    );
}

/// A process with the name of an agent has the session open. After its end nothing is awaited.
#[test]
fn an_unanswered_prompt_is_awaited_while_an_agent_works_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let talk: Vec<&str> = [TALK; 3].concat();
    let path = write(folder.path(), "b.jsonl", &claude(&talk[..5]));
    let recap = || {
        let mut command = command();
        let words = ["recap", "--auto", "--model", "builtin"];
        command.args(words).arg(&path);
        command.env("TURNPIPE_CLOCK", "2026-01-02T05:00:00Z");
        records(&run_with_input(command, "").stdout)[0].clone()
    };
    let held = std::fs::File::options().append(true).open(&path).unwrap();
    let mut agent = Command::new("cat");
    agent.arg0("claude").stdin(Stdio::piped()).stdout(held);
    let mut agent = agent.spawn().unwrap();
    assert_eq!(recap()["reason"], "busy");
    drop(agent.stdin.take());
    agent.wait().unwrap();
    assert_eq!(recap()["ok"], true);
}
