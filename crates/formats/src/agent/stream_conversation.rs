//! The messages in the streams of agents that do not write stream-json.

use jiff::Timestamp;
use serde_json::value::RawValue;

use super::content;
use super::entry::ReportedEnd;
use turnpipe_core::json::{elements, is_object, number, object, text};
use turnpipe_core::message::{
    Block, Media, Message, MessageId, Origin, ResultPart, Role, ToolResult, Usage, input_of,
};

object! {
    /// A block as in MCP and pi.
    Content { text, data, media_type = "mimeType" }
}

/// The default prefix of message ids.
const PREFIX: &str = "turnpipe_message";

/// An item of a stream.
#[derive(Debug)]
pub enum StreamItem {
    /// The model starts a message.
    Start(Option<MessageId>),
    /// A text delta; the complete text follows later.
    Text(String),
    /// A message, or complete blocks of one.
    Message {
        /// The message.
        message: Box<Message>,
        /// The stop reason as the agent states it.
        stop_reason: Option<String>,
    },
}

/// Builds messages, and generates their ids if the stream has none.
#[derive(Debug, Default)]
pub(super) struct StreamConversation {
    /// The prefix of generated ids.
    prefix: Option<String>,
    /// The number of generated ids.
    message_count: u64,
    /// The id of the open message.
    message: Option<MessageId>,
    /// Whether it has calls: further text then starts another message.
    has_calls: bool,
    /// Name of the model, if the stream contains it.
    pub(super) model: Option<String>,
    /// Time of the row.
    time: Option<String>,
    items: Vec<StreamItem>,
    /// The stop reason of the last message.
    stop_reason: Option<String>,
    /// The end of the run, if the last row reports it.
    pub(super) end: Option<ReportedEnd>,
}

impl StreamConversation {
    pub(super) fn set_message_ids(&mut self, prefix: String) {
        self.prefix = Some(prefix);
    }

    pub(super) fn take_items(&mut self) -> Vec<StreamItem> {
        std::mem::take(&mut self.items)
    }

    /// Sets the time of the row: RFC 3339, or milliseconds since 1970.
    pub(super) fn set_time(&mut self, time: Option<&RawValue>) {
        let milliseconds = number(time).and_then(|number| i64::try_from(number).ok());
        let instant = milliseconds.and_then(|number| Timestamp::from_millisecond(number).ok());
        let written = || text(time).map(std::borrow::Cow::into_owned);
        self.time = instant
            .map(|instant| format!("{instant:.3}"))
            .or_else(written);
    }

    /// Starts another message.
    pub(super) fn begin_message(&mut self) {
        self.message_count += 1;
        let prefix = self.prefix.as_deref().unwrap_or(PREFIX);
        self.message = Some(MessageId(format!("{prefix}_{}", self.message_count)));
        self.has_calls = false;
    }

    /// Sets the id of the message that the next blocks belong to.
    pub(super) fn continue_message(&mut self, id: &str) {
        self.message = Some(MessageId::from(id));
    }

    /// Starts a message if none is open, or if the open one has calls.
    pub(super) fn start_text_message(&mut self) {
        if self.message.is_none() || self.has_calls {
            self.begin_message();
        }
    }

    /// Adds a text delta, which [`StreamConversation::push_reply`] repeats.
    pub(super) fn push_text_delta(&mut self, part: &str, is_first: bool) {
        if is_first {
            self.start_text_message();
            self.push_start();
        }
        self.items.push(StreamItem::Text(part.to_owned()));
    }

    /// Adds a message whose blocks follow later.
    pub(super) fn push_start(&mut self) {
        self.items.push(StreamItem::Start(self.message.clone()));
    }

    /// Adds blocks to the model's message.
    pub(super) fn push_reply(&mut self, blocks: Vec<Block>) {
        self.push_message(blocks, None, None, Origin::Reply);
    }

