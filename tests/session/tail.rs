//! `session tail`.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::bench::{data, files, recordings, session, status_for, turnpipe};
use crate::copies::write_reverted;

fn row(number: u32) -> String {
    format!(
        r#"{{"parentUuid":null,"sessionId":"s","type":"user","message":{{"role":"user","content":"é{number}"}},"uuid":"u{number}"}}"#
    )
}

fn append(path: &Path, bytes: &[u8]) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

#[test]
fn the_last_messages_and_the_last_lines() {
    let file = data("claude-parallel.jsonl");
    let output = session(&["tail", &file, "-n", "2"]);
    let texts: Vec<Value> = output.records();
    assert_eq!(texts.len(), 2);
    assert_eq!(texts[0]["message"]["content"][0]["tool_use_id"], "t2");
    assert_eq!(texts[1]["message"]["content"][0]["text"], "They differ.");
    let raw = session(&["tail", &file, "-n", "2", "--raw"]).text;
    let whole = fs::read_to_string(&file).unwrap();
    assert!(whole.ends_with(&raw) && raw.lines().count() == 2);
    // The records of one message stay together.
    let four = session(&["tail", &file, "-n", "4"]).records();
    assert_eq!(four[0]["message"]["content"].as_array().unwrap().len(), 2);
    let all = session(&["tail", &file, "-n", "0", "--cursor"]).records();
    assert_eq!(all[0]["subtype"], "session_cursor");
    assert_eq!(all[0]["offset"], whole.len());
    let document = session(&["tail", &data("session-document.json"), "-n", "1"]).records();
    assert_eq!(document[0]["content"], "quota");
}

/// Some files of Codex have only the events that other files repeat.
#[test]
fn messages_of_events_are_shown_as_in_session_show() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rollout.jsonl");
    let row = |kind: &str, payload: Value| {
        format!(
            "{}\n",
            json!({"timestamp": "2026-01-01T10:00:00Z", "type": kind, "payload": payload})
        )
    };
    let output = |kind: &str, text: &str| {
        let item = json!({"type": kind, "content": [{"type": "text", "text": text}]});
        row("event_msg", json!({"type": "item_completed", "item": item}))
    };
    let head = row("session_meta", json!({"id": "t", "cwd": "/w"}));
    let rows = [
        head,
        output("UserMessage", "First"),
        output("AgentMessage", "Answer"),
    ];
    fs::write(&path, rows.concat()).unwrap();
    let path = path.to_str().unwrap();
    let texts = |arguments: &[&str]| {
        let records = session(&[arguments, &[path]].concat()).records();
        let texts = records
            .iter()
            .map(|record| record["message"]["content"][0]["text"].clone());
        texts.filter(|text| !text.is_null()).collect::<Vec<Value>>()
    };
    assert_eq!(texts(&["show"]), ["First", "Answer"]);
    assert_eq!(texts(&["tail"]), ["First", "Answer"]);
    assert_eq!(texts(&["tail", "-n", "1"]), ["Answer"]);
}

#[test]
fn a_thread_in_several_files_is_shown_as_in_session_show() {
    let folder = tempfile::tempdir().unwrap();
    write_reverted(folder.path());
    let root = folder.path().display().to_string();
    let texts = |arguments: &[&str]| {
        let records = session(&[arguments, &["--root", &root]].concat()).records();
        let output = records.iter().map(|record| record["message"].clone());
        // `tail` omits meter readings.
        output
            .filter(|output| output["content"][0] != Value::Null)
            .collect::<Vec<Value>>()
    };
    for name in ["c0de", "f01d"] {
        let shown = texts(&["show", name]);
        assert!(shown.len() > 4, "{shown:?}");
        assert_eq!(texts(&["tail", name, "-n", "99"]), shown, "{name}");
        assert_eq!(texts(&["tail", name, "-n", "3"]), shown[shown.len() - 3..]);
    }
}

