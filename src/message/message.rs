//! One message.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Block, Usage};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A person, or the agent on their behalf.
    User,
    /// The model.
    Assistant,
    /// The agent, to the reader of the file.
    System,
}

/// What a message is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A person typed it.
    Prompt,
    /// The model said it.
    Reply,
    /// It carries results of calls.
    Results,
    /// The agent added it: context, reminders, notices to the model.
    Injected,
    /// It stands for what was said before a compaction.
    Summary,
    /// The conversation was compacted here.
    Compaction,
    /// A request failed.
    Error,
    /// A recap for a person who was away.
    Recap,
    /// A label for calls that came before.
    Label,
    /// The reading of a token meter that counts from the start of the session: the usage of the
    /// message is the sum so far, and there is nothing else in it.
    Meter,
}

/// Whose conversation a message belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Thread {
    /// The one that the person sees.
    Main,
    /// A subagent's.
    Subagent,
}

/// One message, or the part of it in one record.
#[derive(Debug, Clone)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// Its origin.
    pub origin: Origin,
    /// Whose conversation it belongs to.
    pub thread: Thread,
    /// The id of the message; its records share it.
    pub id: Option<String>,
    /// The id of the record.
    pub uuid: Option<String>,
    /// The model that spoke.
    pub model: Option<String>,
    /// The time as in the file: RFC 3339.
    pub time: Option<String>,
    /// Its content.
    pub blocks: Vec<Block>,
    /// What it cost.
    pub usage: Option<Usage>,
}

impl Message {
    /// A message without content.
    pub fn new(role: Role, origin: Origin) -> Self {
        Self {
            role,
            origin,
            thread: Thread::Main,
            id: None,
            uuid: None,
            model: None,
            time: None,
            blocks: Vec::new(),
            usage: None,
        }
    }

    /// The text, its blocks joined by blank lines.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text(text) => Some(text.as_str()),
                Block::Thinking(_) | Block::Call(_) | Block::Result(_) | Block::Media(_) => None,
            })
            .collect();
        texts.join("\n\n")
    }

    /// The calls in it, in order.
    pub fn calls(&self) -> impl Iterator<Item = &super::Call> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            Block::Text(_) | Block::Thinking(_) | Block::Result(_) | Block::Media(_) => None,
        })
    }

    /// The results in it, in order.
    pub fn results(&self) -> impl Iterator<Item = &super::ToolResult> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Result(result) => Some(result),
            Block::Text(_) | Block::Thinking(_) | Block::Call(_) | Block::Media(_) => None,
        })
    }
}
