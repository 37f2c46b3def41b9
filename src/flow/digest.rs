//! As much of a conversation as titles and recaps are made of; memory does not grow with it.

use std::collections::VecDeque;

use crate::dialog::{Block, Message, Origin};
use crate::side::Spoken;
use crate::side::recap::RecapGate;

/// So many messages with texts are kept from the beginning.
const HEAD: usize = 64;

/// So many are kept from the end.
const TAIL: usize = 128;

/// So much of a text is kept, in bytes: its beginning and its end.
const KEPT: usize = 16 * 1024;

/// See the module.
#[derive(Debug, Default)]
pub struct Digest {
    head: Vec<Message>,
    tail: VecDeque<Message>,
    gate: RecapGate,
    messages: usize,
    compacted: bool,
}

impl Digest {
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

    /// The messages with texts: the first ones and the last ones.
    pub fn texts(&self) -> Vec<Message> {
        self.head.iter().chain(&self.tail).cloned().collect()
    }

    /// The beginning of this conversation, and then all that another digest kept: the end of the
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

    /// What it takes for a recap that nobody asked for.
    pub fn gate(&self) -> &RecapGate {
        &self.gate
    }
}

/// A message without calls, results and attachments, its texts cut short.
fn reduced(message: Message) -> Message {
    let blocks = message.blocks.into_iter().filter_map(|block| match block {
        Block::Text(text) => Some(Block::Text(beginning_and_end(text))),
        Block::Thinking(_) | Block::Call(_) | Block::Result(_) | Block::Media(_) => None,
    });
    Message {
        blocks: blocks.collect(),
        ..message
    }
}

fn beginning_and_end(text: String) -> String {
    if text.len() <= 2 * KEPT {
        return text;
    }
    let head = text.floor_char_boundary(KEPT);
    let tail = text.ceil_char_boundary(text.len() - KEPT);
    format!("{}\n{}", &text[..head], &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialog::Role;

    #[test]
    fn a_long_conversation_is_kept_in_part() {
        let mut digest = Digest::default();
        for number in 0..1000 {
            digest.note(Message {
                blocks: vec![Block::Text(format!("{number} {}", "x".repeat(100_000)))],
                ..Message::new(Role::User, Origin::Prompt)
            });
        }
        let texts = digest.texts();
        assert_eq!(texts.len(), HEAD + TAIL);
        assert!(texts[0].text().starts_with("0 "));
        assert!(texts[HEAD + TAIL - 1].text().starts_with("999 "));
        assert!(texts[0].text().len() < 3 * KEPT);
        assert_eq!(digest.messages(), 1000);
    }
}