#[test]
fn paths_are_shown_as_in_session_show() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let row = |role: &str, content: Value| {
        let output = json!({"type": role, "uuid": role, "sessionId": "s", "cwd": "/p",
            "message": {"id": "m", "role": role, "content": content}});
        format!("{output}\n")
    };
    let input = json!({"file_path": "/p/src/a.rs"});
    let call = json!([{"type": "tool_use", "id": "t", "name": "Read", "input": input}]);
    let text = row("user", json!("Look")) + &row("assistant", call);
    fs::write(&path, text).unwrap();
    for command in ["tail", "show"] {
        let output = session(&[command, path.to_str().unwrap(), "-o", "text"]).text;
        assert!(output.contains("src/a.rs"), "{command}: {output}");
        assert!(!output.contains("/p/src"), "{command}: {output}");
    }
}

#[test]
fn reading_continues_at_a_cursor() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let name = path.display().to_string();
    fs::write(&path, format!("{}\n{}\n{{\"torn", row(1), row(2))).unwrap();
    let first = session(&["tail", &name, "--offset", "0", "--cursor"]).records();
    assert_eq!(first.len(), 3);
    let offset = first[2]["offset"].to_string();
    append(&path, b"\":1}\n");
    append(&path, format!("{}\n", row(3)).as_bytes());
    let second = session(&["tail", &name, "--offset", &offset]).records();
    assert_eq!(second.len(), 1);
    assert_eq!(second[0]["uuid"], "u3");
}

/// A run that follows a file.
struct Follower {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Follower {
    fn start(path: &Path, arguments: &[&str]) -> Self {
        let name = path.display().to_string();
        let all = [&["session", "tail", &name, "-f"], arguments].concat();
        let mut child = turnpipe(&all)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn every_record_is_printed_once_and_in_order_after_any_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, format!("{}\n", row(0))).unwrap();
    let mut following = Follower::start(&path, &["-n", "1", "--timeout", "60s"]);
    assert_eq!(following.next()["uuid"], "u0");
    // A record in two parts, cut inside a character.
    let bytes = format!("{}\n", row(1)).into_bytes();
    let cut = bytes.iter().position(|byte| *byte == 0xc3).unwrap() + 1;
    append(&path, &bytes[..cut]);
    append(&path, &bytes[cut..]);
    assert_eq!(following.next()["message"]["content"][0]["text"], "é1");
    for number in 2..200 {
        append(&path, format!("{}\n", row(number)).as_bytes());
    }
    for number in 2..200 {
        assert_eq!(following.next()["uuid"], format!("u{number}"));
    }
    // Truncated.
    File::create(&path).unwrap();
    assert_eq!(following.next()["reason"], "truncated");
    append(&path, format!("{}\n", row(300)).as_bytes());
    assert_eq!(following.next()["uuid"], "u300");
    // Rewritten in place, to the same size and to a larger one.
    let rewrite = |rows: String| {
        let mut file = OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all(rows.as_bytes()).unwrap();
    };
    rewrite(format!("{}\n", row(301)));
    assert_eq!(following.next()["reason"], "rewritten");
    assert_eq!(following.next()["uuid"], "u301");
    rewrite(format!("{}\n{}\n", row(302), row(303)));
    assert_eq!(following.next()["reason"], "rewritten");
    assert_eq!(following.next()["uuid"], "u302");
    assert_eq!(following.next()["uuid"], "u303");
    // Replaced.
    let other = folder.path().join("other");
    fs::write(&other, format!("{}\n", row(400))).unwrap();
    fs::rename(&other, &path).unwrap();
    assert_eq!(following.next()["reason"], "replaced");
    assert_eq!(following.next()["uuid"], "u400");
    // Deleted, then created again.
    fs::remove_file(&path).unwrap();
    assert_eq!(following.next()["reason"], "deleted");
    fs::write(&path, format!("{}\n", row(500))).unwrap();
    assert_eq!(following.next()["reason"], "replaced");
    assert_eq!(following.next()["uuid"], "u500");
}

/// Agents rewrite some files at each change, with a record changed, inserted or removed, in place or as
/// a new file. No earlier record is printed again.
#[test]
fn a_rewritten_file_only_adds_new_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let other = folder.path().join("other");
    let title = |title: &str| json!({"type": "custom-title", "customTitle": title}).to_string();
    // Each time, records get another time.
    let file = |head: &str, numbers: &[u32]| {
        let rows = numbers.iter().map(|number| {
            let time = format!(
                r#"{{"timestamp":"2026-01-01T10:00:{:02}Z","#,
                head.len() % 60
            );
            row(*number).replacen('{', &time, 1) + "\n"
        });
        format!("{head}\n{}", rows.collect::<String>())
    };
    fs::write(&path, file(&title("a"), &[0, 1, 2])).unwrap();
    let mut following = Follower::start(&path, &["-n", "1", "--timeout", "60s"]);
    assert_eq!(following.next()["uuid"], "u2");
    // As a new file, with another title.
    fs::write(&other, file(&title("bb"), &[0, 1, 2, 3])).unwrap();
    fs::rename(&other, &path).unwrap();
    assert_eq!(following.next()["reason"], "replaced");
    assert_eq!(following.next()["uuid"], "u3");
    // In place: cut off, then written again.
    File::create(&path).unwrap();
    assert_eq!(following.next()["reason"], "truncated");
    append(&path, file(&title("ccc"), &[0, 1, 2, 3, 4]).as_bytes());
    assert_eq!(following.next()["uuid"], "u4");
    // In place, with a record before the others.
    let mut writer = OpenOptions::new().write(true).open(&path).unwrap();
    writer
        .write_all(file(&title("d"), &[5, 0, 1, 2, 3, 4]).as_bytes())
        .unwrap();
    assert_eq!(following.next()["reason"], "rewritten");
    assert_eq!(following.next()["uuid"], "u5");
    // Deleted, then created again.
    fs::remove_file(&path).unwrap();
    assert_eq!(following.next()["reason"], "deleted");
    fs::write(&path, file(&title("e"), &[0, 1, 6])).unwrap();
    assert_eq!(following.next()["reason"], "replaced");
    assert_eq!(following.next()["uuid"], "u6");
}

