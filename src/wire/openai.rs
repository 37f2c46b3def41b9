//! OpenAI chat completions: whole messages and completions, and the chunks of streamed ones.

use serde_json::value::RawValue;

use super::ToolCall;
use super::arguments::Arguments;
use super::deltas::{Closing, Slot};
use super::ending::Ending;
use super::envelope::Envelope;
use super::reply::{Reply, Whole};
use crate::json::{bytes, from_wtf8, is_true, non_empty, non_null, number, object, text};
use crate::message::MessageId;

object! {
    /// An assistant message, or the delta of one.
    Message { role, content, tool_calls, function_call }
}

object! {
    /// One of several alternative replies.
    Choice { index, message, delta, finish_reason }
}

object! {
    /// A call, or the delta of one.
    Call { index, id, function, custom }
}

object! {
    /// What is called.
    Function { name, arguments, input }
}

/// The index of the one call of a message of the old form, which others do not have.
const OLD_CALL: u64 = 1 << 32;

impl Call<'_> {
    fn whole(&self) -> ToolCall {
        let function = Function::of(self.function)
            .or_else(|| Function::of(self.custom))
            .unwrap_or_default();
        let name = text(function.name).unwrap_or_default();
        let arguments = match non_null(function.arguments) {
            Some(json) => match bytes(Some(json)) {
                Some(string) => Arguments::Text(from_wtf8(string.into_owned())),
                None => Arguments::Json(json),
            },
            // The free text of a custom tool is no JSON object, and says so.
            None => function.input.map_or(Arguments::None, Arguments::Json),
        };
        ToolCall::seen(text(self.id).as_deref(), &name, arguments)
    }
}

impl<'a> Message<'a> {
    /// The message that a record is.
    pub(super) fn bare(record: &Envelope<'a>) -> Self {
        Self {
            role: record.role,
            content: record.content,
            tool_calls: record.tool_calls,
            function_call: record.function_call,
        }
    }

    fn calls(&self) -> Vec<ToolCall> {
        let calls = Call::list(self.tool_calls);
        calls
            .iter()
            .chain(&self.old_call())
            .map(Call::whole)
            .collect()
    }

    /// The one call of a message of the old form.
    fn old_call(&self) -> Option<Call<'_>> {
        let function = non_null(self.function_call)?;
        Some(Call {
            function: Some(function),
            ..Call::default()
        })
    }

    /// Whether it says anything.
    fn is_content(&self) -> bool {
        non_null(self.role).is_some() || non_empty(self.content).is_some() || self.has_calls()
    }

    fn has_calls(&self) -> bool {
        !Call::list(self.tool_calls).is_empty() || non_null(self.function_call).is_some()
    }
}

/// A bare assistant message.
pub(super) fn assistant(message: &Message<'_>, reply: &mut Reply) {
    let calls = message.calls();
    reply.whole(Whole {
        calls,
        ..Whole::default()
    });
}

/// A reply of Ollama's own API, or a part of a streamed one: both look the same.
pub(super) fn ollama(calls: Option<&RawValue>, record: &Envelope<'_>, reply: &mut Reply) {
    if !reply.is_streaming() {
        reply.begin_stream(None);
    }
    for call in Call::list(calls) {
        let slot = reply.joiner.next_slot(0);
        reply.joiner.start(slot, Closing::Whole);
        fill(slot, &call, reply);
    }
    reply.release();
    if is_true(record.done) {
        let reason = text(record.done_reason).unwrap_or_default();
        reply.stop(0, Ending::of(&reason));
    }
}

/// A completion, or a chunk of a streamed one.
pub(super) fn completion(id: Option<&RawValue>, choices: Option<&RawValue>, reply: &mut Reply) {
    let id = non_empty(id).map(|id| MessageId::from(&*id));
    let choices = Choice::list(choices);
    for choice in &choices {
        if let Some(message) = Message::of(choice.message) {
            let whole = Whole {
                id: id.clone(),
                calls: message.calls(),
                last_block_is_call: true,
                ending: non_empty(choice.finish_reason).map(|reason| Ending::of(&reason)),
            };
            reply.whole(whole);
        }
    }
    chunk(id, &choices, reply);
}

