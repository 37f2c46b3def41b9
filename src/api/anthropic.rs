//! Reads Anthropic's Messages API, whose messages stream-json records contain as well.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::delta::{Arguments, CallDelta, Chunk, Delta, End, Extent, ResultId};
use super::envelope::{Block, Content, Envelope, Message, StreamEvent};
use super::verbatim::Verbatim;
use crate::json::{bytes, is, is_object, is_true, non_empty, number, object, text};
use crate::message::{self, Media, ResultPart, ToolResult, Usage};

object! {
    /// The end of a message.
    MessageDelta { stop_reason }
}
object! {
    /// The bytes of an attachment.
    Source { media_type, data }
}
object! {
    /// Token counts.
    Tokens {
        input = "input_tokens", output = "output_tokens", cache_read = "cache_read_input_tokens",
        cache_write = "cache_creation_input_tokens",
    }
}

/// The types of the streaming events that are read.
pub(super) const STREAM_EVENTS: [&str; 6] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
];

/// Reads a message. `None` if it is not one.
pub(super) fn parse_whole(json: &str) -> Option<Chunk<'_>> {
    let message = Message::read(json)?;
    message.content.as_ref()?;
    Some(reply(&message))
}

/// Reads an event of a stream. `None` if it is not one. Events of unknown types say nothing.
pub(super) fn parse_event(json: &str) -> Option<Chunk<'_>> {
    let event = StreamEvent::read(json)?;
    event.kind?;
    Some(stream_event(event).unwrap_or_else(|| Chunk::one(None, Extent::More, Vec::new())))
}

/// Reads a whole message of the model, or a part of one.
pub(super) fn reply<'a>(message: &Message<'a>) -> Chunk<'a> {
    let mut deltas = vec![usage(message.usage)];
    match &message.content {
        Some(Content::Text(text)) => deltas.extend([Delta::Block, Delta::Text(to_bytes(text))]),
        Some(Content::Blocks(blocks)) => {
            for block in blocks {
                if block.is("tool_use") {
                    deltas.push(Delta::Call(block.call()));
                    deltas.extend(text(block.thought_signature).map(Delta::Signature));
                } else {
                    deltas.push(Delta::Block);
                    block.text(&mut deltas);
                }
            }
        }
        None => {}
    }
    deltas.extend(end(message.stop_reason));
    Chunk {
        model: non_empty(message.model),
        ..Chunk::one(non_empty(message.id), Extent::Whole, deltas)
    }
}

pub(super) fn to_bytes<'a>(text: &Cow<'a, str>) -> Cow<'a, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.clone().into_bytes()),
    }
}

/// Reads a streaming event. `None` if it has no effect.
pub(super) fn stream_event(event: StreamEvent<'_>) -> Option<Chunk<'_>> {
    let index = number(event.index);
    let kind = text(event.kind)?;
    let (mut extent, mut deltas) = (Extent::More, Vec::new());
    match &*kind {
        "message_start" => {
            let message = event.message.unwrap_or_default();
            if text(message.role).is_some_and(|role| role != "assistant") {
                return None;
            }
            return Some(Chunk {
                model: non_empty(message.model),
                ..Chunk::one(
                    non_empty(message.id),
                    Extent::Start,
                    vec![usage(message.usage)],
                )
            });
        }
        "content_block_start" => {
            extent = Extent::MoreOrStart;
            let block = Block::of(event.content_block).unwrap_or_default();
            if block.is("tool_use") {
                // The input usually comes later.
                let input = block.input.filter(|input| is_object(Some(input)));
                deltas.push(Delta::CallStart(CallDelta {
                    index,
                    arguments: input.map_or(Arguments::None, Arguments::Json),
                    ..block.call()
                }));
            } else {
                deltas.push(Delta::Block);
                block.text(&mut deltas);
            }
        }
        "content_block_delta" => {
            let delta = Block::of(event.delta)?;
            delta.text(&mut deltas);
            let fragment = bytes(delta.partial_json);
            deltas.extend(fragment.map(|fragment| Delta::CallArguments(index, fragment)));
        }
        "content_block_stop" => deltas.push(Delta::CallEnd(index)),
        "message_delta" => {
            deltas.push(usage(event.usage));
            deltas.extend(end(MessageDelta::of(event.delta)?.stop_reason));
        }
        "message_stop" => deltas.push(Delta::Closed),
        _ => return None,
    }
    Some(Chunk::one(None, extent, deltas))
}

/// Whether an event matters to calls. The deltas of texts, which are most of a stream, do not.
pub(super) fn is_about_calls(event: &StreamEvent<'_>) -> bool {
    let kind = text(event.kind).unwrap_or_default();
    if kind == "content_block_delta" {
        Block::of(event.delta).is_some_and(|delta| delta.partial_json.is_some())
    } else {
        STREAM_EVENTS.contains(&&*kind)
    }
}

impl<'a> Block<'a> {
    pub(crate) fn is(&self, kind: &str) -> bool {
        is(self.kind, kind)
    }

    fn call(&self) -> CallDelta<'a> {
        CallDelta {
            index: None,
            id: text(self.id),
            name: text(self.name),
            arguments: self.input.map_or(Arguments::Missing, Arguments::Json),
        }
    }

    fn text(&self, deltas: &mut Vec<Delta<'a>>) {
        deltas.extend(bytes(self.text).map(Delta::Text));
        deltas.extend(bytes(self.thinking).map(Delta::Thinking));
        deltas.extend(text(self.data).map(Delta::RedactedThinking));
        deltas.extend(text(self.signature).map(Delta::Signature));
    }

    /// The media in an image or document.
    fn media(&self) -> Option<Media> {
        let source = Source::of(self.source)?;
        Some(Media {
            media_type: text(source.media_type)?.into_owned(),
            data: text(source.data).map(Cow::into_owned),
        })
    }

    fn result(&self) -> Option<ToolResult> {
        let parts = match Content::of(self.content) {
            Some(Content::Text(text)) => vec![ResultPart::Text(text.into_owned())],
            Some(Content::Blocks(blocks)) => blocks.iter().filter_map(Block::result_part).collect(),
            None => Vec::new(),
        };
        Some(ToolResult {
            id: text(self.tool_use_id)?.into_owned(),
            parts,
            failed: is_true(self.is_error),
        })
    }

    fn result_part(&self) -> Option<ResultPart> {
        match text(self.text) {
            Some(text) => Some(ResultPart::Text(text.into_owned())),
            None => self.media().map(ResultPart::Media),
        }
    }
}

