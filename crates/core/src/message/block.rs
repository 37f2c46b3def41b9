//! Blocks of messages, and ids.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::decision::CallOutcome;

/// A block of a message.
#[derive(Debug, Clone)]
pub enum Block {
    /// Plain text.
    Text(String),
    /// Thinking of the model.
    Thinking(Thought),
    /// A tool call.
    Call(Call),
    /// A tool result.
    Result(ToolResult),
    /// An image or another attachment.
    Media(Media),
}

impl Block {
    /// Creates a thinking block without a signature.
    pub fn thinking(text: impl Into<String>) -> Self {
        Self::Thinking(Thought::Plain(text.into()))
    }

    /// Returns the text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the call.
    pub fn as_call(&self) -> Option<&Call> {
        match self {
            Self::Call(call) => Some(call),
            _ => None,
        }
    }

    /// Returns the result of a call.
    pub fn as_result(&self) -> Option<&ToolResult> {
        match self {
            Self::Result(result) => Some(result),
            _ => None,
        }
    }
}

/// Thinking of the model. Some servers accept it back only unchanged and with its signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thought {
    /// Text without a signature.
    Plain(String),
    /// Text with a signature.
    Signed {
        /// The thinking.
        text: String,
        /// Signature with which the server checks that the text is unchanged.
        signature: String,
    },
    /// Encrypted thinking.
    Redacted {
        /// The encrypted text.
        data: String,
    },
}

impl Thought {
    /// Returns the readable text; empty if encrypted.
    pub fn text(&self) -> &str {
        match self {
            Self::Plain(text) | Self::Signed { text, .. } => text,
            Self::Redacted { .. } => "",
        }
    }
}

/// A tool call.
#[derive(Debug, Clone)]
pub struct Call {
    /// Id of the call.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Input as written in the file; usually an object.
    pub input: Box<RawValue>,
    /// Signature that the server expects back with the call.
    pub signature: Option<String>,
}

/// A tool result.
#[derive(Debug, Clone, Default)]
pub struct ToolResult {
    /// Id of the call.
    pub id: String,
    /// The output.
    pub parts: Vec<ResultPart>,
    /// Whether the call failed, according to the file.
    pub failed: bool,
    /// How the call ended, if the file states it apart from the text.
    pub end: Option<CallEnd>,
}

impl ToolResult {
    /// Returns the exit status of its process, if the file states it apart from the text.
    pub fn status(&self) -> Option<i64> {
        match self.end {
            Some(CallEnd::Exited(status)) => Some(status),
            _ => None,
        }
    }
}

/// The end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEnd {
    /// Its process exited with this status.
    Exited(i64),
    /// The user interrupted it.
    Interrupted,
}

/// A block of a tool result.
#[derive(Debug, Clone)]
pub enum ResultPart {
    /// Text.
    Text(String),
    /// An image or another attachment.
    Media(Media),
}

impl ResultPart {
    /// Returns the size of its content, in bytes.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Media(media) => media.data.as_ref().map_or(0, String::len),
        }
    }
}

impl From<ResultPart> for Block {
    fn from(part: ResultPart) -> Self {
        match part {
            ResultPart::Text(text) => Self::Text(text),
            ResultPart::Media(media) => Self::Media(media),
        }
    }
}

/// Returns the input of a call, or the empty object if there is none.
pub fn input_of(raw: Option<&RawValue>) -> Box<RawValue> {
    match raw {
        Some(raw) => raw.to_owned(),
        // This is valid JSON.
        None => RawValue::from_string("{}".to_owned()).unwrap_or_default(),
    }
}

/// Returns the blocks that may be part of a result.
pub fn result_parts(blocks: Vec<Block>) -> Vec<ResultPart> {
    let parts = blocks.into_iter().filter_map(|block| match block {
        Block::Text(text) => Some(ResultPart::Text(text)),
        Block::Media(media) => Some(ResultPart::Media(media)),
        Block::Thinking(_) | Block::Call(_) | Block::Result(_) => None,
    });
    parts.collect()
}

/// An image or another attachment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// E.g. `image/png`; empty if unknown.
    pub media_type: String,
    /// Contents in base64, if they are in the file.
    pub data: Option<String>,
}

impl ToolResult {
    /// Returns the outcome of the call.
    pub fn outcome(&self) -> CallOutcome {
        match self.end {
            Some(CallEnd::Interrupted) => CallOutcome::Interrupted,
            _ => CallOutcome::from_result(&self.text(), self.failed),
        }
    }

    /// Returns the text of the result, without attachments.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .parts
            .iter()
            .filter_map(|part| match part {
                ResultPart::Text(text) => Some(text.as_str()),
                ResultPart::Media(_) => None,
            })
            .collect();
        texts.join("\n")
    }
}

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// Returns the id as written in records.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    };
}

identifier! {
    /// Id of a tool call (`tool_use.id`, `tool_calls[].id`, `functionCall.id`).
    ToolUseId
}
identifier! {
    /// Id of an assistant message (`message.id`), shared by all its records.
    MessageId
}
identifier! {
    /// Id of a session.
    SessionId
}