/// A chunk. Its deltas belong to the streamed message that is open, unless they begin another.
fn chunk(id: Option<MessageId>, choices: &[Choice<'_>], reply: &mut Reply) {
    let deltas: Vec<(&Choice<'_>, Message<'_>)> = choices
        .iter()
        .filter(|choice| choice.message.is_none())
        .filter_map(|choice| Some((choice, Message::of(choice.delta)?)))
        .collect();
    if !deltas.is_empty() && !open_stream(id, &deltas, reply) {
        return;
    }
    for (choice, delta) in &deltas {
        let number = number(choice.index).unwrap_or_default();
        for call in Call::list(delta.tool_calls) {
            append(number, &call, reply);
        }
        if let Some(call) = delta.old_call() {
            let (choice, index) = (number, OLD_CALL);
            join(Slot { choice, index }, &call, reply);
        }
        reply.release();
        if let Some(reason) = non_empty(choice.finish_reason) {
            reply.stop(number, Ending::of(&reason));
        }
    }
}

/// Opens a streamed message for the deltas if they need one. Some servers give each chunk its own
/// id, some send usage or a second stop reason after the end, some repeat the role. Returns whether
/// to read the deltas.
fn open_stream(
    id: Option<MessageId>,
    deltas: &[(&Choice<'_>, Message<'_>)],
    reply: &mut Reply,
) -> bool {
    let names_role = deltas
        .iter()
        .any(|(_, delta)| non_null(delta.role).is_some());
    let same_id = reply.may_be_open(id.as_ref());
    if reply.is_streaming() {
        if names_role && !same_id {
            reply.begin_stream(id);
        }
        return true;
    }
    let has_calls = deltas.iter().any(|(_, delta)| delta.has_calls());
    if same_id && !names_role {
        if has_calls {
            reply.resume_stream();
        }
        return has_calls;
    }
    let says_something = deltas
        .iter()
        .any(|(choice, delta)| delta.is_content() || non_empty(choice.finish_reason).is_some());
    if says_something {
        reply.begin_stream(id);
    }
    says_something
}

/// One call delta. Some servers leave the index out, or give every call the index 0; some repeat
/// the id with every delta.
fn append(choice: u64, call: &Call<'_>, reply: &mut Reply) {
    let id = non_empty(call.id);
    let slot = match (number(call.index), &id) {
        (Some(index), _) => Some(Slot { choice, index }),
        (None, Some(id)) => reply.joiner.slot_of(choice, id),
        (None, None) => reply.joiner.last_slot(choice),
    };
    let slot = slot.unwrap_or_else(|| reply.joiner.next_slot(choice));
    join(slot, call, reply);
}

fn join(slot: Slot, call: &Call<'_>, reply: &mut Reply) {
    if reply
        .joiner
        .begins_call(slot, non_empty(call.id).as_deref())
    {
        reply.joiner.start(slot, Closing::Whole);
    }
    fill(slot, call, reply);
}

/// What a call delta says of the call in `slot`.
fn fill(slot: Slot, call: &Call<'_>, reply: &mut Reply) {
    let function = Function::of(call.function)
        .or_else(|| Function::of(call.custom))
        .unwrap_or_default();
    let (id, name) = (text(call.id), non_empty(function.name));
    reply.joiner.name(slot, id.as_deref(), name.as_deref());
    if let Some(arguments) = non_null(function.arguments).or(function.input) {
        match bytes(Some(arguments)) {
            Some(fragment) => reply.joiner.append(slot, &fragment),
            None => reply.joiner.input(slot, arguments),
        }
    }
}