/// Writers are killed in the middle of records, at each byte offset in turn; the next one
/// begins a new line.
#[test]
fn killed_writers_do_not_break_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, format!("{}\n", row(0))).unwrap();
    let mut following = Follower::start(&path, &["-n", "1", "--timeout", "60s"]);
    assert_eq!(following.next()["uuid"], "u0");
    for number in 1..60_u32 {
        let torn = row(1000 + number);
        let cut = torn.len() - usize::try_from(number).unwrap();
        let mut writer = std::process::Command::new("sh")
            .args(["-c", "cat >> \"$0\"; kill -9 $$"])
            .arg(&path)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = writer.stdin.take().unwrap();
        input.write_all(&torn.as_bytes()[..cut]).unwrap();
        drop(input);
        assert!(!writer.wait().unwrap().success());
        append(&path, format!("\n{}\n", row(number)).as_bytes());
        let next = following.next();
        assert_eq!(next["uuid"], format!("u{number}"));
        assert_eq!(next["message"]["content"][0]["text"], format!("é{number}"));
    }
}

#[test]
fn subagents_are_distinguished() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let agents = folder.path().join("s/subagents");
    fs::create_dir_all(&agents).unwrap();
    fs::write(&path, format!("{}\n", row(0))).unwrap();
    fs::write(agents.join("agent-old.jsonl"), format!("{}\n", row(1))).unwrap();
    let mut following = Follower::start(&path, &["-n", "1", "--subagents", "--timeout", "60s"]);
    assert_eq!(following.next()["uuid"], "u0");
    append(
        &agents.join("agent-old.jsonl"),
        format!("{}\n", row(2)).as_bytes(),
    );
    let old = following.next();
    assert_eq!(
        (&old["uuid"], &old["turnpipe"]["agent_id"]),
        (&"u2".into(), &"old".into())
    );
    assert_eq!(old["turnpipe"]["subagent"], true);
    fs::write(agents.join("agent-new.jsonl"), format!("{}\n", row(3))).unwrap();
    let new = following.next();
    assert_eq!(
        (&new["uuid"], &new["turnpipe"]["agent_id"]),
        (&"u3".into(), &"new".into())
    );
    append(&path, format!("{}\n", row(4)).as_bytes());
    let own = following.next();
    assert_eq!(
        (&own["uuid"], &own["turnpipe"]["agent_id"]),
        (&"u4".into(), &Value::Null)
    );
}

