//! The parts of a message.

use serde_json::value::RawValue;

/// One part of a message.
#[derive(Debug, Clone)]
pub enum Block {
    /// Text.
    Text(String),
    /// Thinking of the model.
    Thinking(Thought),
    /// A call of a tool.
    Call(Call),
    /// The result of a call.
    Result(ToolResult),
    /// An image or another attachment.
    Media(Media),
}

impl Block {
    /// Thinking that nobody signed.
    pub fn thinking(text: impl Into<String>) -> Self {
        Self::Thinking(Thought::Plain(text.into()))
    }
}

/// What a model thought. Some servers take a thought back only as they gave it, with its signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thought {
    /// Its text.
    Plain(String),
    /// Its text, and what proves that it was not changed.
    Signed {
        /// The text.
        text: String,
        /// The proof.
        signature: String,
    },
    /// It is encrypted.
    Redacted {
        /// The encrypted text.
        data: String,
    },
}

impl Thought {
    /// What can be read of it.
    pub fn text(&self) -> &str {
        match self {
            Self::Plain(text) | Self::Signed { text, .. } => text,
            Self::Redacted { .. } => "",
        }
    }
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub struct Call {
    /// The id of the call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its input as in the file; usually an object.
    pub input: Box<RawValue>,
    /// What the server wants to see again beside the call.
    pub signature: Option<String>,
}

/// The result of a call.
#[derive(Debug, Clone)]
pub struct ToolResult {
    /// The call that it answers.
    pub id: String,
    /// The output.
    pub parts: Vec<ResultPart>,
    /// Whether the file says that the call failed.
    pub failed: bool,
}

/// A part of the output of a call.
#[derive(Debug, Clone)]
pub enum ResultPart {
    /// Text.
    Text(String),
    /// An image or another attachment.
    Media(Media),
}

impl From<ResultPart> for Block {
    fn from(part: ResultPart) -> Self {
        match part {
            ResultPart::Text(text) => Self::Text(text),
            ResultPart::Media(media) => Self::Media(media),
        }
    }
}

/// An image or another attachment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// E.g. `image/png`; empty if unknown.
    pub media_type: String,
    /// The bytes in base64, if they are in the file.
    pub data: Option<String>,
}

impl ToolResult {
    /// The text of the result, without attachments.
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
