//! Reads Anthropic's Messages API, whose messages stream-json records contain as well.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::delta::{Arguments, CallDelta, Chunk, Delta, End, Extent, ResultId};
use super::envelope::{Block, Content, Envelope, Message};
use super::verbatim::Verbatim;
use turnpipe_core::json::{
    bytes, has_text, is_object, is_true, non_empty, number, object, string, text,
};
use turnpipe_core::message::{
    self, Media, ResultPart, Thought, Tier, ToolResult, Usage, input_of, result_parts,
};

object! {
    /// The end of a message.
    MessageDelta { stop_reason }
}
object! {
    /// The bytes of an attachment.
    Source { media_type, data }
}
object! {
    /// Token counts. In records of turnpipe, those of the two inner objects are members, and the cost is added.
    Tokens {
        input = "input_tokens", output = "output_tokens",
        cache_write = "cache_creation_input_tokens",
        cache_writes: CacheWrites<'a> = "cache_creation", cache_read = "cache_read_input_tokens",
        cache_write_1h = "ephemeral_1h_input_tokens", searches = "web_search_requests",
        cost = "cost_usd", speed, tier = "service_tier", region = "inference_geo",
        tools: ServerTools<'a> = "server_tool_use",
    }
}
object! {
    /// Calls that the server made.
    ServerTools { searches = "web_search_requests" }
}
object! {
    /// Writes to the cache.
    CacheWrites { cache_write_1h = "ephemeral_1h_input_tokens" }
}

object! {
    /// A page that a search of the server found, or the reason why it found none.
    Found { title, url, error = "error_code" }
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
    Some(read_reply(&message))
}

/// Reads an event of a stream. `None` if it is not one. Events of unknown types are empty.
pub(super) fn parse_event(json: &str) -> Option<Chunk<'_>> {
    let event = Envelope::read(json)?;
    event.kind?;
    Some(read_event(&event).unwrap_or_else(|| Chunk::single(None, Extent::More, Vec::new())))
}

/// Reads a whole message of the model, or a part of one.
pub(super) fn read_reply<'a>(message: &Message<'a>) -> Chunk<'a> {
    let mut deltas = vec![Delta::Usage(read_usage(message.usage).unwrap_or_default())];
    match &message.content {
        Some(Content::Text(text)) => deltas.extend([Delta::Block, Delta::Text(to_bytes(text))]),
        Some(Content::Blocks(blocks)) => {
            for block in blocks {
                if block.is_kind("tool_use") {
                    deltas.push(Delta::Call(block.read_call_delta()));
                    deltas.extend(text(block.thought_signature).map(Delta::Signature));
                } else {
                    deltas.push(Delta::Block);
                    block.push_texts(&mut deltas);
                }
            }
        }
        None => {}
    }
    deltas.extend(read_end(message.stop_reason));
    Chunk {
        model: non_empty(message.model),
        ..Chunk::single(non_empty(message.id), Extent::Whole, deltas)
    }
}

pub(super) fn to_bytes<'a>(text: &Cow<'a, str>) -> Cow<'a, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.clone().into_bytes()),
    }
}

/// Reads a streaming event. `None` if it has no effect.
pub(super) fn read_event<'a>(event: &Envelope<'a>) -> Option<Chunk<'a>> {
    let index = number(event.index);
    let kind = text(event.kind)?;
    let (mut extent, mut deltas) = (Extent::More, Vec::new());
    match &*kind {
        "message_start" => {
            let message = event.message.clone().unwrap_or_default();
            if text(message.role).is_some_and(|role| role != "assistant") {
                return None;
            }
            return Some(Chunk {
                model: non_empty(message.model),
                ..Chunk::single(
                    non_empty(message.id),
                    Extent::Start,
                    vec![Delta::Usage(read_usage(message.usage).unwrap_or_default())],
                )
            });
        }
        "content_block_start" => {
            extent = Extent::MoreOrStart;
            let block = Block::from_raw(event.content_block).unwrap_or_default();
            if block.is_kind("tool_use") {
                // The input usually follows later.
                let input = block.input.filter(|input| is_object(Some(input)));
                deltas.push(Delta::CallStart(CallDelta {
                    index,
                    arguments: input.map_or(Arguments::None, Arguments::Json),
                    ..block.read_call_delta()
                }));
            } else {
                deltas.push(Delta::Block);
                block.push_texts(&mut deltas);
            }
        }
        "content_block_delta" => {
            let delta = Block::from_raw(event.delta)?;
            delta.push_texts(&mut deltas);
            let fragment = bytes(delta.partial_json);
            deltas.extend(fragment.map(|fragment| Delta::CallArguments(index, fragment)));
        }
        "content_block_stop" => deltas.push(Delta::CallEnd(index)),
        "message_delta" => {
            deltas.push(Delta::Usage(read_usage(event.usage).unwrap_or_default()));
            deltas.extend(read_end(MessageDelta::from_raw(event.delta)?.stop_reason));
        }
        "message_stop" => deltas.push(Delta::Closed),
        _ => return None,
    }
    Some(Chunk::single(None, extent, deltas))
}

