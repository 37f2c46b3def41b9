//! Items: what the Responses API answers with.

use super::arguments::Arguments;
use super::deltas::Closing;
use super::ending::Ending;
use super::envelope::Envelope;
use super::reply::{Reply, Whole};
use super::{CutOff, ToolCall};
use crate::json::{bytes, from_wtf8, is, non_empty, object, text};
use crate::message::MessageId;

object! {
    /// An item.
    Item { kind = "type", call_id, name, arguments }
}

object! {
    /// A response of the API.
    Response { id, status, details = "incomplete_details" }
}

object! {
    /// Why a response is incomplete.
    Details { reason }
}

impl Item<'_> {
    fn is(&self, kind: &str) -> bool {
        is(self.kind, kind)
    }

    fn call(&self) -> ToolCall {
        let arguments = bytes(self.arguments).unwrap_or_default().into_owned();
        let name = text(self.name).unwrap_or_default();
        let arguments = Arguments::Text(from_wtf8(arguments));
        ToolCall::seen(text(self.call_id).as_deref(), &name, arguments)
    }
}

impl Response<'_> {
    fn ending(&self) -> Ending {
        let details = Details::of(self.details).unwrap_or_default();
        match text(self.status).as_deref() {
            Some("incomplete") => {
                let reason = text(details.reason).unwrap_or_default();
                match Ending::of(&reason) {
                    Ending::Complete => Ending::Cut(CutOff::Stopped(reason.into_owned())),
                    cut @ Ending::Cut(_) => cut,
                }
            }
            Some("failed" | "cancelled") => Ending::Cut(CutOff::Stopped("failed".to_owned())),
            _ => Ending::Complete,
        }
    }
}

/// A whole response.
pub(super) fn response(record: &Envelope<'_>, reply: &mut Reply) {
    let id = non_empty(record.id).map(|id| MessageId::from(&*id));
    let items = Item::list(record.output);
    let calls = items.iter().filter(|item| item.is("function_call"));
    let response = Response {
        id: record.id,
        status: record.status,
        details: record.incomplete_details,
    };
    let whole = Whole {
        calls: calls.map(Item::call).collect(),
        id,
        last_block_is_call: items.last().is_some_and(|item| item.is("function_call")),
        ending: Some(response.ending()),
    };
    reply.whole(whole);
}

/// One streaming event.
pub(super) fn event(kind: &str, record: &Envelope<'_>, reply: &mut Reply) {
    let response = Response::of(record.response).unwrap_or_default();
    let item = Item::of(record.item).unwrap_or_default();
    match kind {
        "response.created" => {
            let id = non_empty(response.id).map(|id| MessageId::from(&*id));
            reply.begin_stream(id);
        }
        "response.output_item.done" => output_item(&item, reply),
        _ => reply.stop(0, response.ending()),
    }
}

/// An item is complete. Its arguments come whole, and so their deltas are not needed.
fn output_item(item: &Item<'_>, reply: &mut Reply) {
    if !reply.is_streaming() {
        reply.begin_stream(None);
    }
    if item.is("function_call") {
        let slot = reply.joiner.next_slot(0);
        reply.joiner.start(slot, Closing::Announced);
        let (id, name) = (text(item.call_id), text(item.name));
        reply.joiner.name(slot, id.as_deref(), name.as_deref());
        if let Some(arguments) = bytes(item.arguments) {
            reply.joiner.append(slot, &arguments);
        }
        reply.joiner.close(slot);
    } else {
        reply.joiner.follow(0);
    }
    reply.release();
}
