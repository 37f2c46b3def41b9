//! Conversion of messages to records.

use crate::message::{Block, Media, Message, Origin, ResultPart, Thought, Thread};
use crate::message::{MessageId, Role, SessionId, ToolUseId};
use crate::records::{
    AttachmentSource, MessageBlock, MessageBody, MessageResult, MessageRole, NoteSubtype,
    SessionMessageExtension, SessionMessageRecord, SessionNoteRecord,
};
use serde::Serialize;
use serde_json::value::RawValue;

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
    let speaker = match message.role {
        Role::User => MessageRole::User,
        Role::Assistant => MessageRole::Assistant,
        Role::System if message.origin == Origin::Meter => MessageRole::Assistant,
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
        r#type: speaker,
        message: MessageBody {
            id: message.id.map(MessageId),
            model: message.model,
            content: message.blocks.into_iter().map(block).collect(),
            usage: message.usage,
            ..MessageBody::new(speaker)
        },
        parent_tool_use_id: None,
        uuid: message.uuid,
        session_id: about.session_id.clone(),
        timestamp: message.time,
        turnpipe,
    }))
}

fn block(block: Block) -> MessageBlock {
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
            input: on_one_line(call.input),
            thought_signature: call.signature,
        },
        Block::Result(result) => MessageBlock::ToolResult {
            tool_use_id: ToolUseId(result.id),
            content: content(result.parts),
            is_error: result.failed,
        },
        Block::Media(media) => image(media),
    }
}

/// Replaces line breaks in JSON by spaces, so that the record fits on one line. JSON strings contain
/// no literal line breaks.
fn on_one_line(json: Box<RawValue>) -> Box<RawValue> {
    if !json.get().contains(['\n', '\r']) {
        return json;
    }
    RawValue::from_string(json.get().replace(['\n', '\r'], " ")).unwrap_or(json)
}

fn content(mut parts: Vec<ResultPart>) -> MessageResult {
    if parts.is_empty() {
        return MessageResult::Text(String::new());
    }
    if let [ResultPart::Text(text)] = parts.as_mut_slice() {
        return MessageResult::Text(std::mem::take(text));
    }
    let blocks = parts.into_iter().map(|part| match part {
        ResultPart::Text(text) => MessageBlock::Text { text },
        ResultPart::Media(media) => image(media),
    });
    MessageResult::Blocks(blocks.collect())
}

fn image(media: Media) -> MessageBlock {
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
    use crate::message::{Call, Origin};

    #[test]
    fn a_record_stands_on_one_line() {
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