/// Whether an event matters to calls. Text deltas, which are most of a stream, do not.
pub(super) fn is_about_calls(event: &Envelope<'_>) -> bool {
    let kind = text(event.kind).unwrap_or_default();
    if kind == "content_block_delta" {
        Block::from_raw(event.delta).is_some_and(|delta| delta.partial_json.is_some())
    } else {
        STREAM_EVENTS.contains(&&*kind)
    }
}

impl<'a> Block<'a> {
    pub(crate) fn is_kind(&self, kind: &str) -> bool {
        has_text(self.kind, kind)
    }

    fn read_call_delta(&self) -> CallDelta<'a> {
        CallDelta {
            index: None,
            id: text(self.id),
            name: text(self.name),
            arguments: self.input.map_or(Arguments::Missing, Arguments::Json),
        }
    }

    fn push_texts(&self, deltas: &mut Vec<Delta<'a>>) {
        deltas.extend(bytes(self.text).map(Delta::Text));
        deltas.extend(bytes(self.thinking).map(Delta::Thinking));
        deltas.extend(text(self.data).map(Delta::RedactedThinking));
        deltas.extend(text(self.signature).map(Delta::Signature));
    }

    /// Reads a whole block. Blocks of unknown types are kept if they have text.
    fn read_block(&self, detail: BlockDetail) -> Option<message::Block> {
        let kind = text(self.kind);
        let has_inputs = detail != BlockDetail::Names;
        Some(match kind.as_deref().unwrap_or_default() {
            "thinking" | "redacted_thinking" if !has_inputs => return None,
            "thinking" => {
                let text = text(self.thinking)?.into_owned();
                message::Block::Thinking(match string(self.signature) {
                    Some(signature) => Thought::Signed { text, signature },
                    None => Thought::Plain(text),
                })
            }
            "redacted_thinking" => message::Block::Thinking(Thought::Redacted {
                data: string(self.data).unwrap_or_default(),
            }),
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                message::Block::Call(message::Call {
                    id: string(self.id)?,
                    name: string(self.name).unwrap_or_default(),
                    input: input_of(self.input.filter(|_| has_inputs)),
                    signature: string(self.thought_signature),
                })
            }
            // E.g. the result of a web search that the server made, in the message with the call.
            kind if kind.ends_with("tool_result") => {
                message::Block::Result(self.read_result(detail)?)
            }
            "image" | "document" => {
                let source = Source::from_raw(self.source).unwrap_or_default();
                message::Block::Media(Media {
                    media_type: string(source.media_type).unwrap_or_default(),
                    data: string(source.data),
                })
            }
            _ => message::Block::Text(text(self.text)?.into_owned()),
        })
    }

    fn read_result(&self, detail: BlockDetail) -> Option<ToolResult> {
        let hosted = self.content.filter(|_| !self.is_kind("tool_result"));
        let error = Found::from_raw(hosted).and_then(|found| string(found.error));
        let failed = is_true(self.is_error) || error.is_some();
        // The text shows whether the call was denied.
        let has_parts = failed || detail == BlockDetail::Full;
        let pages = Found::read_list(hosted).into_iter();
        let lines = pages.filter_map(|one| Some([string(one.title)?, string(one.url)?].join(" ")));
        let found = error.into_iter().chain(lines).map(ResultPart::Text);
        Some(ToolResult {
            id: text(self.tool_use_id)?.into_owned(),
            parts: if has_parts {
                let parts = result_parts(read_blocks(self.content, detail)).into_iter();
                parts.chain(found).collect()
            } else {
                Vec::new()
            },
            failed,
            end: None,
        })
    }
}

