//! The content of a decoded record apart from its events.

use crate::agent::StreamItem;
use crate::api::{AssistantText, Contents, ResultBody};
use crate::message::{Role, ToolUseId};

/// The source of events.
#[derive(Debug)]
pub enum Source<'a> {
    /// A record.
    Record(&'a Contents<'a>),
    /// An item of another agent's stream.
    Stream(StreamItem),
}

impl<'a> Source<'a> {
    /// Whether the record belongs to a subagent's conversation, in a transcript.
    pub fn is_sidechain(&self) -> bool {
        matches!(self, Self::Record(contents) if contents.is_sidechain())
    }

    /// The working directory.
    pub fn directory(&self) -> Option<String> {
        match self {
            Self::Record(contents) => contents.directory(),
            Self::Stream(_) => None,
        }
    }

    /// The calls that the record is a label for.
    pub fn labelled_calls(&self) -> Vec<ToolUseId> {
        match self {
            Self::Record(contents) => contents.labelled_calls(),
            Self::Stream(_) => Vec::new(),
        }
    }

    /// The results, in the order of their events.
    pub fn results(&self) -> Vec<ResultBody<'a>> {
        match self {
            Self::Record(contents) => contents.results(),
            Self::Stream(StreamItem::Message { message, .. }) => {
                message.results().map(ResultBody::of).collect()
            }
            Self::Stream(_) => Vec::new(),
        }
    }

    /// The text of the main conversation's model, if there is any.
    pub fn assistant_text(&self) -> Option<AssistantText> {
        match self {
            Self::Record(contents) => contents.assistant_text(),
            Self::Stream(StreamItem::Text(part)) => Some(AssistantText::Part(part.clone())),
            Self::Stream(StreamItem::Message { message, .. }) => {
                let text = message.text();
                let is_said = message.role == Role::Assistant && !text.is_empty();
                is_said.then_some(AssistantText::Whole(text))
            }
            Self::Stream(StreamItem::Start(_)) => None,
        }
    }
}