    /// Sets the usage and stop reason of the model's message.
    pub(super) fn set_usage(&mut self, usage: Usage, stop_reason: Option<&str>) {
        self.push_message(Vec::new(), Some(usage), stop_reason, Origin::Reply);
    }

    /// Adds the reading of a meter at the end of a turn. The meter counts from the start of the session.
    pub(super) fn add_reading(&mut self, usage: Usage, stop_reason: &str) {
        self.push_message(Vec::new(), Some(usage), Some(stop_reason), Origin::Meter);
    }

    /// Adds blocks, the usage and the stop reason to the model's message, which starts if none is open.
    pub(super) fn push_message(
        &mut self,
        blocks: Vec<Block>,
        usage: Option<Usage>,
        stop_reason: Option<&str>,
        origin: Origin,
    ) {
        if self.message.is_none() {
            self.begin_message();
        }
        self.has_calls |= blocks.iter().any(|block| matches!(block, Block::Call(_)));
        let message = Message {
            id: self.message.as_ref().map(|id| id.0.clone()),
            model: self.model.clone(),
            blocks,
            usage,
            ..Message::new(Role::Assistant, origin)
        };
        self.write(message, stop_reason);
    }

    /// Adds a call to the model's message.
    pub(super) fn push_call(&mut self, id: &str, name: &str, input: Option<&RawValue>) {
        // Arguments that are not an object become an empty object.
        let input = input.filter(|input| is_object(Some(input)));
        let call = content::new_call(id.to_owned(), name.to_owned(), input_of(input));
        self.push_reply(vec![call]);
    }

    pub(super) fn push_result(&mut self, result: ToolResult) {
        self.add_user_blocks(vec![Block::Result(result)], Origin::Results);
    }

    pub(super) fn push_prompt(&mut self, blocks: Vec<Block>) {
        self.add_user_blocks(blocks, Origin::Prompt);
        self.message = None;
    }

    fn add_user_blocks(&mut self, blocks: Vec<Block>, origin: Origin) {
        self.write(content::new_message(Role::User, origin, blocks), None);
    }

    /// Adds a failed request that the agent reports.
    pub(super) fn push_failure(&mut self, reason: &str) {
        self.begin_message();
        let text = Block::Text(reason.to_owned());
        self.push_message(vec![text], None, None, Origin::Error);
        self.message = None;
    }

    /// Ends the run, for the stop reason of the last message unless there is a `reason`.
    pub(super) fn end_run(&mut self, reason: Option<&str>) {
        let reason = reason.or(self.stop_reason.as_deref());
        self.end = Some(ReportedEnd {
            reason: reason.unwrap_or("completed").to_owned(),
            ..ReportedEnd::default()
        });
    }

    fn write(&mut self, message: Message, stop_reason: Option<&str>) {
        if stop_reason.is_some() {
            self.stop_reason = stop_reason.map(str::to_owned);
        }
        let time = self.time.clone();
        self.items.push(StreamItem::Message {
            message: Box::new(Message { time, ..message }),
            stop_reason: stop_reason.map(str::to_owned),
        });
    }
}

/// Parses result parts from a list of blocks or a text.
pub(super) fn read_parts(raw: Option<&RawValue>) -> Vec<ResultPart> {
    if let Some(text) = text(raw) {
        return vec![ResultPart::Text(text.into_owned())];
    }
    elements(raw).into_iter().filter_map(part).collect()
}

/// Like [`read_parts`], as blocks.
pub(super) fn read_blocks(raw: Option<&RawValue>) -> Vec<Block> {
    read_parts(raw).into_iter().map(Block::from).collect()
}

/// Parses a text or an image.
fn part(raw: &RawValue) -> Option<ResultPart> {
    let content = Content::from_raw(Some(raw))?;
    if let Some(text) = text(content.text) {
        return Some(ResultPart::Text(text.into_owned()));
    }
    let data = text(content.data)?.into_owned();
    Some(ResultPart::Media(Media {
        media_type: text(content.media_type).unwrap_or_default().into_owned(),
        data: Some(data),
    }))
}
