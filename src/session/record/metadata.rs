//! The lines from which agents read titles and recaps (`docs/protocol.md`, Session files).

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::SessionFacts;
use super::chain::Chain;
use crate::session::{Agent, ManualTitle, Title, TitleSource};

/// The suffix of side files.
pub const SIDE_FILE_SUFFIX: &str = ".turnpipe.jsonl";

/// The path of the side file of a session file.
pub fn side_file_path(session: &Path) -> PathBuf {
    let mut name = session.as_os_str().to_owned();
    name.push(SIDE_FILE_SUFFIX);
    name.into()
}

/// Facts that go into a line.
pub(super) struct LineFacts<'a> {
    pub(super) session: &'a SessionFacts,
    /// The current end of the session file.
    pub(super) chain: &'a Chain,
    /// A new id.
    pub(super) uuid: String,
    /// The current time, RFC 3339.
    pub(super) timestamp: String,
    /// What turnpipe adds.
    pub(super) turnpipe: Option<&'a Value>,
}

impl LineFacts<'_> {
    /// The line for a title, or `None` if the agent has no record for titles.
    pub(super) fn title(
        &self,
        agent: Agent,
        title: &Title,
        manual_title: ManualTitle,
    ) -> Option<String> {
        let (id, text) = (&self.session.session_id, &title.text);
        let is_automatic = title.source != TitleSource::Manual;
        let mut line = match agent {
            // Claude Code shows the last custom title, and the last other one if there is none.
            Agent::Claude if is_automatic && manual_title == ManualTitle::Keep => {
                json!({"type": "ai-title", "aiTitle": text, "sessionId": id})
            }
            Agent::Claude => json!({"type": "custom-title", "customTitle": text, "sessionId": id}),
            Agent::Qwen => self.qwen(
                "custom_title",
                json!({"customTitle": text, "titleSource": title.source.name()}),
            ),
            Agent::Codex => json!({"id": id, "thread_name": text, "updated_at": self.timestamp}),
            Agent::Pi => json!({
                "type": "session_info",
                // The ids of pi are this long.
                "id": self.uuid.get(self.uuid.len().saturating_sub(8)..),
                "parentId": self.chain.leaf,
                "timestamp": self.timestamp,
                "name": text,
            }),
            Agent::Gemini => return None,
        };
        let is_named = match agent {
            Agent::Claude => manual_title == ManualTitle::Supersede,
            Agent::Codex | Agent::Pi => true,
            Agent::Qwen | Agent::Gemini => false,
        };
        if is_named && is_automatic {
            line["titleSource"] = Value::from("auto");
        }
        Some(self.marked(line))
    }

    /// The line for a recap, or `None` if the agent has no record for recaps.
    pub(super) fn recap(&self, agent: Agent, text: &str) -> Option<String> {
        let line = match agent {
            Agent::Claude => {
                let mut line =
                    self.session
                        .message(self.chain.leaf.as_deref(), &self.uuid, &self.timestamp);
                line["type"] = "system".into();
                line["subtype"] = "away_summary".into();
                line["content"] = text.into();
                line
            }
            Agent::Qwen => self.qwen(
                "slash_command",
                json!({
                    "phase": "result",
                    "rawCommand": "/recap",
                    "outputHistoryItems": [{"type": "away_recap", "text": text}],
                }),
            ),
            Agent::Codex | Agent::Gemini | Agent::Pi => return None,
        };
        Some(self.marked(line))
    }

    /// A system record of Qwen Code.
    #[expect(clippy::needless_pass_by_value, reason = "made for this call")]
    fn qwen(&self, subtype: &str, payload: Value) -> Value {
        json!({
            "uuid": self.uuid,
            "parentUuid": self.chain.leaf,
            "sessionId": self.session.session_id,
            "timestamp": self.timestamp,
            "type": "system",
            "subtype": subtype,
            "cwd": self.session.directory,
            "version": env!("CARGO_PKG_VERSION"),
            "systemPayload": payload,
        })
    }

    fn marked(&self, mut line: Value) -> String {
        if let Some(turnpipe) = self.turnpipe {
            line["turnpipe"] = turnpipe.clone();
        }
        line.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Detail;

    const AGENTS: [Agent; 3] = [Agent::Claude, Agent::Qwen, Agent::Pi];

    /// Calls `check` with the facts of a session whose last row is `last`.
    fn with_facts(check: &dyn Fn(&LineFacts<'_>)) {
        let mut chain = Chain::default();
        chain.follow(r#"{"type":"user","uuid":"last","parentUuid":null}"#);
        let session = SessionFacts {
            session_id: "s".to_owned(),
            directory: "/w".to_owned(),
        };
        check(&LineFacts {
            session: &session,
            chain: &chain,
            uuid: "00000000-0000-4000-8000-000012345678".to_owned(),
            timestamp: "2026-01-02T03:04:05.000Z".to_owned(),
            turnpipe: Some(&json!({"v": 1, "supersedes_manual": true})),
        });
    }

    #[test]
    fn agents_read_the_titles_that_are_written_for_them() {
        for (source, manual_title) in [
            (TitleSource::Manual, ManualTitle::Keep),
            (TitleSource::Auto, ManualTitle::Keep),
            (TitleSource::Auto, ManualTitle::Supersede),
        ] {
            let title = Title {
                text: "Fix it".to_owned(),
                source,
            };
            with_facts(&|facts| {
                for agent in AGENTS {
                    let line = facts.title(agent, &title, manual_title).unwrap();
                    let read = agent.format().read(&line, Detail::Outline).unwrap();
                    assert_eq!(read.title.unwrap().title, title, "{line}");
                }
                assert_eq!(facts.title(Agent::Gemini, &title, manual_title), None);
            });
        }
    }

    #[test]
    fn rows_go_on_after_the_last_one() {
        let title = Title {
            text: "Fix it".to_owned(),
            source: TitleSource::Manual,
        };
        with_facts(&|facts| {
            for (agent, parent) in [(Agent::Qwen, "parentUuid"), (Agent::Pi, "parentId")] {
                let line = facts.title(agent, &title, ManualTitle::Keep).unwrap();
                let line: Value = serde_json::from_str(&line).unwrap();
                assert_eq!(line[parent], "last");
            }
            for agent in [Agent::Claude, Agent::Qwen] {
                let line = facts.recap(agent, "It was fixed.").unwrap();
                assert_eq!(agent.format().messages(&line)[0].text(), "It was fixed.");
                let line: Value = serde_json::from_str(&line).unwrap();
                assert_eq!(line["parentUuid"], "last");
            }
        });
    }
}
