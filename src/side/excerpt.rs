//! The part of a conversation that titles and recaps need, in bounded memory.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::recap::RecapGate;
use super::spoken::{Said, Spoken};
use super::title::TITLE_MESSAGES;
use super::{Language, dominant_language};
use crate::message::{Block, Message, Origin, Role};

/// Number of messages with text that are kept from the start.
const HEAD_MESSAGES: usize = 64;

/// Number of messages with text that are kept from the end.
const TAIL_MESSAGES: usize = 128;

/// Bytes of the start and of the end of a text that are kept.
const KEPT_BYTES: usize = 16 * 1024;

/// The start and the end of a conversation.
#[derive(Debug, Default)]
pub struct Excerpt {
    head: Vec<Message>,
    tail: VecDeque<Message>,
    gate: RecapGate,
    messages: usize,
    compacted: bool,
}

impl Excerpt {
    /// Adds a message.
    pub fn note(&mut self, message: Message) {
        self.gate.note(&message);
        self.messages += 1;
        self.compacted |= message.origin == Origin::Compaction;
        let reduced = reduced(message);
        if reduced.blocks.is_empty() {
            return;
        }
        if self.head.len() < HEAD_MESSAGES {
            self.head.push(reduced);
            return;
        }
        if self.tail.len() == TAIL_MESSAGES {
            self.tail.pop_front();
        }
        self.tail.push_back(reduced);
    }

    /// The first and the last messages with text.
    pub fn texts(&self) -> Vec<Message> {
        self.head.iter().chain(&self.tail).cloned().collect()
    }

    /// Joins the start of this conversation and `end`, a later part of the same conversation.
    #[must_use]
    pub fn followed_by(self, end: &Self) -> Self {
        Self {
            tail: end.texts().into(),
            ..self
        }
    }

    /// The texts of the user and the model.
    pub fn spoken(&self) -> Spoken {
        let mut spoken = Spoken::default();
        for message in self.head.iter().chain(&self.tail) {
            spoken.note(message);
        }
        spoken
    }

    /// The language of the user's last texts; if it is not recognised, of the model's last texts.
    pub fn language(&self) -> Option<Language> {
        let spoken = self.spoken();
        let language_of = |role: Role| {
            let recent = spoken.said().iter().rev().take(TITLE_MESSAGES);
            let texts = recent.filter(|said| said.role == role).map(Said::text);
            dominant_language(&texts.collect::<Vec<_>>().join("\n\n"))
        };
        language_of(Role::User).or_else(|| language_of(Role::Assistant))
    }

    /// The number of messages of any kind.
    pub fn messages(&self) -> usize {
        self.messages
    }

    /// Whether the agent has compacted the conversation.
    pub fn is_compacted(&self) -> bool {
        self.compacted
    }

    /// The state that decides on automatic recaps.
    pub fn gate(&self) -> &RecapGate {
        &self.gate
    }
}

/// Removes calls, results and attachments, and cuts long texts.
fn reduced(message: Message) -> Message {
    let blocks = message.blocks.into_iter().filter_map(|block| match block {
        Block::Text(text) => Some(Block::Text(
            beginning_and_end(&text, KEPT_BYTES, "\n").into_owned(),
        )),
        Block::Thinking(_) | Block::Call(_) | Block::Result(_) | Block::Media(_) => None,
    });
    Message {
        blocks: blocks.collect(),
        ..message
    }
}

/// Returns the first and the last `kept` bytes of a longer text, with `gap` between them.
pub(super) fn beginning_and_end<'a>(text: &'a str, kept: usize, gap: &str) -> Cow<'a, str> {
    if text.len() <= 2 * kept {
        return text.into();
    }
    let head = text.floor_char_boundary(kept);
    let tail = text.ceil_char_boundary(text.len() - kept);
    format!("{}{gap}{}", &text[..head], &text[tail..]).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Role;

    #[test]
    fn a_long_conversation_is_cut() {
        let mut excerpt = Excerpt::default();
        for number in 0..1000 {
            excerpt.note(Message {
                blocks: vec![Block::Text(format!("{number} {}", "x".repeat(100_000)))],
                ..Message::new(Role::User, Origin::Prompt)
            });
        }
        let texts = excerpt.texts();
        assert_eq!(texts.len(), HEAD_MESSAGES + TAIL_MESSAGES);
        assert!(texts[0].text().starts_with("0 "));
        assert!(
            texts[HEAD_MESSAGES + TAIL_MESSAGES - 1]
                .text()
                .starts_with("999 ")
        );
        assert!(texts[0].text().len() < 3 * KEPT_BYTES);
        assert_eq!(excerpt.messages(), 1000);
    }
}
