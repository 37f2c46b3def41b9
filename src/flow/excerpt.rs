//! The parts of a conversation that titles and recaps need, in bounded memory.

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::message::{Block, Message, Origin};
use crate::side::Spoken;
use crate::side::recap::RecapGate;

/// How many messages with text are kept from the beginning.
const HEAD: usize = 64;

/// How many are kept from the end.
const TAIL: usize = 128;

/// How much of the beginning and of the end of a text is kept, in bytes.
const KEPT: usize = 16 * 1024;

/// The beginning and the end of a conversation.
#[derive(Debug, Default)]
pub struct Excerpt {
    head: Vec<Message>,
    tail: VecDeque<Message>,
    gate: RecapGate,
    messages: usize,
    compacted: bool,
}

impl Excerpt {
    /// Takes the next message.
    pub fn note(&mut self, message: Message) {
        self.gate.note(&message);
        self.messages += 1;
        self.compacted |= message.origin == Origin::Compaction;
        let reduced = reduced(message);
        if reduced.blocks.is_empty() {
            return;
        }
        if self.head.len() < HEAD {
            self.head.push(reduced);
            return;
        }
        if self.tail.len() == TAIL {
            self.tail.pop_front();
        }
        self.tail.push_back(reduced);
    }

    /// The first and the last messages with text.
    pub fn texts(&self) -> Vec<Message> {
        self.head.iter().chain(&self.tail).cloned().collect()
    }

    /// The beginning of this conversation, and then all that another excerpt kept: the end of the
    /// same conversation.
    #[must_use]
    pub fn followed_by(self, end: &Self) -> Self {
        Self {
            tail: end.texts().into(),
            ..self
        }
    }

    /// What people and the model said.
    pub fn spoken(&self) -> Spoken {
        let mut spoken = Spoken::default();
        for message in self.head.iter().chain(&self.tail) {
            spoken.note(message);
        }
        spoken
    }

    /// How many messages there were, of any kind.
    pub fn messages(&self) -> usize {
        self.messages
    }

    /// Whether the agent summed up what was said before.
    pub fn is_compacted(&self) -> bool {
        self.compacted
    }

    /// Decides on automatic recaps.
    pub fn gate(&self) -> &RecapGate {
        &self.gate
    }
}

/// A message without calls, results and attachments, its texts cut short.
fn reduced(message: Message) -> Message {
    let blocks = message.blocks.into_iter().filter_map(|block| match block {
        Block::Text(text) => Some(Block::Text(
            beginning_and_end(&text, KEPT, "\n").into_owned(),
        )),
        Block::Thinking(_) | Block::Call(_) | Block::Result(_) | Block::Media(_) => None,
    });
    Message {
        blocks: blocks.collect(),
        ..message
    }
}

/// The first and the last `kept` bytes of a long text, and what stands for all between them.
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
    fn a_long_conversation_is_kept_in_part() {
        let mut excerpt = Excerpt::default();
        for number in 0..1000 {
            excerpt.note(Message {
                blocks: vec![Block::Text(format!("{number} {}", "x".repeat(100_000)))],
                ..Message::new(Role::User, Origin::Prompt)
            });
        }
        let texts = excerpt.texts();
        assert_eq!(texts.len(), HEAD + TAIL);
        assert!(texts[0].text().starts_with("0 "));
        assert!(texts[HEAD + TAIL - 1].text().starts_with("999 "));
        assert!(texts[0].text().len() < 3 * KEPT);
        assert_eq!(excerpt.messages(), 1000);
    }
}
