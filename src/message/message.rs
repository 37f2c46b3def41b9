//! Messages.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Block, Usage};

/// Role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
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
}

impl Message {
    /// Creates a message without content.
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

    /// Returns the text blocks, joined by blank lines.
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

    /// Returns the calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &super::Call> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            Block::Text(_) | Block::Thinking(_) | Block::Result(_) | Block::Media(_) => None,
        })
    }

    /// Returns the results, in order.
    pub fn results(&self) -> impl Iterator<Item = &super::ToolResult> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Result(result) => Some(result),
            Block::Text(_) | Block::Thinking(_) | Block::Call(_) | Block::Media(_) => None,
        })
    }
}
