//! `session stats --limits`: windows of plans.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::bench::{Run, run, turnpipe};

const NOW: &str = "2026-11-28T22:00:00Z";

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn stats(home: &Path, arguments: &[&str]) -> Command {
    let mut command = turnpipe(&[&["stats"], arguments].concat());
    command.env("HOME", home);
    command.env("XDG_STATE_HOME", home.join("state"));
    command.env("TURNPIPE_CLOCK", NOW);
    command
}

fn status_line(home: &Path, input: &Value) -> Run {
    let mut command = stats(home, &["--statusline"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.to_string().as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    Run {
        status: output.status.code(),
        text: String::from_utf8(output.stdout).unwrap(),
        messages: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Writes a session of Codex with these limits, the last of which an hour ago.
fn codex(home: &Path, name: &str, limits: &[Value]) {
    let folder = home.join(".codex/sessions/2026/11/28");
    fs::create_dir_all(&folder).unwrap();
    let hour_ago = now() - SignedDuration::from_hours(1);
    let row = |minute: i64, kind: &str, payload: Value| {
        let time = hour_ago - SignedDuration::from_mins(minute);
        json!({"timestamp": format!("{time:.3}"), "type": kind, "payload": payload}).to_string()
    };
    let id = format!("01a22475-56ad-7893-888d-9ba59e2ebe{name}");
    let mut rows = vec![
        row(
            90,
            "session_meta",
            json!({"id": id, "cwd": "/w/demo", "originator": "codex_cli_rs"}),
        ),
        row(
            89,
            "turn_context",
            json!({"cwd": "/w/demo", "model": "gpt-5.5"}),
        ),
    ];
    for (at, (minute, limits)) in (0..9).rev().zip(limits).enumerate() {
        let tokens = json!({"input_tokens": 1000 * (at + 1), "output_tokens": 10});
        let info = json!({"total_token_usage": tokens, "last_token_usage": tokens});
        let payload = json!({"type": "token_count", "info": info, "rate_limits": limits});
        rows.push(row(minute, "event_msg", payload));
    }
    let file = folder.join(format!("rollout-2026-11-28T21-00-00-{id}.jsonl"));
    fs::write(file, rows.join("\n") + "\n").unwrap();
}

#[test]
fn the_latest_windows_of_codex_are_shown_with_what_used_them() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let now = now().as_second();
    let weekly_first = |used: f64| {
        json!({"plan_type": "plus", "limit_id": "codex",
            "primary": {"used_percent": used, "window_minutes": 10080, "resets_at": now + 86400},
            "secondary": {"used_percent": 7.0, "window_minutes": 300, "resets_at": now - 60}})
    };
    let none = json!({"limit_id": "codex", "primary": null, "secondary": null, "plan_type": null});
    // Rows without windows do not hide those before them.
    codex(
        home,
        "e1",
        &[
            weekly_first(30.0),
            weekly_first(42.0),
            none.clone(),
            Value::Null,
        ],
    );
    codex(home, "e2", &[none]);
    let said_limits = run(stats(home, &["--limits", "--json"]));
    assert_eq!(said_limits.status, Some(0), "{}", said_limits.messages);
    let records = said_limits.records();
    let facts = |record: &Value| {
        let names = ["agent", "plan", "window_minutes", "used_percent", "expired"];
        names.map(|name| record[name].clone())
    };
    assert_eq!(
        records.iter().map(facts).collect::<Vec<_>>(),
        [
            [
                json!("codex"),
                json!("plus"),
                json!(300),
                json!(7.0),
                json!(true)
            ],
            [
                json!("codex"),
                json!("plus"),
                json!(10080),
                json!(42.0),
                json!(false)
            ],
        ]
    );
    assert_eq!(records[0]["used_by"], json!([]));
    let user = &records[1]["used_by"][0];
    assert_eq!(
        user["dimensions"],
        json!({"model": "gpt-5.5", "cwd": "/w/demo"})
    );
    let page = run(stats(home, &["--limits", "-o", "text"])).text;
    let lines: Vec<&str> = page.lines().collect();
    assert!(
        lines[0].contains("5h  █░░░░░░░░░░░░░░░░░░░   7%  reset since, as of 2026-11-28 20:5"),
        "{page}"
    );
    assert!(
        lines[1]
            .contains("7d  ████████░░░░░░░░░░░░  42%  resets in 1 d 0 h, as of 2026-11-28 20:5"),
        "{page}"
    );
    assert!(lines[2].contains("gpt-5.5  /w/demo"), "{page}");
}

#[test]
fn the_windows_of_the_last_status_line_are_kept() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let now = now().as_second();
    let records = || run(stats(home, &["--limits", "--json", "--agent", "claude"])).records();
    let input = |limits: Value| json!({"model": {"display_name": "M"}, "rate_limits": limits});
    assert!(records().is_empty());
    // Without windows, before the first reply, the line has no part about them, and nothing is kept.
    for limits in [
        Value::Null,
        json!({}),
        json!({"five_hour": null, "seven_day": {}}),
    ] {
        let line = status_line(home, &input(limits));
        assert_eq!(
            (line.status, line.text.contains(" of ")),
            (Some(0), false),
            "{}",
            line.text
        );
        assert!(records().is_empty());
    }
    let limits = json!({
        "five_hour": {"used_percentage": 23.5, "resets_at": now + 3600},
        "seven_day": {"used_percentage": 41.2, "resets_at": now - 1},
        "spend_limit": {"used_percentage": 112, "resets_at": now + 9},
    });
    let line = status_line(home, &input(limits));
    assert!(
        line.text.ends_with(" · 24% of 5h · 112% of spend_limit\n"),
        "{}",
        line.text
    );
    let kept = records();
    let facts = |record: &Value| {
        ["window_minutes", "name", "used_percent", "expired"].map(|name| record[name].clone())
    };
    assert_eq!(
        kept.iter().map(facts).collect::<Vec<_>>(),
        [
            [json!(300), Value::Null, json!(23.5), json!(false)],
            [json!(10080), Value::Null, json!(41.2), json!(true)],
            [
                Value::Null,
                json!("spend_limit"),
                json!(112.0),
                json!(false)
            ],
        ]
    );
    assert_eq!(kept[0]["read_at"], "2026-11-28T22:00:00Z");
    // A later line without windows keeps them.
    assert_eq!(status_line(home, &json!({})).status, Some(0));
    assert_eq!(records().len(), 3);
}
