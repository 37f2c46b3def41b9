//! Anthropic messages: whole ones, in stream-json records or bare, and their streaming events.

use super::ToolCall;
use super::arguments::Arguments;
use super::deltas::{Closing, Slot};
use super::ending::Ending;
use super::envelope::Envelope;
use super::reply::{Reply, Whole};
use crate::json::{bytes, is, is_object, non_empty, number, object, text};
use crate::message::MessageId;

object! {
    /// A message of the Messages API without its content, and the members that mark other agents'
    /// messages.
    Message { role, id, parts, stop_reason, tool_calls }
}

object! {
    /// A content block, or a part of a Gemini content.
    Block {
        kind = "type", id, name, input, tool_use_id, text, thought, signature = "thoughtSignature",
        content, is_error, response = "functionResponse",
    }
}

object! {
    /// A streaming event.
    StreamEvent { kind = "type", message: Message<'a>, index, content_block, delta }
}

object! {
    /// The change in a streaming event.
    Delta { kind = "type", partial_json, stop_reason }
}

impl Message<'_> {
    /// Whether it is what the model said.
    pub(super) fn is_from_model(&self) -> bool {
        text(self.role).is_none_or(|role| role == "assistant")
    }
}

impl Block<'_> {
    pub(super) fn is(&self, kind: &str) -> bool {
        is(self.kind, kind)
    }

    /// The call that this block is, if it is one.
    fn call(&self) -> ToolCall {
        let id = text(self.id).unwrap_or_default();
        let name = text(self.name).unwrap_or_default();
        let input = self.input.map_or(Arguments::Missing, Arguments::Json);
        ToolCall::seen(Some(&id), &name, input)
    }
}

/// A bare `tool_use` line: a call only if name and input are of the right type.
pub(super) fn bare_call(record: &Envelope<'_>) -> Option<ToolCall> {
    let name = non_empty(record.name)?;
    let input = Arguments::Json(record.input?);
    Some(ToolCall::seen(text(record.id).as_deref(), &name, input)).filter(|call| call.input.is_ok())
}

/// An assistant message as a whole or a part of one.
pub(super) fn assistant(message: &Message<'_>, blocks: &[Block<'_>], reply: &mut Reply) {
    let id = non_empty(message.id).map(|id| MessageId::from(&*id));
    let mut calls = Vec::new();
    let mut last_block_is_call = false;
    for block in blocks {
        last_block_is_call = block.is("tool_use");
        if last_block_is_call {
            calls.push(block.call());
        }
    }
    let ending = non_empty(message.stop_reason).map(|reason| Ending::of(&reason));
    let whole = Whole {
        id,
        calls,
        last_block_is_call,
        ending,
    };
    reply.whole(whole);
}

/// A user message: results, or a prompt.
pub(super) fn user(blocks: &[Block<'_>], reply: &mut Reply) {
    let mut is_prompt = true;
    for block in blocks {
        if block.is("tool_result") {
            is_prompt = false;
            reply.result(text(block.tool_use_id).as_deref(), None);
        }
    }
    if is_prompt {
        reply.prompt();
    }
}

/// One streaming event.
pub(super) fn stream_event(event: &StreamEvent<'_>, reply: &mut Reply) {
    let kind = text(event.kind).unwrap_or_default();
    match &*kind {
        "message_start" => message_start(event, reply),
        "content_block_start" => block_start(event, reply),
        "content_block_delta" => {
            let delta = Delta::of(event.delta).unwrap_or_default();
            if let (Some(slot), Some(fragment)) = (slot_of(event, reply), bytes(delta.partial_json))
            {
                reply.joiner.append(slot, &fragment);
            }
        }
        "content_block_stop" => {
            if let Some(slot) = slot_of(event, reply) {
                reply.joiner.close(slot);
                reply.release();
            }
        }
        "message_delta" => {
            let delta = Delta::of(event.delta).unwrap_or_default();
            if let Some(reason) = non_empty(delta.stop_reason) {
                reply.stop(0, Ending::of(&reason));
            }
        }
        "message_stop" => reply.stop(0, Ending::Complete),
        _ => {}
    }
}

fn message_start(event: &StreamEvent<'_>, reply: &mut Reply) {
    let message = event.message.unwrap_or_default();
    if message.is_from_model() {
        let id = non_empty(message.id).map(|id| MessageId::from(&*id));
        reply.begin_stream(id);
    }
}

fn block_start(event: &StreamEvent<'_>, reply: &mut Reply) {
    if !reply.is_streaming() {
        reply.begin_stream(None);
    }
    let block = Block::of(event.content_block).unwrap_or_default();
    if block.is("tool_use") {
        let slot = match number(event.index) {
            Some(index) => Slot { choice: 0, index },
            None => reply.joiner.next_slot(0),
        };
        reply.joiner.start(slot, Closing::Announced);
        let (id, name) = (text(block.id), text(block.name));
        reply.joiner.name(slot, id.as_deref(), name.as_deref());
        if let Some(input) = block.input.filter(|input| is_object(Some(*input))) {
            reply.joiner.input(slot, input);
        }
    } else {
        reply.joiner.follow(0);
    }
    reply.release();
}

/// The call that an event is about. Without an index it is the one that began last.
fn slot_of(event: &StreamEvent<'_>, reply: &Reply) -> Option<Slot> {
    match number(event.index) {
        Some(index) => Some(Slot { choice: 0, index }),
        None => reply.joiner.last_slot(0),
    }
}
