//! Small generated sessions and streams.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// Returns a stream of `count` messages that each read one file, with the results.
pub(crate) fn stream(count: usize) -> String {
    let mut lines = json!({"type": "system", "subtype": "init", "session_id": "s", "cwd": "/w", "turnpipe": {"v": 1}}).to_string();
    lines.push('\n');
    for number in 0..count {
        let call = json!({"type": "assistant", "session_id": "s", "message": {
            "id": format!("m{number}"), "role": "assistant", "stop_reason": "tool_use",
            "content": [
                {"type": "text", "text": format!("I read file {number}.")},
                {"type": "tool_use", "id": format!("t{number}"), "name": "Read", "input": {"file_path": format!("/w/f{number}.rs")}},
            ],
        }});
        let result = json!({"type": "user", "session_id": "s", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": format!("t{number}"), "content": "1\tfn main() {}"},
        ]}});
        writeln!(lines, "{call}\n{result}").unwrap();
    }
    lines
}

/// Returns the records of a session of Claude Code: texts of the user and the model in turn.
pub(crate) fn claude(talk: &[&str]) -> String {
    let mut lines = String::new();
    let mut parent = Value::Null;
    for (number, text) in talk.iter().enumerate() {
        let uuid = format!("00000000-0000-4000-8000-{number:012}");
        let message = if number % 2 == 0 {
            json!({"role": "user", "content": text})
        } else {
            json!({"id": format!("m{number}"), "role": "assistant", "model": "x", "content": [{"type": "text", "text": text}]})
        };
        let record = json!({
            "parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/w", "sessionId": "11111111-1111-4111-8111-111111111111",
            "version": "2.1.0", "type": if number % 2 == 0 { "user" } else { "assistant" },
            "message": message, "uuid": uuid, "timestamp": format!("2026-01-02T03:{number:02}:00.000Z"),
        });
        parent = Value::from(uuid);
        writeln!(lines, "{record}").unwrap();
    }
    lines
}

/// Like [`claude`], for Qwen Code.
pub(crate) fn qwen(talk: &[&str]) -> String {
    let mut lines = String::new();
    let mut parent = Value::Null;
    for (number, text) in talk.iter().enumerate() {
        let uuid = format!("00000000-0000-4000-8000-{number:012}");
        let (kind, role) = if number % 2 == 0 {
            ("user", "user")
        } else {
            ("assistant", "model")
        };
        let record = json!({
            "uuid": uuid, "parentUuid": parent, "sessionId": "22222222-2222-4222-8222-222222222222", "timestamp": format!("2026-01-02T03:{number:02}:00.000Z"),
            "type": kind, "provenance": "real_user", "cwd": "/w", "version": "0.24.4", "message": {"role": role, "parts": [{"text": text}]},
        });
        parent = Value::from(uuid);
        writeln!(lines, "{record}").unwrap();
    }
    lines
}

/// Like [`claude`], for pi.
pub(crate) fn pi(talk: &[&str]) -> String {
    let mut lines = json!({"type": "session", "version": 3, "id": "33333333-3333-4333-8333-333333333333", "timestamp": "2026-01-02T03:00:00.000Z", "cwd": "/w"}).to_string() + "\n";
    let mut parent = Value::Null;
    for (number, text) in talk.iter().enumerate() {
        let id = format!("{number:08}");
        let role = if number % 2 == 0 { "user" } else { "assistant" };
        let record = json!({"type": "message", "id": id, "parentId": parent, "timestamp": format!("2026-01-02T03:{number:02}:00.000Z"),
            "message": {"role": role, "content": [{"type": "text", "text": text}]}});
        parent = Value::from(id);
        writeln!(lines, "{record}").unwrap();
    }
    lines
}

/// Like [`claude`], for Codex.
pub(crate) fn codex(talk: &[&str]) -> String {
    let mut lines = json!({"timestamp": "2026-01-02T03:00:00Z", "type": "session_meta", "payload": {"id": "44444444-4444-4444-8444-444444444444", "cwd": "/w"}}).to_string() + "\n";
    for (number, text) in talk.iter().enumerate() {
        let (role, kind) = if number % 2 == 0 {
            ("user", "input_text")
        } else {
            ("assistant", "output_text")
        };
        let record = json!({"timestamp": format!("2026-01-02T03:{number:02}:00Z"), "type": "response_item",
            "payload": {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}});
        writeln!(lines, "{record}").unwrap();
    }
    lines
}

/// Like [`claude`], for older versions of Gemini CLI, with their summary.
pub(crate) fn gemini(talk: &[&str]) -> String {
    let said = talk.iter().enumerate().map(|(number, text)| {
        let kind = if number % 2 == 0 { "user" } else { "gemini" };
        json!({"id": number.to_string(), "type": kind, "content": text, "timestamp": format!("2026-01-02T03:{number:02}:00.000Z")})
    });
    let document = json!({"sessionId": "55555555-5555-4555-8555-555555555555", "projectHash": "x", "startTime": "2026-01-02T03:00:00.000Z",
        "lastUpdated": "2026-01-02T03:01:00.000Z", "summary": "Its own", "messages": said.collect::<Vec<_>>()});
    format!("{document:#}")
}

pub(crate) const TALK: [&str; 2] = [
    "Port the config parser to Rust",
    "Done. The parser reads all old files now.\n\nWould you like me to delete the old one?",
];

/// Writes a file. Returns its path.
pub(crate) fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// Returns the records on the lines of an output.
pub(crate) fn records(output: &str) -> Vec<Value> {
    output
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
