//! Gemini contents: whole ones, bare or in Qwen Code session records, and streamed responses.
//!
//! The API may leave out the ids of calls and of their responses.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::ToolCall;
use super::arguments::Arguments;
use super::deltas::Closing;
use super::ending::Ending;
use super::reply::{Reply, Whole};
use crate::json::{is, is_true, non_empty, non_null, number, object, text};
use crate::message::MessageId;

object! {
    /// Content: what one side said.
    Content { role, parts }
}

object! {
    /// A part of a content.
    Part { text, call = "functionCall", response = "functionResponse" }
}

object! {
    /// A call or a response.
    Function { id, name, args, partial_args = "partialArgs", will_continue = "willContinue" }
}

object! {
    /// One of several alternative replies.
    Candidate { index, content, finish_reason = "finishReason" }
}

/// A function call, read.
struct Called<'a> {
    id: Option<String>,
    name: String,
    args: Option<&'a RawValue>,
    /// Its arguments come in parts that only Vertex sends; they are not joined.
    is_partial: bool,
}

impl<'a> Called<'a> {
    /// `None` if it only continues a call that came in parts.
    fn read(raw: &'a RawValue) -> Option<Self> {
        let function = Function::of(Some(raw)).unwrap_or_default();
        let name = text(function.name).unwrap_or_default().into_owned();
        let is_partial =
            is_true(function.will_continue) || non_null(function.partial_args).is_some();
        if name.is_empty() && (is_partial || non_null(function.args).is_none()) {
            return None;
        }
        let args = non_null(function.args);
        Some(Self {
            id: text(function.id).map(Cow::into_owned),
            name,
            args,
            is_partial,
        })
    }

    fn settle(self) -> ToolCall {
        let args = match self.args {
            _ if self.is_partial => Arguments::Text(UNJOINED.to_owned()),
            Some(args) => Arguments::Json(args),
            None => Arguments::None,
        };
        ToolCall::seen(self.id.as_deref(), &self.name, args)
    }
}

/// What stands for arguments that came in parts: not whole, hence never run.
const UNJOINED: &str = "{";

/// A content message: of the model, or of the user.
pub(super) fn content(content: &Content<'_>, id: Option<MessageId>, reply: &mut Reply) {
    let parts = Part::list(content.parts).into_iter();
    if is(content.role, "model") {
        let calls = parts
            .filter_map(|part| Called::read(non_null(part.call)?))
            .map(Called::settle)
            .collect();
        reply.whole(Whole {
            id,
            calls,
            ..Whole::default()
        });
        return;
    }
    let mut is_prompt = true;
    for part in parts {
        if let Some(response) = non_null(part.response) {
            is_prompt = false;
            let function = Function::of(Some(response)).unwrap_or_default();
            let (id, name) = (text(function.id), text(function.name));
            reply.result(id.as_deref(), name.as_deref());
        }
    }
    if is_prompt {
        reply.prompt();
    }
}

/// A response, or a chunk of a streamed one: both look the same.
pub(super) fn response(id: Option<&RawValue>, candidates: Option<&RawValue>, reply: &mut Reply) {
    let id = non_empty(id).map(|id| MessageId::from(&*id));
    for candidate in Candidate::list(candidates) {
        let content = Content::of(candidate.content).unwrap_or_default();
        let parts = Part::list(content.parts);
        let reason = non_empty(candidate.finish_reason);
        if !open_stream(id.as_ref(), !parts.is_empty(), reason.is_some(), reply) {
            continue;
        }
        let choice = number(candidate.index).unwrap_or_default();
        for part in parts {
            stream_part(choice, &part, reply);
        }
        reply.release();
        if let Some(reason) = reason {
            reply.stop(choice, Ending::of(&reason));
        }
    }
}

/// Opens a streamed message for a candidate if it needs one. Returns whether to read it.
fn open_stream(
    id: Option<&MessageId>,
    has_parts: bool,
    has_reason: bool,
    reply: &mut Reply,
) -> bool {
    let same_id = reply.may_be_open(id);
    if reply.is_streaming() && same_id {
        return true;
    }
    if same_id && id.is_some() {
        // After the end only usage comes under the same id, or another candidate.
        if has_parts {
            reply.resume_stream();
        }
        return has_parts;
    }
    if !(has_parts || has_reason) {
        return false;
    }
    reply.begin_stream(id.cloned());
    true
}

fn stream_part(choice: u64, part: &Part<'_>, reply: &mut Reply) {
    let Some(called) = non_null(part.call) else {
        // An empty text is no block: some replies end with one.
        if part.text.is_none() || non_empty(part.text).is_some() {
            reply.joiner.follow(choice);
        }
        return;
    };
    let Some(called) = Called::read(called) else {
        return;
    };
    let slot = reply.joiner.next_slot(choice);
    reply.joiner.start(slot, Closing::Announced);
    reply
        .joiner
        .name(slot, called.id.as_deref(), Some(&called.name));
    if called.is_partial {
        reply.joiner.append(slot, UNJOINED.as_bytes());
    } else if let Some(args) = called.args {
        reply.joiner.input(slot, args);
    }
    reply.joiner.close(slot);
}
