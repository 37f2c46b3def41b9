//! A reply under construction, and what it finally is. Pure.
//!
//! The decoders of all APIs write into a draft. [`Draft::settle`] alone decides whether it is a reply.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::text_parts::{SplitText, without_think_tags};
use super::{Cut, Event, Failure, Input, Reply, Silence, ToolCall};
use crate::io::Ids;
use crate::json::{bytes, is_object, text};
use crate::message::Usage;

/// A reply under construction.
pub(super) struct Draft {
    text: SplitText,
    thinking: SplitText,
    refusal: SplitText,
    calls: Vec<DraftCall>,
    /// Why the reply ends, once the server said so.
    pub(super) end: Option<End>,
    /// The server said that the reply is complete.
    pub(super) closed: bool,
    /// A stream of this API is only complete once the server says so.
    pub(super) must_be_closed: bool,
    /// The usage, if known.
    pub(super) usage: Usage,
    events: Vec<Event>,
    ids: Arc<dyn Ids>,
}

/// A call under construction.
#[derive(Default)]
struct DraftCall {
    slot: u64,
    id: Option<String>,
    name: String,
    input: SplitText,
    announced: bool,
}

/// Why a server ends a reply.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum End {
    /// The answer is complete, or the model waits for results.
    Regular,
    /// The token budget ran out.
    Budget,
    /// A filter or the model refused.
    Declined(String),
    /// The server failed.
    Failed(String),
}

/// How the transport of a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivered {
    /// As one JSON value, which was complete.
    AsOneValue,
    /// As a stream, to its end.
    ToTheEnd,
    /// As a stream that broke off.
    InPart,
}

impl Draft {
    /// An empty draft. `ids` are for calls without an id.
    pub(super) fn new(ids: Arc<dyn Ids>) -> Self {
        Self {
            text: SplitText::default(),
            thinking: SplitText::default(),
            refusal: SplitText::default(),
            calls: Vec::new(),
            end: None,
            closed: false,
            must_be_closed: false,
            usage: Usage::default(),
            events: Vec::new(),
            ids,
        }
    }

    /// More text, if it is a string.
    pub(super) fn text(&mut self, part: Option<&RawValue>) {
        let text = self.text.push(&bytes(part).unwrap_or_default());
        if !text.is_empty() {
            self.events.push(Event::Text(text));
        }
    }

    /// More thinking, if it is a string.
    pub(super) fn thinking(&mut self, part: Option<&RawValue>) {
        let text = self.thinking.push(&bytes(part).unwrap_or_default());
        if !text.is_empty() {
            self.events.push(Event::Thinking(text));
        }
    }

    /// The signature of what came last, if it is a string.
    pub(super) fn signature(&mut self, raw: Option<&RawValue>) {
        let signature = text(raw).filter(|signature| !signature.is_empty());
        self.events
            .extend(signature.map(|signature| Event::Signature(signature.into_owned())));
    }

    /// Thinking that the server encrypted, if it is a string.
    pub(super) fn redacted_thinking(&mut self, raw: Option<&RawValue>) {
        let data = text(raw).map(|data| Event::RedactedThinking(data.into_owned()));
        self.events.extend(data);
    }

    /// More of the model's refusal, if it is a string.
    pub(super) fn refusal(&mut self, part: Option<&RawValue>) {
        self.refusal.push(&bytes(part).unwrap_or_default());
    }

    /// The position of the latest call in `slot`.
    pub(super) fn call_in(&self, slot: u64) -> Option<usize> {
        self.calls.iter().rposition(|call| call.slot == slot)
    }

    /// The position of the latest call.
    pub(super) fn last_call(&self) -> Option<usize> {
        self.calls.len().checked_sub(1)
    }

    /// The id of a call, if the server gave one.
    pub(super) fn id_of(&self, position: usize) -> Option<&str> {
        self.calls.get(position)?.id.as_deref()
    }

    /// A call that comes in one part.
    pub(super) fn whole_call(
        &mut self,
        id: Option<&RawValue>,
        name: Option<&RawValue>,
        input: Option<&RawValue>,
    ) {
        let position = self.begin_call(u64::MAX);
        self.name_call(position, text(id).as_deref(), text(name).as_deref());
        self.call_input(position, input);
    }

