//! What goes into a file of another agent, and what goes beside it (protocol 6.12).
//!
//! A title or a recap goes into the file where its agent has a record for it; everything else that
//! turnpipe knows about the session goes into a file of ours beside it. Pure.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{Chain, RenameFacts};
use crate::session::Agent;

/// What the name of a file beside a session file ends with.
pub const BESIDE: &str = ".turnpipe.jsonl";

/// Where a record of a stream goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// Into the agent's file.
    Within(Metadata),
    /// Into the file beside it.
    Beside,
    /// Nowhere: messages are the agent's own business.
    Nowhere,
}

/// What agents have records for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metadata {
    /// A title that a model made.
    Title,
    /// A recap for somebody who was away.
    Recap,
}

/// The file beside a session file.
pub fn file_beside(session: &Path) -> PathBuf {
    let mut name = session.as_os_str().to_owned();
    name.push(BESIDE);
    name.into()
}

/// Where a record goes that is recorded beside or in a file of this agent.
pub fn destination(agent: Agent, record: &Value) -> Destination {
    let text = |name: &str| record.get(name).and_then(Value::as_str);
    let has_records = matches!(agent, Agent::Claude | Agent::Qwen);
    match (text("type"), text("subtype")) {
        (Some("title"), _) if record["ok"] == Value::Bool(true) && has_records => {
            Destination::Within(Metadata::Title)
        }
        (Some("system"), Some("away_summary")) if has_records => {
            Destination::Within(Metadata::Recap)
        }
        (Some("title" | "tool_use_summary"), _)
        | (Some("system"), Some("away_summary" | "usage")) => Destination::Beside,
        _ => Destination::Nowhere,
    }
}

/// The line for a title or a recap in the agent's own form; nothing if the record lacks its text.
/// `chain` is the end of the session file as it is now.
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

/// A title again, as Qwen Code itself writes it again now and then, so that it stays near the end.
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
        let within = Destination::Within;
        for (agent, record, expected) in [
            (Agent::Claude, &title, within(Metadata::Title)),
            (Agent::Qwen, &recap, within(Metadata::Recap)),
            (Agent::Codex, &title, Destination::Beside),
            (Agent::Pi, &recap, Destination::Beside),
            (Agent::Claude, &label, Destination::Beside),
            (Agent::Qwen, &message, Destination::Nowhere),
        ] {
            assert_eq!(destination(agent, record), expected, "{agent:?} {record}");
        }
        let beside = file_beside(Path::new("/x/s.jsonl"));
        assert_eq!(beside, Path::new("/x/s.jsonl.turnpipe.jsonl"));
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
