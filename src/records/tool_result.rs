//! `user`: the result of one call.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::constant::{UserRole, tagged};
use super::extension::ToolResultExtension;
use crate::message::{Media, ResultPart, SessionId, ToolResult, ToolUseId};

/// Result of one call. Each call of the stream that has no result yet gets exactly one.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "user")]
#[schemars(transform = tagged("user"))]
pub struct ToolResultRecord {
    /// The message for the model.
    pub message: ResultMessage,
    /// Call that started the subagent which made this call; `null` in the main thread.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// Structured output, in a form that depends on the tool.
    pub tool_use_result: Value,
    /// The turnpipe extension.
    pub turnpipe: ToolResultExtension,
    /// Id of this record.
    pub uuid: String,
    /// Session id.
    pub session_id: SessionId,
    /// Time of writing, RFC 3339.
    pub timestamp: String,
}

/// A user message with one result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ResultMessage {
    role: UserRole,
    /// The result block.
    pub content: [ToolResultBlock; 1],
}

impl ResultMessage {
    /// Returns a message with this result.
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
    /// Id of the call.
    pub tool_use_id: ToolUseId,
    /// Output or error message.
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

/// Content of a result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ResultContent {
    /// Text only.
    Text(String),
    /// Blocks, if the content is more than text.
    Blocks(Vec<ResultBlock>),
}

/// A block of a result.
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
        /// Source of the image.
        source: ImageSource,
    },
}

/// An image embedded in the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "base64")]
#[schemars(transform = tagged("base64"))]
pub struct ImageSource {
    /// E.g. `image/png`.
    pub media_type: String,
    /// The bytes in base64.
    pub data: String,
}
