//! Which kind of record a line is, by the line alone.

use super::anthropic::{Delta, Message, StreamEvent};
use super::envelope::Envelope;
use super::gemini::Content;
use super::{Dialect, openai};
use crate::json::{is, is_array, is_object, non_empty, non_null, object, text};

object! {
    /// A control request.
    Request { subtype }
}

/// What stands in a record.
#[derive(Debug)]
pub(super) enum Shape<'a> {
    /// A whole Anthropic message of the model, or a part of one.
    Assistant(Message<'a>),
    /// An Anthropic user message.
    User,
    /// An Anthropic streaming event.
    StreamEvent(StreamEvent<'a>),
    /// A `tool_use` line.
    BareCall,
    /// A `tool_result` line.
    BareResult,
    /// An assistant message of `OpenAI`.
    OpenaiAssistant(openai::Message<'a>),
    /// A tool message of `OpenAI`.
    OpenaiResult,
    /// A completion or a chunk.
    Completion,
    /// A reply of Ollama's own API, or a part of one.
    Ollama(Message<'a>),
    /// A response of `OpenAI`'s Responses API.
    Items,
    /// A streaming event of that API.
    ItemEvent,
    /// A content of Gemini.
    Content(Content<'a>),
    /// A response of Gemini, or a chunk of one.
    Response,
    /// A `result` record.
    SessionResult,
    /// Another program runs the calls of this stream.
    Executor,
    /// A request to stop.
    Interrupt,
    /// An answer to a control request.
    ControlResponse,
    /// Anything else.
    Other,
}

impl Shape<'_> {
    /// The dialect of the record, if it can be of one only.
    pub(super) fn dialect(&self, has_blocks: bool) -> Option<Dialect> {
        match self {
            Self::Assistant(_) if has_blocks => Some(Dialect::Anthropic),
            Self::StreamEvent(_) | Self::BareCall | Self::BareResult => Some(Dialect::Anthropic),
            Self::OpenaiAssistant(_)
            | Self::OpenaiResult
            | Self::Completion
            | Self::Ollama(_)
            | Self::Items
            | Self::ItemEvent => Some(Dialect::Openai),
            Self::Content(_) | Self::Response => Some(Dialect::Gemini),
            // Texts look the same in several dialects, and so do prompts.
            Self::Assistant(_)
            | Self::User
            | Self::SessionResult
            | Self::Executor
            | Self::Interrupt
            | Self::ControlResponse
            | Self::Other => None,
        }
    }
}

/// The streaming events that mean something here.
const STREAM_EVENTS: [&str; 6] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
];

/// What stands in a record of the type `kind`.
pub(super) fn shape<'a>(kind: Option<&str>, record: &Envelope<'a>) -> Shape<'a> {
    let Some(kind) = kind else {
        return untyped(record);
    };
    if matches!(kind, "assistant" | "user" | "tool_result")
        && let Some(message) = record.message
    {
        return wrapped(kind, message);
    }
    match kind {
        "tool_use" => Shape::BareCall,
        "tool_result" if non_empty(record.tool_use_id).is_some() => Shape::BareResult,
        "stream_event" => StreamEvent::of(record.event).map_or(Shape::Other, stream_event),
        _ if STREAM_EVENTS.contains(&kind) => stream_event(record.as_stream_event()),
        "message" => untyped(record),
        "result" => Shape::SessionResult,
        "response.output_item.done" if is_object(record.item) => Shape::ItemEvent,
        "response.created" | "response.completed" | "response.incomplete" | "response.failed"
            if is_object(record.response) =>
        {
            Shape::ItemEvent
        }
        "system" if is(record.subtype, "executor") => Shape::Executor,
        "control_request" if asks_to_stop(record) => Shape::Interrupt,
        "control_response" => Shape::ControlResponse,
        _ => Shape::Other,
    }
}

/// A message in a record with a type.
fn wrapped<'a>(kind: &str, message: Message<'a>) -> Shape<'a> {
    if message.parts.is_some() {
        return Shape::Content(Content {
            role: message.role,
            parts: message.parts,
        });
    }
    match kind {
        "assistant" => Shape::Assistant(message),
        "user" => Shape::User,
        _ => Shape::Other,
    }
}

/// A message, completion or response as an API gives it.
fn untyped<'a>(record: &Envelope<'a>) -> Shape<'a> {
    if is_array(record.choices) {
        return Shape::Completion;
    }
    if is_array(record.candidates) {
        return Shape::Response;
    }
    if is(record.object, "response") {
        return Shape::Items;
    }
    if let (Some(message), Some(_)) = (record.message, record.done)
        && is(message.role, "assistant")
    {
        return Shape::Ollama(message);
    }
    let role = text(record.role).unwrap_or_default();
    match &*role {
        "model" | "user" | "function" | "tool" if is_array(record.parts) => {
            Shape::Content(Content {
                role: record.role,
                parts: record.parts,
            })
        }
        "assistant" if non_null(record.tool_calls.or(record.function_call)).is_some() => {
            Shape::OpenaiAssistant(openai::Message::bare(record))
        }
        "assistant" => Shape::Assistant(record.as_message()),
        "user" => Shape::User,
        "tool" | "function" => Shape::OpenaiResult,
        _ => Shape::Other,
    }
}

/// An event that can matter; the deltas of texts and thoughts, which are most of a stream, cannot.
fn stream_event(event: StreamEvent<'_>) -> Shape<'_> {
    let kind = text(event.kind).unwrap_or_default();
    let matters = if kind == "content_block_delta" {
        Delta::of(event.delta).is_some_and(|delta| delta.partial_json.is_some())
    } else {
        STREAM_EVENTS.contains(&&*kind)
    };
    if matters {
        Shape::StreamEvent(event)
    } else {
        Shape::Other
    }
}

fn asks_to_stop(record: &Envelope<'_>) -> bool {
    let request = Request::of(record.request).unwrap_or_default();
    is(request.subtype, "interrupt")
}
