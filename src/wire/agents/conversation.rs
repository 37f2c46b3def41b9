//! The records of a conversation that another agent's stream tells of.

use jiff::Timestamp;
use serde_json::json;
use serde_json::value::RawValue;

use crate::json::{elements, is_object, number, object, text};
use crate::message::{MessageId, Origin, ToolUseId, Usage};
use crate::records::{
    MessageRole, SessionMessageExtension, SessionMessageRecord, SpokenBlock, SpokenImageSource,
    SpokenMessage, SpokenResult, Version,
};

object! {
    /// A block as in MCP and in pi.
    Content { text, data, media_type = "mimeType" }
}

/// How the ids of messages begin where nobody says so.
const PREFIX: &str = "turnpipe_message";

/// Puts records together, and gives messages the ids that the stream does not have.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    prefix: Option<String>,
    begun: u64,
    /// The id of the message that goes on.
    message: Option<MessageId>,
    /// It has calls: what the model says next is in another one.
    has_calls: bool,
    /// The model that speaks, if the stream names it.
    pub(super) model: Option<String>,
    /// When the row was written.
    time: Option<String>,
    records: Vec<String>,
}

impl Conversation {
    pub(super) fn set_message_ids(&mut self, prefix: String) {
        self.prefix = Some(prefix);
    }

    pub(super) fn take_records(&mut self) -> Vec<String> {
        std::mem::take(&mut self.records)
    }

    /// What comes now was written at this time: RFC 3339, or milliseconds since 1970.
    pub(super) fn set_time(&mut self, time: Option<&RawValue>) {
        let milliseconds = number(time).and_then(|number| i64::try_from(number).ok());
        let instant = milliseconds.and_then(|number| Timestamp::from_millisecond(number).ok());
        let written = || text(time).map(std::borrow::Cow::into_owned);
        self.time = instant
            .map(|instant| format!("{instant:.3}"))
            .or_else(written);
    }

    /// Another message begins.
    pub(super) fn begin(&mut self) {
        self.begun += 1;
        let prefix = self.prefix.as_deref().unwrap_or(PREFIX);
        self.message = Some(MessageId(format!("{prefix}_{}", self.begun)));
        self.has_calls = false;
    }

    /// What comes now is of the message with this id.
    pub(super) fn go_on(&mut self, id: &str) {
        self.message = Some(MessageId::from(id));
    }

    /// Begins a message if what the model says next belongs to none, or if the one that goes on has
    /// calls already.
    pub(super) fn before_words(&mut self) {
        if self.message.is_none() || self.has_calls {
            self.begin();
        }
    }

    /// A part of a text, which [`Conversation::reply`] has whole.
    pub(super) fn part_of_text(&mut self, part: &str, is_first: bool) {
        if is_first {
            self.before_words();
            self.message_start();
        }
        let delta = json!({"type": "text_delta", "text": part});
        self.event(&json!({"type": "content_block_delta", "index": 0, "delta": delta}));
    }

    /// A message of which the first record comes later.
    pub(super) fn message_start(&mut self) {
        let message = json!({"id": self.message, "role": "assistant"});
        self.event(&json!({"type": "message_start", "message": message}));
    }

    fn event(&mut self, event: &serde_json::Value) {
        let record = json!({"type": "stream_event", "event": event});
        self.records.push(record.to_string());
    }

    /// The message of the model that goes on, without content.
    pub(super) fn message(&self) -> SpokenMessage {
        SpokenMessage {
            id: self.message.clone(),
            model: self.model.clone(),
            ..SpokenMessage::new(MessageRole::Assistant)
        }
    }

    /// The model says something or calls tools.
    pub(super) fn reply(&mut self, content: Vec<SpokenBlock>) {
        if self.message.is_none() {
            self.begin();
        }
        let message = self.message();
        self.write(SpokenMessage { content, ..message }, Origin::Reply);
    }

    /// What the message that goes on cost, and why it ended.
    pub(super) fn used(&mut self, usage: Usage, stop_reason: Option<&str>) {
        self.end(usage, stop_reason, Origin::Reply);
    }

