//! Messages, and the merging of their records.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Block, ResultPart, Thought, Usage};
use crate::text::{redact_json, redact_parts};

/// Role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user, or the agent on the user's behalf.
    User,
    /// The model.
    Assistant,
    /// The agent, for the user.
    System,
}

/// Origin of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Typed by the user.
    Prompt,
    /// Written by the model.
    Reply,
    /// Tool results.
    Results,
    /// Added by the agent: context, reminders, notices to the model.
    Injected,
    /// Summary that replaces the messages before a compaction.
    Summary,
    /// Marker of a compaction.
    Compaction,
    /// A failed request.
    Error,
    /// A recap for a returning user.
    Recap,
    /// A label of earlier calls.
    Label,
    /// Reading of a token meter that counts from the start of the session: its usage is the sum so far,
    /// and it has no content.
    Meter,
}

/// Thread that a message belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Thread {
    /// The main conversation.
    Main,
    /// The conversation of a subagent.
    Subagent,
}

/// A message, or the part of it in one record.
#[derive(Debug, Clone)]
pub struct Message {
    /// Role of the message.
    pub role: Role,
    /// Origin of the message.
    pub origin: Origin,
    /// Thread of the message.
    pub thread: Thread,
    /// Id of the call that started the subagent of the message, if it is known.
    pub parent_call: Option<String>,
    /// Id of the message, shared by its records.
    pub id: Option<String>,
    /// Id of the record.
    pub uuid: Option<String>,
    /// Name of the model.
    pub model: Option<String>,
    /// Timestamp as stored in the file: RFC 3339.
    pub time: Option<String>,
    /// Blocks of the message.
    pub blocks: Vec<Block>,
    /// Token counts and cost.
    pub usage: Option<Usage>,
    /// Ids of the calls that a label is about.
    pub labelled_calls: Vec<String>,
}

impl Message {
    /// Creates a message without content.
    pub fn new(role: Role, origin: Origin) -> Self {
        Self {
            role,
            origin,
            thread: Thread::Main,
            parent_call: None,
            id: None,
            uuid: None,
            model: None,
            time: None,
            blocks: Vec::new(),
            usage: None,
            labelled_calls: Vec::new(),
        }
    }

    /// Returns the size of its texts and results, in bytes.
    pub fn size(&self) -> usize {
        let sizes = self.blocks.iter().map(|block| match block {
            Block::Text(text) => text.len(),
            Block::Result(result) => result.parts.iter().map(ResultPart::size).sum(),
            Block::Thinking(_) | Block::Call(_) | Block::Media(_) => 0,
        });
        sizes.sum()
    }

    /// Masks text that looks like a key or a password.
    pub fn redact(&mut self) {
        let mut texts = Vec::new();
        for block in &mut self.blocks {
            match block {
                Block::Text(text)
                | Block::Thinking(Thought::Plain(text) | Thought::Signed { text, .. }) => {
                    texts.push(text);
                }
                Block::Call(call) => {
                    let input = RawValue::from_string(redact_json(call.input.get()));
                    call.input = input.unwrap_or_default();
                }
                Block::Result(result) => {
                    let parts = result.parts.iter_mut();
                    texts.extend(parts.filter_map(|part| match part {
                        ResultPart::Text(text) => Some(text),
                        ResultPart::Media(_) => None,
                    }));
                }
                Block::Thinking(Thought::Redacted { .. }) | Block::Media(_) => {}
            }
        }
        redact_parts(&mut texts, &["\n"]);
    }

    /// Returns the text blocks, joined by blank lines.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.blocks.iter().filter_map(Block::as_text).collect();
        texts.join("\n\n")
    }

    /// Returns the calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &super::Call> {
        self.blocks.iter().filter_map(Block::as_call)
    }

    /// Returns the results, in order.
    pub fn results(&self) -> impl Iterator<Item = &super::ToolResult> {
        self.blocks.iter().filter_map(Block::as_result)
    }
}

/// Merges consecutive records of one message. Agents write one record per block, all with the same
/// message id, and repeat the usage in each; the largest is valid. The blocks of a record are whole:
/// deltas are joined in `assemble`.
#[derive(Debug, Default)]
pub struct MessageMerger {
    open: Option<Message>,
}

impl MessageMerger {
    /// Adds the message of the next record. Returns the previous message once it is complete.
    pub fn push(&mut self, message: Message) -> Option<Message> {
        match &mut self.open {
            Some(open) if is_continuation(open, &message) => {
                open.blocks.extend(message.blocks);
                open.usage = Usage::larger(open.usage, message.usage);
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

fn is_continuation(first: &Message, next: &Message) -> bool {
    first.role == Role::Assistant
        && next.role == Role::Assistant
        && first.id.is_some()
        && first.id == next.id
        && first.thread == next.thread
        && first.parent_call == next.parent_call
}

/// Matches calls and results by id; they need not be adjacent or in order. Stores one entry per call
/// id.
#[derive(Debug, Default)]
pub struct Pairs {
    counts: HashMap<String, PairCounts>,
    order: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default)]
struct PairCounts {
    calls: u64,
    results: u64,
}

impl Pairs {
    /// Adds the calls and results of a message.
    pub fn add(&mut self, message: &Message) {
        for call in message.calls() {
            self.entry(&call.id).calls += 1;
        }
        for result in message.results() {
            self.entry(&result.id).results += 1;
        }
    }

    fn entry(&mut self, id: &str) -> &mut PairCounts {
        if !self.counts.contains_key(id) {
            self.order.push(id.to_owned());
        }
        self.counts.entry(id.to_owned()).or_default()
    }

    /// Returns the calls without a result, in order of their first occurrence.
    pub fn unanswered_calls(&self) -> Vec<&str> {
        self.ids(|counts| counts.calls > 0 && counts.results == 0)
    }

    /// Returns the results without a call, in order.
    pub fn orphans(&self) -> Vec<&str> {
        self.ids(|counts| counts.calls == 0)
    }

    fn ids(&self, wanted: impl Fn(&PairCounts) -> bool) -> Vec<&str> {
        self.order
            .iter()
            .filter(|id| self.counts.get(*id).is_some_and(&wanted))
            .map(String::as_str)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut merger = MessageMerger::default();
        let mut whole = Vec::new();
        let records = [
            reply("a", "1", 1),
            reply("a", "2", 9),
            reply("b", "3", 2),
            reply("", "4", 3),
            reply("", "5", 4),
        ];
        for record in records {
            whole.extend(merger.push(record));
        }
        whole.extend(merger.finish());
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
