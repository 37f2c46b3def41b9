//! Joins the records of a message.

use super::{Message, Role};

/// Joins consecutive records of one message. Agents write one record per block, all with the same
/// message id, and repeat the usage in each; the last usage is valid.
#[derive(Debug, Default)]
pub struct MessageJoiner {
    open: Option<Message>,
}

impl MessageJoiner {
    /// Adds the message of the next record. Returns the previous message once it is complete.
    pub fn push(&mut self, message: Message) -> Option<Message> {
        match &mut self.open {
            Some(open) if continues(open, &message) => {
                open.blocks.extend(message.blocks);
                open.usage = message.usage.or(open.usage);
                open.model = open.model.take().or(message.model);
                None
            }
            _ => self.open.replace(message),
        }
    }

    /// Returns the message that may be incomplete.
    pub fn open(&self) -> Option<&Message> {
        self.open.as_ref()
    }

    /// Returns the last message.
    pub fn finish(&mut self) -> Option<Message> {
        self.open.take()
    }
}

fn continues(open: &Message, next: &Message) -> bool {
    open.role == Role::Assistant
        && next.role == Role::Assistant
        && open.id.is_some()
        && open.id == next.id
        && open.thread == next.thread
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Block, Origin, Usage};

    fn reply(id: &str, text: &str, output: u64) -> Message {
        Message {
            id: (!id.is_empty()).then(|| id.to_owned()),
            blocks: vec![Block::Text(text.to_owned())],
            usage: Some(Usage {
                output,
                ..Usage::default()
            }),
            ..Message::new(Role::Assistant, Origin::Reply)
        }
    }

    #[test]
    fn records_of_a_message_become_one_with_the_last_usage() {
        let mut joiner = MessageJoiner::default();
        let mut whole = Vec::new();
        let records = [
            reply("a", "1", 1),
            reply("a", "2", 9),
            reply("b", "3", 2),
            reply("", "4", 3),
            reply("", "5", 4),
        ];
        for record in records {
            whole.extend(joiner.push(record));
        }
        whole.extend(joiner.finish());
        let seen: Vec<(String, u64)> = whole
            .iter()
            .map(|message| (message.text(), message.usage.unwrap().output))
            .collect();
        let expected = [("1\n\n2", 9), ("3", 2), ("4", 3), ("5", 4)];
        assert_eq!(
            seen,
            expected.map(|(text, output)| (text.to_owned(), output))
        );
    }
}
