//! A conversation on a pipe: stream-json, a session file, or bare messages of an API.

use serde_json::value::RawValue;

use super::excerpt::Excerpt;
use crate::dialog::{Joiner, Message};
use crate::session::Agent;

/// Reads messages from records.
#[derive(Debug, Default)]
pub struct DialogStream {
    joiner: Joiner,
    excerpt: Excerpt,
    /// The agent whose format matched last.
    agent: Option<Agent>,
    session_id: Option<String>,
}

#[derive(serde::Deserialize)]
struct Bare<'a> {
    role: Option<String>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    parts: Option<&'a RawValue>,
    #[serde(alias = "sessionId")]
    session_id: Option<String>,
    parent_tool_use_id: Option<String>,
}

impl DialogStream {
    /// Takes the next record.
    pub fn record(&mut self, record: &str) {
        let bare: Option<Bare<'_>> = serde_json::from_str(record).ok();
        if let Some(bare) = &bare {
            if bare.parent_tool_use_id.is_some() {
                return;
            }
            if let Some(id) = &bare.session_id {
                self.session_id.get_or_insert_with(|| id.clone());
            }
        }
        let of_api = bare.and_then(|bare| wrapped(record, &bare));
        for message in self.messages(of_api.as_deref().unwrap_or(record)) {
            if let Some(whole) = self.joiner.push(message) {
                self.excerpt.note(whole);
            }
        }
    }

    fn messages(&mut self, record: &str) -> Vec<Message> {
        let known = self.agent.into_iter().chain(Agent::ALL);
        let mut empty = Vec::new();
        for agent in known {
            let messages = agent.format().messages(record);
            // A format that knows the record but not its content has not understood it.
            if messages.iter().any(|message| !message.blocks.is_empty()) {
                self.agent = Some(agent);
                return messages;
            }
            if empty.is_empty() {
                empty = messages;
            }
        }
        empty
    }

    /// The session, if the stream names it.
    pub fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref()
    }

    /// The conversation, at the end of the stream.
    pub fn finish(mut self) -> Excerpt {
        if let Some(last) = self.joiner.finish() {
            self.excerpt.note(last);
        }
        self.excerpt
    }
}

/// A bare message of an API in the form of a record.
fn wrapped(record: &str, bare: &Bare<'_>) -> Option<String> {
    let kind = match bare.role.as_deref()? {
        "assistant" | "model" => "assistant",
        "user" => "user",
        _ => return None,
    };
    (bare.content.is_some() || bare.parts.is_some())
        .then(|| format!(r#"{{"type":"{kind}","message":{record}}}"#))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(lines: &[&str]) -> Vec<String> {
        let mut stream = DialogStream::default();
        for line in lines {
            stream.record(line);
        }
        let excerpt = stream.finish();
        excerpt.texts().iter().map(Message::text).collect()
    }

    #[test]
    fn dialogs_of_several_forms_are_read() {
        let table: [&[&str]; 4] = [
            &[
                r#"{"type":"user","message":{"role":"user","content":"hi"}}"#,
                r#"{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"ho"}]}}"#,
            ],
            &[
                r#"{"role":"user","content":"hi"}"#,
                r#"{"role":"assistant","content":"ho"}"#,
            ],
            &[
                r#"{"role":"user","parts":[{"text":"hi"}]}"#,
                r#"{"role":"model","parts":[{"text":"ho"}]}"#,
            ],
            &[
                r#"{"type":"user","uuid":"a","sessionId":"s","message":{"role":"user","parts":[{"text":"hi"}]}}"#,
                r#"{"type":"assistant","uuid":"b","sessionId":"s","message":{"role":"model","parts":[{"text":"ho"}]}}"#,
            ],
        ];
        for lines in table {
            assert_eq!(said(lines), ["hi", "ho"], "{lines:?}");
        }
    }
}