    /// The reading of a meter that counts from the start of the session, where a turn ends.
    pub(super) fn metered(&mut self, usage: Usage, stop_reason: &str) {
        self.end(usage, Some(stop_reason), Origin::Meter);
    }

    fn end(&mut self, usage: Usage, stop_reason: Option<&str>, origin: Origin) {
        if self.message.is_none() {
            self.begin();
        }
        let message = SpokenMessage {
            usage: Some(usage),
            stop_reason: stop_reason.map(str::to_owned),
            ..self.message()
        };
        self.write(message, origin);
    }

    /// A call of the message that goes on.
    pub(super) fn call(&mut self, id: &str, name: &str, input: Option<&RawValue>) {
        self.reply(vec![call(id, name, input)]);
    }

    pub(super) fn result(&mut self, id: &str, content: SpokenResult, is_error: bool) {
        let result = SpokenBlock::ToolResult {
            tool_use_id: ToolUseId::from(id),
            content,
            is_error,
        };
        let message = SpokenMessage {
            content: vec![result],
            ..SpokenMessage::new(MessageRole::User)
        };
        self.write(message, Origin::Results);
    }

    pub(super) fn prompt(&mut self, content: Vec<SpokenBlock>) {
        let message = SpokenMessage {
            content,
            ..SpokenMessage::new(MessageRole::User)
        };
        self.write(message, Origin::Prompt);
        self.message = None;
    }

    /// A request failed: the agent itself says so.
    pub(super) fn failure(&mut self, reason: &str) {
        let text = reason.to_owned();
        self.begin();
        let message = SpokenMessage {
            content: vec![SpokenBlock::Text { text }],
            ..self.message()
        };
        self.write(message, Origin::Error);
        self.message = None;
    }

    pub(super) fn write(&mut self, message: SpokenMessage, origin: Origin) {
        let is_call = |block: &SpokenBlock| matches!(block, SpokenBlock::ToolUse { .. });
        self.has_calls |= message.content.iter().any(is_call);
        let record = SessionMessageRecord {
            r#type: message.role,
            message,
            parent_tool_use_id: None,
            uuid: None,
            session_id: None,
            timestamp: self.time.clone(),
            turnpipe: SessionMessageExtension {
                v: Version::default(),
                origin,
                subagent: false,
                agent_id: None,
            },
        };
        self.records.extend(serde_json::to_string(&record));
    }
}

/// The block of a call. Arguments that are no object are as good as none: the call was made.
pub(super) fn call(id: &str, name: &str, input: Option<&RawValue>) -> SpokenBlock {
    let input = input.filter(|input| is_object(Some(input)));
    SpokenBlock::ToolUse {
        id: ToolUseId::from(id),
        name: name.to_owned(),
        input: input.map_or_else(no_input, ToOwned::to_owned),
        thought_signature: None,
    }
}

fn no_input() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).unwrap_or_default()
}

/// Texts and images in a list of blocks, or a text.
pub(super) fn blocks(raw: Option<&RawValue>) -> Vec<SpokenBlock> {
    if let Some(text) = text(raw) {
        let text = text.into_owned();
        return vec![SpokenBlock::Text { text }];
    }
    elements(raw).into_iter().filter_map(block).collect()
}

/// A text or an image.
pub(super) fn block(raw: &RawValue) -> Option<SpokenBlock> {
    let content = Content::of(Some(raw))?;
    if let Some(text) = text(content.text) {
        let text = text.into_owned();
        return Some(SpokenBlock::Text { text });
    }
    let data = text(content.data)?.into_owned();
    let media_type = text(content.media_type).unwrap_or_default().into_owned();
    Some(image(media_type, data))
}

pub(super) fn image(media_type: String, data: String) -> SpokenBlock {
    SpokenBlock::Image {
        source: SpokenImageSource {
            r#type: "base64".to_owned(),
            media_type,
            data: Some(data),
        },
    }
}
