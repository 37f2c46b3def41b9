//! Decides which records go into another agent's session file and which into the side file.
//!
//! A title or a recap goes into the session file if its agent has a record for it. Everything else
//! that turnpipe adds goes into the side file. See `docs/protocol.md`, Session files.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{Chain, RenameFacts};
use crate::session::Agent;

/// The suffix of side files.
pub const SIDE_FILE_SUFFIX: &str = ".turnpipe.jsonl";

/// Where a record of a stream goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// Into the agent's session file.
    SessionFile(Metadata),
    /// Into the side file.
    SideFile,
    /// Nowhere. The agent writes messages itself.
    Nowhere,
}

/// The metadata that agents have records for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metadata {
    /// An automatic title.
    Title,
    /// A recap for a person who was away.
    Recap,
}

/// The path of the side file of a session file.
pub fn side_file_path(session: &Path) -> PathBuf {
    let mut name = session.as_os_str().to_owned();
    name.push(SIDE_FILE_SUFFIX);
    name.into()
}

/// The destination of a record for a session of this agent.
pub fn destination(agent: Agent, record: &Value) -> Destination {
    let text = |name: &str| record.get(name).and_then(Value::as_str);
    let has_records = matches!(agent, Agent::Claude | Agent::Qwen);
    match (text("type"), text("subtype")) {
        (Some("title"), _) if record["ok"] == Value::Bool(true) && has_records => {
            Destination::SessionFile(Metadata::Title)
        }
        (Some("system"), Some("away_summary")) if has_records => {
            Destination::SessionFile(Metadata::Recap)
        }
        (Some("title" | "tool_use_summary"), _)
        | (Some("system"), Some("away_summary" | "usage")) => Destination::SideFile,
        _ => Destination::Nowhere,
    }
}

/// The line for a title or a recap in the agent's own form, or `None` if the record lacks the text.
/// `chain` is the current end of the session file.
pub fn metadata_line(
    agent: Agent,
    metadata: Metadata,
    record: &Value,
    facts: &RenameFacts,
    chain: &Chain,
) -> Option<String> {
    let member = match metadata {
        Metadata::Title => "title",
        Metadata::Recap => "content",
    };
    let text = record.get(member)?.as_str()?;
    let mut line = match (agent, metadata) {
        (Agent::Claude, Metadata::Title) => {
            json!({"type": "ai-title", "aiTitle": text, "sessionId": facts.session_id})
        }
        (Agent::Claude, Metadata::Recap) => json!({
            "parentUuid": parent(chain),
            "isSidechain": false,
            "userType": "external",
            "cwd": facts.directory,
            "sessionId": facts.session_id,
            "version": env!("CARGO_PKG_VERSION"),
            "type": "system",
            "subtype": "away_summary",
            "content": text,
            "uuid": facts.uuid,
            "timestamp": facts.timestamp,
        }),
        (Agent::Qwen, Metadata::Title) => {
            let source = record["title_source"].as_str().unwrap_or("auto");
            let payload = json!({"customTitle": text, "titleSource": source});
            qwen_line("custom_title", &payload, facts, chain)
        }
        (Agent::Qwen, Metadata::Recap) => {
            let payload = json!({
                "phase": "result",
                "rawCommand": "/recap",
                "outputHistoryItems": [{"type": "away_recap", "text": text}],
            });
            qwen_line("slash_command", &payload, facts, chain)
        }
        (Agent::Codex | Agent::Gemini | Agent::Pi, _) => return None,
    };
    if let (Some(line), Some(ours)) = (line.as_object_mut(), record.get("turnpipe")) {
        line.insert("turnpipe".to_owned(), ours.clone());
    }
    Some(line.to_string())
}

/// Repeats a title, as Qwen Code itself does now and then, so that it stays near the end.
pub fn anchor_line(title: &str, source: &str, facts: &RenameFacts, chain: &Chain) -> String {
    let payload = json!({"customTitle": title, "titleSource": source});
    qwen_line("custom_title", &payload, facts, chain).to_string()
}

fn parent(chain: &Chain) -> Value {
    chain.leaf().map_or(Value::Null, Value::from)
}

/// A system record of Qwen Code.
fn qwen_line(subtype: &str, payload: &Value, facts: &RenameFacts, chain: &Chain) -> Value {
    let mut line = Map::new();
    for (name, value) in [
        ("uuid", Value::from(facts.uuid.clone())),
        ("parentUuid", parent(chain)),
        ("sessionId", Value::from(facts.session_id.clone())),
        ("timestamp", Value::from(facts.timestamp.clone())),
        ("type", Value::from("system")),
        ("subtype", Value::from(subtype)),
        ("cwd", json!(facts.directory)),
        ("version", Value::from(env!("CARGO_PKG_VERSION"))),
        ("systemPayload", payload.clone()),
    ] {
        line.insert(name.to_owned(), value);
    }
    Value::Object(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Detail;

    fn facts() -> RenameFacts {
        RenameFacts {
            session_id: "s".to_owned(),
            directory: Some("/w".to_owned()),
            uuid: "u".to_owned(),
            timestamp: "2026-01-02T03:04:05.000Z".to_owned(),
        }
    }

    #[test]
    fn each_record_has_its_place() {
        let title = json!({"type": "title", "ok": true, "title": "x"});
        let recap = json!({"type": "system", "subtype": "away_summary", "content": "x"});
        let label = json!({"type": "tool_use_summary", "summary": "x"});
        let message = json!({"type": "user", "message": {}});
        let in_session_file = Destination::SessionFile;
        for (agent, record, expected) in [
            (Agent::Claude, &title, in_session_file(Metadata::Title)),
            (Agent::Qwen, &recap, in_session_file(Metadata::Recap)),
            (Agent::Codex, &title, Destination::SideFile),
            (Agent::Pi, &recap, Destination::SideFile),
            (Agent::Claude, &label, Destination::SideFile),
            (Agent::Qwen, &message, Destination::Nowhere),
        ] {
            assert_eq!(destination(agent, record), expected, "{agent:?} {record}");
        }
        let side_file = side_file_path(Path::new("/x/s.jsonl"));
        assert_eq!(side_file, Path::new("/x/s.jsonl.turnpipe.jsonl"));
    }

    #[test]
    fn agents_read_what_is_written_for_them() {
        let mut chain = Chain::default();
        chain.follow(r#"{"type":"user","uuid":"last","parentUuid":null}"#);
        let title =
            json!({"ok": true, "title": "Fix it", "title_source": "auto", "turnpipe": {"v": 1}});
        let recap = json!({"content": "It was fixed."});
        for agent in [Agent::Claude, Agent::Qwen] {
            let line = |metadata, record| {
                metadata_line(agent, metadata, record, &facts(), &chain).unwrap()
            };
            let written = line(Metadata::Title, &title);
            let written = agent.format().read(&written, Detail::Outline).unwrap();
            let written = written.title.unwrap();
            assert_eq!(written.title.text, "Fix it");
            assert_eq!(written.title.source.name(), "auto");
            let said = agent.format().messages(&line(Metadata::Recap, &recap));
            assert_eq!(said[0].text(), "It was fixed.", "{agent:?}");
            assert!(line(Metadata::Recap, &recap).contains(r#""parentUuid":"last""#));
        }
    }
}
