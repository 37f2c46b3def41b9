//! `user`: the result of one call.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::constant::{UserRole, tagged};
use super::extension::ToolResultExtension;
use crate::message::{Media, ResultPart, SessionId, ToolResult, ToolUseId};

/// The result of one call. There is exactly one for each call that was ours to run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "user")]
#[schemars(transform = tagged("user"))]
pub struct ToolResultRecord {
    /// What the model gets to see.
    pub message: ResultMessage,
    /// The call that started the subagent whose call this was; `null` in the main thread.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// The structured output of the tool; its shape depends on the tool.
    pub tool_use_result: Value,
    /// What turnpipe adds.
    pub turnpipe: ToolResultExtension,
    /// Names this record.
    pub uuid: String,
    /// The session.
    pub session_id: SessionId,
    /// When it was written, RFC 3339.
    pub timestamp: String,
}

/// A user message with one result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ResultMessage {
    role: UserRole,
    /// One block.
    pub content: [ToolResultBlock; 1],
}

impl ResultMessage {
    /// The message with this result.
    pub fn new(block: ToolResultBlock) -> Self {
        Self {
            role: UserRole::Only,
            content: [block],
        }
    }
}

/// A `tool_result` block.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "tool_result")]
#[schemars(transform = tagged("tool_result"))]
pub struct ToolResultBlock {
    /// The call it answers.
    pub tool_use_id: ToolUseId,
    /// The output, or what was wrong.
    pub content: ResultContent,
    /// Whether the call failed or did not run.
    pub is_error: bool,
}

impl From<ToolResultBlock> for ToolResult {
    fn from(block: ToolResultBlock) -> Self {
        let parts = match block.content {
            ResultContent::Text(text) => vec![ResultPart::Text(text)],
            ResultContent::Blocks(blocks) => blocks.into_iter().map(ResultPart::from).collect(),
        };
        Self {
            id: block.tool_use_id.0,
            parts,
            failed: block.is_error,
        }
    }
}

impl From<ResultBlock> for ResultPart {
    fn from(block: ResultBlock) -> Self {
        match block {
            ResultBlock::Text { text } => Self::Text(text),
            ResultBlock::Image { source } => Self::Media(Media {
                media_type: source.media_type,
                data: Some(source.data),
            }),
        }
    }
}

/// The content of a result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ResultContent {
    /// Text only.
    Text(String),
    /// Blocks: there is more than text.
    Blocks(Vec<ResultBlock>),
}

/// A block in the content of a result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ResultBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image {
        /// Where it is.
        source: ImageSource,
    },
}

/// An image in the record itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "base64")]
#[schemars(transform = tagged("base64"))]
pub struct ImageSource {
    /// E.g. `image/png`.
    pub media_type: String,
    /// The bytes in base64.
    pub data: String,
}
