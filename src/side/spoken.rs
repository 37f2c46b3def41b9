//! The texts of the user and the model, without the rest of a session.

use std::borrow::Cow;

use crate::message::{Block, Message, Origin, Role, Thread, without_injected};
use crate::text::redact;

/// The reply of Qwen Code's model to the context at the start of a session, in older versions.
const ACKNOWLEDGED_CONTEXT: &str = "Got it. Thanks for the context!";

/// The texts of a message. No part is blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The speaker.
    pub role: Role,
    /// The parts of the text.
    pub parts: Vec<String>,
}

impl Said {
    /// The joined parts, with secrets masked, because models see the text.
    pub fn text(&self) -> String {
        redact(&self.parts.concat()).into_owned()
    }
}

/// Collects the texts of a conversation.
#[derive(Debug, Default)]
pub struct Spoken {
    said: Vec<Said>,
    /// Number of messages of any kind.
    messages: usize,
}

impl Spoken {
    /// Adds a message.
    pub fn note(&mut self, message: &Message) {
        if message.thread == Thread::Subagent {
            return;
        }
        let role = match (message.role, message.origin) {
            (Role::User, Origin::Prompt) => Role::User,
            (Role::Assistant, Origin::Reply) => Role::Assistant,
            (Role::User, Origin::Results | Origin::Injected) => {
                self.messages += 1;
                return;
            }
            _ => return,
        };
        self.messages += 1;
        let said = Said {
            role,
            parts: parts(message),
        };
        let acknowledges =
            role == Role::Assistant && self.messages == 2 && said.parts == [ACKNOWLEDGED_CONTEXT];
        if acknowledges {
            self.said.clear();
            return;
        }
        if !said.parts.is_empty() {
            self.said.push(said);
        }
    }

    /// The number of messages, including messages without text.
    pub fn messages(&self) -> usize {
        self.messages
    }

    /// The texts.
    pub fn said(&self) -> &[Said] {
        &self.said
    }

    /// The last `count` texts, from the user's first one on unless these are all.
    pub fn recent(&self, count: usize) -> &[Said] {
        let start = self.said.len().saturating_sub(count);
        let recent = &self.said[start..];
        if start == 0 {
            return recent;
        }
        let prompt = recent.iter().position(|said| said.role == Role::User);
        prompt.map_or(&[], |prompt| &recent[prompt..])
    }

    /// The last texts, after the last prompt if it is older.
    pub fn recent_since_prompt(&self, count: usize) -> Cow<'_, [Said]> {
        let recent = self.recent(count);
        let last = self.said.iter().rfind(|said| said.role == Role::User);
        match last.filter(|_| recent.is_empty()) {
            None => Cow::Borrowed(recent),
            Some(prompt) => {
                let start = self.said.len().saturating_sub(count.saturating_sub(1));
                let said = std::iter::once(prompt).chain(&self.said[start..]);
                Cow::Owned(said.cloned().collect())
            }
        }
    }
}

/// The texts of a message, without texts injected by the agent.
fn parts(message: &Message) -> Vec<String> {
    let texts = message.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(without_injected(text).into_owned()),
        _ => None,
    });
    texts.filter(|text| !text.trim().is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(role: Role, texts: &[&str]) -> Message {
        let origin = match role {
            Role::User => Origin::Prompt,
            Role::Assistant | Role::System => Origin::Reply,
        };
        Message {
            blocks: texts
                .iter()
                .map(|text| Block::Text((*text).to_owned()))
                .collect(),
            ..Message::new(role, origin)
        }
    }

    fn spoken(messages: &[Message]) -> Spoken {
        let mut spoken = Spoken::default();
        for message in messages {
            spoken.note(message);
        }
        spoken
    }

    #[test]
    fn reminders_contexts_and_thinking_are_left_out() {
        let mut reply = message(Role::Assistant, &["visible"]);
        reply.blocks.insert(0, Block::thinking("hidden"));
        let messages = [
            message(Role::User, &["ctx"]),
            message(Role::Assistant, &[ACKNOWLEDGED_CONTEXT]),
            message(
                Role::User,
                &["<system-reminder>x</system-reminder>", "fix it"],
            ),
            reply,
            message(Role::User, &["<system-reminder>x</system-reminder>"]),
            message(
                Role::User,
                &[
                    "go",
                    "<qwen:user-prompt-submit-context>\nx\n</qwen:user-prompt-submit-context>",
                ],
            ),
        ];
        let texts: Vec<String> = spoken(&messages).said().iter().map(Said::text).collect();
        assert_eq!(texts, ["fix it", "visible", "go"]);
    }

    #[test]
    fn recent_messages_start_with_a_prompt() {
        let user = || message(Role::User, &["u"]);
        let model = || message(Role::Assistant, &["m"]);
        let few = spoken(&[model(), user()]);
        assert_eq!(few.recent(2).len(), 2);
        let more = spoken(&[user(), model(), model(), user(), model()]);
        assert_eq!(more.recent(4).len(), 2);
        let lost = spoken(&[user(), model(), model()]);
        assert!(lost.recent(2).is_empty());
        let texts = |said: &[Said]| said.iter().map(Said::text).collect::<Vec<_>>();
        assert_eq!(texts(&lost.recent_since_prompt(2)), ["u", "m"]);
        assert_eq!(lost.recent_since_prompt(3).len(), 3);
        let silent = spoken(&[model(), model(), model()]);
        assert!(silent.recent_since_prompt(2).is_empty());
    }
}