#[test]
fn following_ends_when_idle_or_after_a_timeout() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, format!("{}\n", row(1))).unwrap();
    let name = path.display().to_string();
    let idle = session(&[
        "tail",
        &name,
        "-f",
        "--until-idle",
        "100ms",
        "--timeout",
        "60s",
    ]);
    assert_eq!((idle.status, idle.records().len()), (Some(0), 1));
    let late = session(&["tail", &name, "-f", "--timeout", "100ms", "--exit-status"]);
    assert_eq!((late.status, late.records().len()), (Some(1), 1));
}

#[test]
fn a_newer_session_takes_over() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().display().to_string();
    let path = folder.path().join("old.jsonl");
    fs::write(&path, format!("{}\n", row(1))).unwrap();
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    let old = File::options().write(true).open(&path).unwrap();
    old.set_modified(long_ago).unwrap();
    let arguments = ["--latest", "--root", &root, "--timeout", "60s"];
    let mut following = Follower::start(&path, &arguments);
    assert_eq!(following.next()["uuid"], "u1");
    fs::write(folder.path().join("new.jsonl"), format!("{}\n", row(2))).unwrap();
    let switch = following.next();
    assert_eq!(switch["reason"], "newer");
    assert!(switch["path"].as_str().unwrap().ends_with("new.jsonl"));
    assert_eq!(following.next()["uuid"], "u2");
}

/// Two existing sessions continue concurrently and a third one begins: every new record is printed
/// once, in the order of its session.
#[test]
fn sessions_that_are_active_at_once_are_all_shown_once() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().display().to_string();
    let path = |session: u32| folder.path().join(format!("s{session}.jsonl"));
    for session in 0..2 {
        fs::write(path(session), format!("{}\n", row(session))).unwrap();
    }
    let arguments = ["--latest", "--root", &root, "-n", "1", "--timeout", "60s"];
    let mut following = Follower::start(&path(0), &arguments);
    assert_eq!(following.next()["uuid"], "u0");
    File::create(path(2)).unwrap();
    let mut seen = vec![Vec::new(); 3];
    for round in 1..4 {
        for number in 0..10 {
            for session in 0..3 {
                let number = 1000 * session + 100 * round + number;
                append(&path(session), format!("{}\n", row(number)).as_bytes());
            }
        }
        // The last record of each session was printed: nothing more follows.
        while seen
            .iter()
            .any(|seen: &Vec<u32>| seen.len() < 10 * round as usize)
        {
            let record = following.next();
            if let Some(uuid) = record["uuid"].as_str() {
                let number: u32 = uuid[1..].parse().unwrap();
                seen[number as usize / 1000].push(number);
            } else {
                assert_eq!(record["reason"], "newer");
            }
        }
    }
    for (session, seen) in (0..).zip(seen) {
        let rounds = (1..4).flat_map(|round| (0..10).map(move |number| (round, number)));
        let expected = rounds.map(|(round, number)| 1000 * session + 100 * round + number);
        assert_eq!(seen, expected.collect::<Vec<u32>>());
    }
}

#[test]
fn an_empty_session_can_be_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, "").unwrap();
    let mut following = Follower::start(&path, &["--timeout", "60s"]);
    append(&path, format!("{}\n", row(7)).as_bytes());
    assert_eq!(following.next()["uuid"], "u7");
}

#[test]
fn recordings_are_tailed() {
    let folder = recordings();
    let mut paths = Vec::new();
    files(&folder, &[".jsonl", ".json"], &mut paths);
    for recording in paths {
        let is_lines = recording.extension().is_some_and(|end| end == "jsonl");
        let path = recording.display().to_string();
        let tail = session(&["tail", &path, "-n", "3"]);
        let expected = Some(status_for(&recording));
        assert_eq!(tail.status, expected, "{path}: {}", tail.messages);
        assert!(tail.records().len() <= 6, "{path}");
        if is_lines {
            let raw = session(&["tail", &path, "-n", "3", "--raw"]);
            assert_eq!(raw.status, Some(0), "{path}: {}", raw.messages);
            assert!(
                fs::read_to_string(&path).unwrap().ends_with(&raw.text),
                "{path}"
            );
        }
    }
}