    /// Begins a call; returns its position.
    pub(super) fn begin_call(&mut self, slot: u64) -> usize {
        self.calls.push(DraftCall {
            slot,
            ..DraftCall::default()
        });
        self.calls.len() - 1
    }

    /// Sets the id and name of a call. The first values that are not empty count.
    pub(super) fn name_call(&mut self, position: usize, id: Option<&str>, name: Option<&str>) {
        let Some(call) = self.calls.get_mut(position) else {
            return;
        };
        if call.id.is_none() {
            call.id = id.filter(|id| !id.is_empty()).map(str::to_owned);
        }
        if call.name.is_empty()
            && let Some(name) = name
        {
            name.clone_into(&mut call.name);
        }
        if !call.announced && !call.name.is_empty() {
            call.announced = true;
            let ids = &self.ids;
            let id = call
                .id
                .get_or_insert_with(|| format!("call_{}", ids.uuid().simple()));
            self.events.push(Event::CallBegins {
                index: position,
                id: id.clone(),
                name: call.name.clone(),
            });
        }
    }

    /// More of a call's arguments: a piece of their text, or the whole object. An empty object adds
    /// nothing, because it may stand for arguments that are still to come.
    pub(super) fn call_input(&mut self, position: usize, part: Option<&RawValue>) {
        let Some(call) = self.calls.get_mut(position) else {
            return;
        };
        let fragment = match (bytes(part), part) {
            (Some(text), _) => call.input.push(&text),
            (None, Some(object)) if is_object(part) && !is_empty(object) => {
                call.input.push(object.get().as_bytes())
            }
            (None, _) => return,
        };
        if call.announced && !fragment.is_empty() {
            self.events.push(Event::CallInput {
                index: position,
                fragment,
            });
        }
    }

    /// The events since the last time.
    pub(super) fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// The reply.
    ///
    /// # Errors
    /// It is not a whole, usable reply.
    pub(super) fn settle(self, delivered: Delivered) -> Result<Reply, Failure> {
        let usage = self.usage;
        let refusal = self.refusal.into_text();
        let whole = match delivered {
            Delivered::AsOneValue => true,
            Delivered::ToTheEnd => self.end.is_some() && (self.closed || !self.must_be_closed),
            Delivered::InPart => self.end.is_some() && self.closed,
        };
        match &self.end {
            Some(End::Failed(message)) => {
                return Err(Failure::Overloaded {
                    status: None,
                    message: message.clone(),
                    retry_after: None,
                });
            }
            Some(End::Declined(reason)) => {
                let reason = if refusal.trim().is_empty() {
                    reason.clone()
                } else {
                    refusal
                };
                return Err(Failure::Declined { reason, usage });
            }
            Some(End::Budget) => {
                let cut = Cut::Budget;
                return Err(Failure::Cut { cut, usage });
            }
            Some(End::Regular) | None if !whole => {
                let cut = Cut::Connection;
                return Err(Failure::Cut { cut, usage });
            }
            Some(End::Regular) | None => {}
        }
        let (text, tagged) = without_think_tags(self.text.into_text());
        let mut thinking = self.thinking.into_text();
        thinking.push_str(&tagged);
        let ids = self.ids;
        let calls: Vec<ToolCall> = self
            .calls
            .into_iter()
            .filter(|call| !call.name.is_empty())
            .map(|call| ToolCall {
                id: call
                    .id
                    .unwrap_or_else(|| format!("call_{}", ids.uuid().simple())),
                name: call.name,
                input: Input::of_text(&call.input.into_text()),
            })
            .collect();
        if calls.is_empty() && text.trim().is_empty() {
            if !refusal.trim().is_empty() {
                let reason = refusal;
                return Err(Failure::Declined { reason, usage });
            }
            let silence = if thinking.trim().is_empty() && usage.thinking == 0 {
                Silence::Complete
            } else {
                Silence::OnlyThinking
            };
            return Err(Failure::Empty { silence, usage });
        }
        Ok(Reply {
            text,
            thinking,
            calls,
            usage,
        })
    }
}

fn is_empty(object: &RawValue) -> bool {
    let inner = object.get().trim_start_matches('{').trim_end_matches('}');
    inner.trim().is_empty()
}
