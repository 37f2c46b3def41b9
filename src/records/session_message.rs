//! Messages of session files: `user` and `assistant` records, and `system` records for notes of the
//! agent. They have the same form for every file format.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::constant::{NoteSubtype, tagged};
use super::extension::Version;
use crate::message::{MessageId, Origin, SessionId, ToolUseId, Usage};

/// A message of a session file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionMessageRecord {
    /// Role of the message.
    pub r#type: MessageRole,
    /// The message.
    pub message: MessageBody,
    /// Always `null`: session files do not name the call that started a subagent.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// Id of the record in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Session id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The timestamp, as stored in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// The turnpipe extension.
    pub turnpipe: SessionMessageExtension,
}

/// Role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// The user, or the agent on the user's behalf.
    User,
    /// The model.
    Assistant,
}

/// A message with its blocks.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MessageBody {
    /// Id of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<MessageId>,
    /// Role of the message.
    pub role: MessageRole,
    /// Name of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The blocks of the message.
    pub content: Vec<MessageBlock>,
    /// Token counts and cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Stop reason, as written by the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
}

impl MessageBody {
    /// Returns a message without content.
    pub fn new(role: MessageRole) -> Self {
        Self {
            id: None,
            role,
            model: None,
            content: Vec::new(),
            usage: None,
            stop_reason: None,
        }
    }
}

/// A block of a message.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MessageBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// Thinking.
    Thinking {
        /// The text of the thinking block.
        thinking: String,
        /// Signature that lets the server verify the block.
        #[serde(skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// Thinking encrypted by the server.
    RedactedThinking {
        /// The encrypted text.
        data: String,
    },
    /// A tool call.
    ToolUse {
        /// Id of the call.
        id: ToolUseId,
        /// Name of the tool.
        name: String,
        /// Input of the tool.
        #[schemars(with = "Value")]
        input: Box<RawValue>,
        /// Signature that servers of the Gemini API expect to get back with the call.
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<String>,
    },
    /// A tool result.
    ToolResult {
        /// Id of the call.
        tool_use_id: ToolUseId,
        /// Output of the tool.
        content: MessageResult,
        /// Whether the call failed, if the file says so.
        is_error: bool,
    },
    /// An image or another attachment.
    Image {
        /// Source of the attachment.
        source: AttachmentSource,
    },
}

/// Output of a call.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum MessageResult {
    /// Text only.
    Text(String),
    /// Blocks, if the output is more than one text.
    Blocks(Vec<MessageBlock>),
}

/// Source of an attachment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AttachmentSource {
    /// `base64` if `data` is present, `omitted` if not.
    pub r#type: String,
    /// E.g. `image/png`.
    pub media_type: String,
    /// The bytes in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
}

/// The extension of a message from a session file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SessionMessageExtension {
    pub v: Version,
    /// Origin of the message.
    pub origin: Origin,
    /// Whether the message belongs to a subagent.
    #[serde(skip_serializing_if = "is_false")]
    pub subagent: bool,
    /// Id of the subagent, if the file is a subagent transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// A note written by the agent for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct SessionNoteRecord {
    pub(crate) subtype: NoteSubtype,
    /// The text; empty if there is none.
    pub content: String,
    /// Id of the record in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Session id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The timestamp, as stored in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// The turnpipe extension.
    pub turnpipe: SessionMessageExtension,
}
