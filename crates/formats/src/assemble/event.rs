//! The meaning of a record, the same for every API and agent.

use serde_json::value::RawValue;

use crate::agent::Opening;
use crate::api::{Arguments, CallDelta, CutOff};
use crate::records::ControlResponse;
use turnpipe_core::message::{MessageId, SessionId, ToolUseId};

/// An event in a record. A record may have several, in this order.
#[derive(Debug, Clone)]
pub enum Event {
    /// The agent that wrote the stream or file. Emitted for each opening record, and for any other
    /// record that shows another agent. Precedes the calls of the same record.
    Opening(Opening),
    /// The session id that the record carries (`session_id`, `sessionId`), when it is the first one
    /// seen or differs from the last one seen. Records of subagents are ignored.
    Session(SessionId),
    /// The session file of the stream, as the digest that `turn` writes.
    SessionFile(String),
    /// A `system/executor` record: another process already runs the calls of this stream.
    Executor {
        /// The prefix of the ids of calls without one, if the record has it.
        call_ids: Option<String>,
    },
    /// Content of an assistant message starts or continues. Emitted for the first record of each
    /// new message id (`message_start`, or a whole record); a message without id is always new.
    Message(Option<MessageId>),
    /// A call that may start now, or that must never run (`docs/records.md`, Which calls run). Each call is
    /// one event, even if its record is repeated (The same id again).
    Call(ToolCall),
    /// The result of the call with this id.
    Result(ToolUseId),
    /// A user record without results: a prompt.
    Prompt,
    /// The turn ends (`docs/records.md`, Which calls run). Only an open turn ends, and every call
    /// is followed by an end; a call after the end opens the turn again.
    TurnEnd(TurnEnd),
    /// A `result` record: held until the turn's tool results are written. `TurnEnd(SessionResult)`
    /// follows it even if no turn is open.
    SessionResult,
    /// A `control_request` with subtype `interrupt`.
    Interrupt {
        /// The id for the response; empty if the request has none.
        request_id: String,
    },
    /// A response to a control request.
    ControlResponse(ControlResponse),
}

/// Whether a stream was understood so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Understanding {
    /// Only blanks were read.
    #[default]
    Empty,
    /// No line was understood.
    Nothing,
    /// At least one line was understood.
    Something,
}

impl Understanding {
    /// Updates the state for a part of the stream and its events. A line that only names its agent or session
    /// does not count.
    pub fn update(&mut self, raw: &[u8], events: &[Event]) {
        let is_identification = |event: &Event| {
            matches!(
                event,
                Event::Opening(_) | Event::Session(_) | Event::SessionFile(_)
            )
        };
        if !events.iter().all(is_identification) {
            *self = Self::Something;
        } else if *self == Self::Empty && !raw.trim_ascii_start().is_empty() {
            *self = Self::Nothing;
        }
    }
}

/// A complete call.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// Its id, which results repeat. Other messages may have calls with the same id.
    pub id: ToolUseId,
    /// The tool's name as the model wrote it; empty if it never arrived.
    pub name: String,
    /// The arguments, an unchanged JSON object, or the reason why the call must never run; it still
    /// gets a result.
    pub input: Result<Box<RawValue>, CutOff>,
    /// The assistant message it belongs to.
    pub message: Option<MessageId>,
}

impl ToolCall {
    /// Returns a call with all the arguments that arrived. The message, and an id that is missing, are
    /// filled in when the call is emitted.
    pub(super) fn new(id: Option<&str>, name: &str, arguments: Arguments<'_>) -> Self {
        Self {
            id: ToolUseId::from(id.unwrap_or_default()),
            name: name.to_owned(),
            input: match name {
                "" => Err(CutOff::NoName),
                _ => arguments.into_object(),
            },
            message: None,
        }
    }

    /// Returns a call that arrived whole.
    pub(super) fn from_delta(delta: CallDelta<'_>) -> Self {
        let name = delta.name.unwrap_or_default();
        Self::new(delta.id.as_deref(), &name, delta.arguments)
    }

    /// Returns the same call, marked as cut off.
    pub(super) fn with_cut_off(self, reason: CutOff) -> Self {
        Self {
            input: Err(reason),
            ..self
        }
    }

    /// Returns its name and input, with normalised whitespace.
    pub(super) fn to_key(&self) -> (&str, String) {
        let input = self.input.as_ref().map_or("", |input| input.get());
        let parsed = serde_json::from_str::<serde_json::Value>(input);
        let input = parsed.map_or_else(|_| input.to_owned(), |input| input.to_string());
        (&self.name, input)
    }
}

/// The reason why a turn ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnEnd {
    /// A stop reason, `message_stop`, `finish_reason`, `finishReason`.
    Stop,
    /// A `result` record.
    SessionResult,
    /// A new message id.
    NewMessage,
    /// A user record without results.
    Prompt,
    /// The input ended.
    EndOfInput,
}
