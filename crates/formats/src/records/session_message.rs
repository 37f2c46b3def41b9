//! Messages of session files: `user` and `assistant` records, and `system` records for notes of the
//! agent. They have the same form for every file format.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::constant::NoteSubtype;
use super::side::{SideExtension, ToolUseSummaryRecord};
use super::tool_result::Version;
use turnpipe_core::message::{
    Block, Media, Message, MessageId, Origin, ResultPart, Role, SessionId, Thought, Thread,
    ToolUseId, Usage,
};

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
    /// Time, RFC 3339.
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
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub subagent: bool,
    /// Id of the subagent, if the file is a subagent transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
}

/// A note written by the agent for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
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
    /// Time, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// The turnpipe extension.
    pub turnpipe: SessionMessageExtension,
}

/// Source of a message.
#[derive(Debug, Clone, Default)]
pub struct MessageContext {
    /// Session id.
    pub session_id: Option<SessionId>,
    /// Id of the subagent, if the file is a subagent transcript.
    pub agent_id: Option<String>,
    /// Working directory of the session. In text output, paths below it are relative to it.
    pub cwd: Option<String>,
}

/// Record of a message or note.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum DialogRecord {
    /// A message of the user or the model.
    Message(Box<SessionMessageRecord>),
    /// A label of a batch of calls.
    Label(ToolUseSummaryRecord),
    /// A note of the agent.
    Note(SessionNoteRecord),
}

/// Converts a message to a record.
pub fn to_record(message: Message, about: &MessageContext) -> DialogRecord {
    let turnpipe = SessionMessageExtension {
        v: crate::records::Version::default(),
        origin: message.origin,
        subagent: message.thread == Thread::Subagent || about.agent_id.is_some(),
        agent_id: about.agent_id.clone(),
    };
    let role = match message.role {
        Role::User => MessageRole::User,
        Role::Assistant => MessageRole::Assistant,
        Role::System if message.origin == Origin::Meter => MessageRole::Assistant,
        // Later stages of a pipeline make no other label for these calls.
        Role::System if !message.labelled_calls.is_empty() => {
            return DialogRecord::Label(ToolUseSummaryRecord {
                summary: message.text(),
                preceding_tool_use_ids: to_ids(message.labelled_calls),
                // Labels of other programs may have none.
                uuid: message.uuid.unwrap_or_default(),
                session_id: about.session_id.clone(),
                turnpipe: SideExtension {
                    model: message.model,
                    ..SideExtension::default()
                },
            });
        }
        Role::System => {
            return DialogRecord::Note(SessionNoteRecord {
                subtype: NoteSubtype::Only,
                content: message.text(),
                uuid: message.uuid,
                session_id: about.session_id.clone(),
                timestamp: message.time,
                turnpipe,
            });
        }
    };
    DialogRecord::Message(Box::new(SessionMessageRecord {
        r#type: role,
        message: MessageBody {
            id: message.id.map(MessageId),
            model: message.model,
            content: message.blocks.into_iter().map(to_block).collect(),
            usage: message.usage,
            role,
            stop_reason: None,
        },
        parent_tool_use_id: message.parent_call.map(ToolUseId),
        uuid: message.uuid,
        session_id: about.session_id.clone(),
        timestamp: message.time,
        turnpipe,
    }))
}

fn to_ids(calls: Vec<String>) -> Vec<ToolUseId> {
    calls.into_iter().map(ToolUseId).collect()
}

fn to_block(block: Block) -> MessageBlock {
    match block {
        Block::Text(text) => MessageBlock::Text { text },
        Block::Thinking(Thought::Plain(thinking)) => MessageBlock::Thinking {
            thinking,
            signature: None,
        },
        Block::Thinking(Thought::Signed { text, signature }) => MessageBlock::Thinking {
            thinking: text,
            signature: Some(signature),
        },
        Block::Thinking(Thought::Redacted { data }) => MessageBlock::RedactedThinking { data },
        Block::Call(call) => MessageBlock::ToolUse {
            id: ToolUseId(call.id),
            name: call.name,
            input: remove_newlines(call.input),
            thought_signature: call.signature,
        },
        Block::Result(result) => MessageBlock::ToolResult {
            tool_use_id: ToolUseId(result.id),
            content: to_result(result.parts),
            is_error: result.failed,
        },
        Block::Media(media) => to_image(media),
    }
}

/// Replaces line breaks in JSON by spaces, so that the record fits on one line. JSON strings contain
/// no literal line breaks.
fn remove_newlines(json: Box<RawValue>) -> Box<RawValue> {
    if !json.get().contains(['\n', '\r']) {
        return json;
    }
    RawValue::from_string(json.get().replace(['\n', '\r'], " ")).unwrap_or(json)
}

fn to_result(mut parts: Vec<ResultPart>) -> MessageResult {
    if parts.is_empty() {
        return MessageResult::Text(String::new());
    }
    if let [ResultPart::Text(text)] = parts.as_mut_slice() {
        return MessageResult::Text(std::mem::take(text));
    }
    let blocks = parts.into_iter().map(|part| match part {
        ResultPart::Text(text) => MessageBlock::Text { text },
        ResultPart::Media(media) => to_image(media),
    });
    MessageResult::Blocks(blocks.collect())
}

fn to_image(media: Media) -> MessageBlock {
    let kind = match media.data {
        Some(_) => "base64",
        None => "omitted",
    };
    MessageBlock::Image {
        source: AttachmentSource {
            r#type: kind.to_owned(),
            media_type: media.media_type,
            data: media.data,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnpipe_core::message::{Call, Origin};

    #[test]
    fn a_record_is_on_one_line() {
        let message = Message {
            blocks: vec![Block::Call(Call {
                id: "1".to_owned(),
                name: "x".to_owned(),
                input: RawValue::from_string("{\n  \"a\": \"\\n\"\r\n}".to_owned()).unwrap(),
                signature: None,
            })],
            ..Message::new(Role::Assistant, Origin::Reply)
        };
        let json = serde_json::to_string(&to_record(message, &MessageContext::default())).unwrap();
        assert!(!json.contains(['\n', '\r']), "{json}");
        assert!(json.contains(r#""a": "\n""#), "{json}");
    }
}
