//! `user` and `assistant`: a message of a session file, whatever its format; `system`: what the
//! agent noted.

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
    /// Who speaks.
    pub r#type: MessageRole,
    /// What is said.
    pub message: SpokenMessage,
    /// The call that started the subagent that speaks; always `null`, since files do not say.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// Names the record in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The timestamp, as stored in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// What turnpipe knows about it.
    pub turnpipe: SessionMessageExtension,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// A person, or the agent on their behalf.
    User,
    /// The model.
    Assistant,
}

/// The message itself.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SpokenMessage {
    /// Names the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<MessageId>,
    /// Who speaks.
    pub role: MessageRole,
    /// The model that spoke.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its parts.
    pub content: Vec<SpokenBlock>,
    /// What it cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Why it ended, in the agent's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
}

impl SpokenMessage {
    /// A message without content.
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

/// A part of a message.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SpokenBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// Thinking.
    Thinking {
        /// The thought.
        thinking: String,
        /// What proves to the server that it was not changed.
        #[serde(skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// Thinking that the server encrypted.
    RedactedThinking {
        /// The encrypted thought.
        data: String,
    },
    /// A call of a tool.
    ToolUse {
        /// Names the call.
        id: ToolUseId,
        /// The tool.
        name: String,
        /// Its input.
        #[schemars(with = "Value")]
        input: Box<RawValue>,
        /// What a server of the Gemini API wants to see again beside the call.
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<String>,
    },
    /// The result of a call.
    ToolResult {
        /// The call that it answers.
        tool_use_id: ToolUseId,
        /// What came out: text, or blocks if there is more than text.
        content: SpokenResult,
        /// Whether the call failed, if the file says so.
        is_error: bool,
    },
    /// An image or another attachment.
    Image {
        /// Where it is.
        source: SpokenImageSource,
    },
}

/// What came out of a call.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum SpokenResult {
    /// Text only.
    Text(String),
    /// There is more than text.
    Blocks(Vec<SpokenBlock>),
}

/// Where an attachment is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SpokenImageSource {
    /// `base64` if it is here, `omitted` if it is not.
    pub r#type: String,
    /// E.g. `image/png`.
    pub media_type: String,
    /// The bytes in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
}

/// What turnpipe knows about a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SessionMessageExtension {
    /// The version of the contract.
    pub v: Version,
    /// What the message is there for.
    pub origin: Origin,
    /// Whether a subagent speaks, or is spoken to.
    #[serde(skip_serializing_if = "is_false")]
    pub subagent: bool,
    /// Which subagent, where it speaks in its own file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// A note of the agent for the reader of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct SessionNoteRecord {
    pub(crate) subtype: NoteSubtype,
    /// The text; empty if there is none.
    pub content: String,
    /// Names the record in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The timestamp, as stored in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// What turnpipe knows about it.
    pub turnpipe: SessionMessageExtension,
}