/// The parts of blocks to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockDetail {
    /// Everything.
    Full,
    /// Everything except the contents of results that are not marked as failed.
    Inputs,
    /// Everything except these, thinking, and the inputs of calls.
    Names,
}

/// Reads the content of a message, possibly of a compatible API: a string or a list of blocks.
pub(crate) fn read_blocks(content: Option<&RawValue>, detail: BlockDetail) -> Vec<message::Block> {
    match Content::from_raw(content) {
        Some(Content::Text(text)) => vec![message::Block::Text(text.into_owned())],
        Some(Content::Blocks(blocks)) => {
            let blocks = blocks.iter();
            blocks
                .filter_map(|block| block.read_block(detail))
                .collect()
        }
        None => Vec::new(),
    }
}

/// Returns the ids of the results in a user's message.
pub(super) fn read_result_ids<'a>(blocks: &[Block<'a>]) -> Vec<ResultId<'a>> {
    let results = blocks.iter().filter(|block| block.is_kind("tool_result"));
    let ids = results.map(|block| ResultId::new(block.tool_use_id));
    ids.collect()
}

/// Returns the contents of the results in a user's message, each with a flag for a failed call.
pub(super) fn read_result_bodies<'a>(
    blocks: &[Block<'a>],
) -> impl Iterator<Item = (Option<&'a RawValue>, bool)> {
    let results = blocks.iter().filter(|block| block.is_kind("tool_result"));
    results.map(|block| (block.content, is_true(block.is_error)))
}

/// Returns a `tool_result` line.
pub(super) fn read_bare_result(record: &Envelope<'_>) -> Vec<message::Block> {
    let block = Block {
        tool_use_id: record.tool_use_id,
        content: record.content,
        is_error: record.is_error,
        ..Block::default()
    };
    let result = block.read_result(BlockDetail::Full);
    result.map(message::Block::Result).into_iter().collect()
}

/// Returns a `tool_use` line: a call only if its name and input are of the right types.
pub(super) fn read_bare_call<'a>(record: &Envelope<'a>) -> Option<CallDelta<'a>> {
    Some(CallDelta {
        index: None,
        id: text(record.id),
        name: Some(non_empty(record.name)?),
        arguments: Arguments::Json(record.input.filter(|input| is_object(Some(input)))?),
    })
}

fn read_end<'a>(reason: Option<&RawValue>) -> Option<Delta<'a>> {
    let reason = non_empty(reason)?;
    Some(Delta::End(End::with_explanation(
        &reason,
        "the model refused",
    )))
}

/// Reads token counts.
pub(crate) fn read_usage(raw: Option<&RawValue>) -> Option<Usage> {
    let tokens = Tokens::from_raw(raw)?;
    let count = |raw| number(raw).unwrap_or_default();
    let writes = tokens.cache_writes.unwrap_or_default();
    let tools = tokens.tools.unwrap_or_default();
    let tier = match text(tokens.speed).as_deref() {
        Some("fast") => Tier::Fast,
        _ => Tier::by_name(&text(tokens.tier).unwrap_or_default()).unwrap_or_default(),
    };
    Some(Usage {
        input: count(tokens.input),
        output: count(tokens.output),
        cache_read: count(tokens.cache_read),
        cache_write: count(tokens.cache_write),
        cache_write_1h: count(writes.cache_write_1h.or(tokens.cache_write_1h))
            .min(count(tokens.cache_write)),
        cost: tokens.cost.and_then(|cost| cost.get().parse().ok()),
        web_searches: count(tools.searches.or(tokens.searches)),
        tier,
        is_us_only: text(tokens.region).as_deref() == Some("us"),
        ..Usage::default()
    })
}

/// Takes the model's output out of a record, unchanged.
pub(super) fn take_output(mut record: Value) -> Verbatim {
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