/// Reads the content of a user's message, which may be of a compatible API.
pub(super) fn user_blocks(content: &Content<'_>) -> Vec<message::Block> {
    let block = |block: &Block<'_>| {
        if block.is("tool_result") {
            return block.result().map(message::Block::Result);
        }
        block.result_part().map(message::Block::from)
    };
    match content {
        Content::Text(text) => vec![message::Block::Text(text.to_string())],
        Content::Blocks(blocks) => blocks.iter().filter_map(block).collect(),
    }
}

/// The ids of the results in a user's message.
pub(super) fn result_ids<'a>(blocks: &[Block<'a>]) -> Vec<ResultId<'a>> {
    let results = blocks.iter().filter(|block| block.is("tool_result"));
    results
        .map(|block| (text(block.tool_use_id), None))
        .collect()
}

/// The contents of the results in a user's message, each with whether the call failed.
pub(super) fn result_bodies<'a>(
    blocks: &[Block<'a>],
) -> impl Iterator<Item = (Option<&'a RawValue>, bool)> {
    let results = blocks.iter().filter(|block| block.is("tool_result"));
    results.map(|block| (block.content, is_true(block.is_error)))
}

/// A `tool_result` line.
pub(super) fn bare_result(record: &Envelope<'_>) -> Vec<message::Block> {
    let block = Block {
        tool_use_id: record.tool_use_id,
        content: record.content,
        is_error: record.is_error,
        ..Block::default()
    };
    block
        .result()
        .map(message::Block::Result)
        .into_iter()
        .collect()
}

/// A `tool_use` line: a call only if its name and input are of the right types.
pub(super) fn bare_call<'a>(record: &Envelope<'a>) -> Option<CallDelta<'a>> {
    Some(CallDelta {
        index: None,
        id: text(record.id),
        name: Some(non_empty(record.name)?),
        arguments: Arguments::Json(record.input.filter(|input| is_object(Some(input)))?),
    })
}

fn end<'a>(reason: Option<&RawValue>) -> Option<Delta<'a>> {
    let reason = non_empty(reason)?;
    Some(Delta::End(End::because(&reason, "the model refused")))
}

fn usage<'a>(raw: Option<&RawValue>) -> Delta<'a> {
    let tokens = Tokens::of(raw).unwrap_or_default();
    let count = |raw| number(raw).unwrap_or_default();
    Delta::Usage(Usage {
        input: count(tokens.input),
        output: count(tokens.output),
        cache_read: count(tokens.cache_read),
        cache_write: count(tokens.cache_write),
        ..Usage::default()
    })
}

/// Takes what the model said out of a record, unchanged.
pub(super) fn raw(mut record: Value) -> Verbatim {
    for wrapper in ["event", "message"] {
        if record["type"] != "message_start" && record[wrapper].is_object() {
            record = record[wrapper].take();
        }
    }
    if record["role"] == "assistant" {
        let parts = match record["content"].take() {
            Value::String(text) => vec![json!({"type": "text", "text": text})],
            Value::Array(blocks) => blocks,
            _ => Vec::new(),
        };
        let id = record["id"].take();
        return Verbatim::Message { id, parts };
    }
    let index = record["index"].take();
    match record["type"].as_str() {
        Some("message_start") => Verbatim::Start(record["message"]["id"].take()),
        Some("content_block_start") => {
            let part = record["content_block"].take();
            Verbatim::Block { index, part }
        }
        Some("content_block_delta") => {
            let delta = record["delta"].take();
            Verbatim::MoreOfBlock { index, delta }
        }
        _ => Verbatim::Nothing,
    }
}
