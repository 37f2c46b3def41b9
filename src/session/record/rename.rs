//! The record from which an agent's own tools read the new name of a session.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Chain;
use crate::session::Agent;
use crate::text::{terminal_safe_line, utf16_length};

/// The longest name, in UTF-16 code units.
const LONGEST: usize = 200;

/// A name that is safe for terminals, not empty, and short enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionName(String);

/// Why a text is not a valid name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing is left after cleaning.
    #[error("the name is empty")]
    Empty,
    /// It is too long.
    #[error("the name is longer than {LONGEST} characters")]
    TooLong,
}

impl SessionName {
    /// Cleans and checks a name that a person typed.
    ///
    /// # Errors
    /// See [`NameError`].
    pub fn new(text: &str) -> Result<Self, NameError> {
        let name = terminal_safe_line(text);
        if name.is_empty() {
            return Err(NameError::Empty);
        }
        if utf16_length(&name) > LONGEST {
            return Err(NameError::TooLong);
        }
        Ok(Self(name))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Facts that go into the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenameFacts {
    /// The session id.
    pub session_id: String,
    /// The working directory of the last record.
    pub directory: Option<String>,
    /// A new id.
    pub uuid: String,
    /// The current time, RFC 3339.
    pub timestamp: String,
}

/// The file in which an agent stores session names.
///
/// Claude Code and Qwen Code store them in the session file, Codex in an index beside its folder of
/// sessions. The other agents have no such record that their own tools read.
pub fn name_file(agent: Agent, session: &Path) -> Option<PathBuf> {
    match agent {
        Agent::Claude | Agent::Qwen => Some(session.to_owned()),
        Agent::Codex => session
            .ancestors()
            .find(|folder| folder.file_name().is_some_and(|name| name == "sessions"))
            .and_then(Path::parent)
            .map(|home| home.join("session_index.jsonl")),
        Agent::Gemini | Agent::Pi => None,
    }
}

/// The record with the new name. `chain` is the current end of the session file.
pub fn name_record(
    agent: Agent,
    name: &SessionName,
    facts: &RenameFacts,
    chain: &Chain,
) -> Option<String> {
    let id = &facts.session_id;
    let record = match agent {
        Agent::Claude => {
            json!({"type": "custom-title", "customTitle": name.0, "sessionId": id})
        }
        Agent::Qwen => json!({
            "uuid": facts.uuid,
            "parentUuid": chain.leaf().map_or(Value::Null, Value::from),
            "sessionId": id,
            "timestamp": facts.timestamp,
            "type": "system",
            "subtype": "custom_title",
            "cwd": facts.directory,
            "version": env!("CARGO_PKG_VERSION"),
            "systemPayload": {"customTitle": name.0, "titleSource": "manual"},
        }),
        Agent::Codex => {
            json!({"id": id, "thread_name": name.0, "updated_at": facts.timestamp})
        }
        Agent::Gemini | Agent::Pi => return None,
    };
    Some(record.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> RenameFacts {
        RenameFacts {
            session_id: "s".to_owned(),
            directory: Some("/w".to_owned()),
            uuid: "u".to_owned(),
            timestamp: "2026-01-02T03:04:05.000Z".to_owned(),
        }
    }

    #[test]
    fn names_are_made_harmless_or_refused() {
        let name = SessionName::new("  \u{1b}[31mFix\u{1b}[0m the\nlogin ").unwrap();
        assert_eq!(name.as_str(), "Fix the login");
        assert_eq!(SessionName::new(" \u{1b}[0m"), Err(NameError::Empty));
        assert_eq!(SessionName::new(&"é".repeat(201)), Err(NameError::TooLong));
        assert!(SessionName::new(&"é".repeat(200)).is_ok());
    }

    #[test]
    fn each_agent_gets_its_own_record() {
        let name = SessionName::new("Fix login").unwrap();
        let mut chain = Chain::default();
        chain.follow(r#"{"type":"user","uuid":"last","parentUuid":null}"#);
        let record = |agent| -> Value {
            serde_json::from_str(&name_record(agent, &name, &facts(), &chain).unwrap()).unwrap()
        };
        let claude = json!({"type": "custom-title", "customTitle": "Fix login", "sessionId": "s"});
        assert_eq!(record(Agent::Claude), claude);
        let qwen = record(Agent::Qwen);
        assert_eq!(qwen["parentUuid"], "last");
        assert_eq!(qwen["systemPayload"]["titleSource"], "manual");
        assert_eq!(record(Agent::Codex)["thread_name"], "Fix login");
        assert_eq!(name_record(Agent::Pi, &name, &facts(), &chain), None);
    }

    #[test]
    fn the_index_of_codex_stands_beside_its_sessions() {
        let session = Path::new("/h/.codex/sessions/2026/11/21/rollout-x.jsonl");
        let expected = Some(PathBuf::from("/h/.codex/session_index.jsonl"));
        assert_eq!(name_file(Agent::Codex, session), expected);
        assert_eq!(
            name_file(Agent::Codex, Path::new("/elsewhere/x.jsonl")),
            None
        );
    }
}
