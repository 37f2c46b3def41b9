//! A reply under construction: the deltas of any API become parts in order. Pure.

use std::sync::Arc;

use super::fragments::SplitText;
use super::joiner::{JoinedCall, Joiner};
use crate::api::{Chunk, Delta, EndKind};
use turnpipe_core::io::Ids;
use turnpipe_core::message::Usage;

/// A part of a reply, in the order of the stream.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyPart {
    /// More text.
    Text(String),
    /// More thinking.
    Thinking(String),
    /// The signature of the thinking or the call before it, which the server requires back.
    Signature(String),
    /// Encrypted thinking.
    RedactedThinking(String),
    /// A call starts; calls are numbered from 0.
    CallBegins {
        /// The number of the call.
        index: usize,
        /// The id; empty if the server sent none.
        id: String,
        /// The function.
        name: String,
    },
    /// More of a call's arguments, as JSON text. They are complete only in the reply.
    CallInput {
        /// The number of the call.
        index: usize,
        /// The text.
        fragment: String,
    },
}

/// A reply under construction. By default, the ids of calls without one stay empty.
#[derive(Debug, Default)]
pub struct Draft {
    text: SplitText,
    thinking: SplitText,
    refusal: SplitText,
    calls: Joiner,
    /// The progress of each call in the parts.
    progress: Vec<CallProgress>,
    /// Whether the open block has text.
    has_text: bool,
    /// The reason why the reply ends.
    pub(crate) end: Option<EndKind>,
    /// Whether the server reported that the reply is complete.
    pub is_closed: bool,
    /// The usage, if known.
    pub(crate) usage: Usage,
    parts: Vec<ReplyPart>,
    ids: Option<Arc<dyn Ids>>,
}

/// The progress of a call in the parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallProgress {
    Nothing,
    Begin,
    /// Its input, which arrived whole.
    Input,
}

/// A draft at its end.
pub struct FinishedDraft {
    /// The text.
    pub text: String,
    /// The thinking.
    pub thinking: String,
    /// The explanation of a refusal; empty without one.
    pub refusal: String,
    /// The calls, in order.
    pub calls: Vec<DraftedCall>,
    /// The reason of its end; `None` if none arrived.
    pub end: Option<EndKind>,
    /// The token counts.
    pub usage: Usage,
}

/// A call of a draft.
pub struct DraftedCall {
    /// The id.
    pub id: String,
    /// The function.
    pub name: String,
    /// The arguments as the model wrote them.
    pub arguments: String,
}

impl Draft {
    /// Adds the first choice of a reply, or of a part of one.
    pub fn push_chunk(&mut self, chunk: Chunk<'_>) {
        let first = chunk.choices.into_iter().filter(|choice| choice.index == 0);
        first
            .flat_map(|choice| choice.deltas)
            .for_each(|delta| self.push(delta));
    }

    /// Returns an empty draft. `ids` are for calls without an id.
    pub fn new(ids: Arc<dyn Ids>) -> Self {
        Self {
            ids: Some(ids),
            ..Self::default()
        }
    }

    /// Takes the next delta.
    pub fn push(&mut self, delta: Delta<'_>) {
        if matches!(delta, Delta::End(_) | Delta::Closed)
            && let Some(last) = self.calls.mark_followed(0)
        {
            self.push_call_parts(last);
        }
        match delta {
            Delta::WholeText(_) if self.has_text => {}
            Delta::Text(text) | Delta::WholeText(text) => {
                self.has_text = true;
                self.text.push(&text);
                let text = self.text.take_new();
                self.push_part(!text.is_empty(), ReplyPart::Text(text));
            }
            Delta::Thinking(text) => {
                self.thinking.push(&text);
                let text = self.thinking.take_new();
                self.push_part(!text.is_empty(), ReplyPart::Thinking(text));
            }
            Delta::Signature(signature) => {
                let signature = signature.into_owned();
                self.push_part(!signature.is_empty(), ReplyPart::Signature(signature));
            }
            Delta::RedactedThinking(data) => {
                self.push_part(true, ReplyPart::RedactedThinking(data.into_owned()));
            }
            Delta::Refusal(text) => self.refusal.push(&text),
            Delta::Usage(usage) => self.add_usage(usage),
            Delta::End(end) => {
                self.end.get_or_insert(end.kind);
            }
            Delta::Closed => self.is_closed = true,
            delta => {
                if matches!(delta, Delta::Block) {
                    self.has_text = false;
                }
                if let Some(position) = self.calls.push(0, delta) {
                    // The call before it may have no arguments.
                    self.push_call_parts(position.saturating_sub(1));
                    self.push_call_parts(position);
                }
            }
        }
    }

    fn push_part(&mut self, has_content: bool, part: ReplyPart) {
        self.parts.extend(has_content.then_some(part));
    }

    /// Adds token counts. A count of 0 means unknown.
    fn add_usage(&mut self, usage: Usage) {
        let known = &mut self.usage;
        for (known, count) in [
            (&mut known.input, usage.input),
            (&mut known.output, usage.output),
            (&mut known.cache_read, usage.cache_read),
            (&mut known.cache_write, usage.cache_write),
            (&mut known.thinking, usage.thinking),
        ] {
            if count > 0 {
                *known = count;
            }
        }
        known.cost = usage.cost.or(known.cost);
    }

    /// Adds the parts of the call at this position, which changed.
    fn push_call_parts(&mut self, index: usize) {
        let Some(call) = self.calls.call_mut(index) else {
            return;
        };
        if !call.has_whole_name() {
            return;
        }
        self.progress
            .resize(self.progress.len().max(index + 1), CallProgress::Nothing);
        let progress = &mut self.progress[index];
        if *progress == CallProgress::Nothing {
            *progress = CallProgress::Begin;
            let new_id = || new_id(self.ids.as_deref());
            let (id, name) = (call.id.clone().unwrap_or_else(new_id), call.name.clone());
            call.sent_id = Some(id.clone());
            self.parts.push(ReplyPart::CallBegins { index, id, name });
        }
        // An empty object may be a placeholder for fragments that are still to come.
        if *progress == CallProgress::Begin
            && let Some(input) = call.input.as_ref().filter(|input| has_members(input.get()))
        {
            *progress = CallProgress::Input;
            let fragment = input.get().to_owned();
            self.parts.push(ReplyPart::CallInput { index, fragment });
        }
        let fragment = call.fragments.take_new();
        self.push_part(
            !fragment.is_empty(),
            ReplyPart::CallInput { index, fragment },
        );
    }

    /// Returns the parts since the last time.
    pub fn take_parts(&mut self) -> Vec<ReplyPart> {
        std::mem::take(&mut self.parts)
    }

    /// Ends the draft.
    pub fn finish(self) -> FinishedDraft {
        let calls = self.calls.into_calls().into_iter();
        let calls = calls.filter(|call| !call.name.is_empty());
        let call = |call: JoinedCall| DraftedCall {
            id: call.sent_id.or(call.id).unwrap_or_default(),
            name: call.name,
            arguments: match call.input {
                Some(input) if call.fragments.is_empty() => input.get().to_owned(),
                _ => call.fragments.into_text(),
            },
        };
        FinishedDraft {
            calls: calls.map(call).collect(),
            text: self.text.into_text(),
            thinking: self.thinking.into_text(),
            refusal: self.refusal.into_text(),
            end: self.end,
            usage: self.usage,
        }
    }
}

fn new_id(ids: Option<&dyn Ids>) -> String {
    ids.map(|ids| format!("call_{}", ids.uuid().simple()))
        .unwrap_or_default()
}

/// Whether an object is not empty.
fn has_members(object: &str) -> bool {
    let inner = object.trim_start_matches('{').trim_end_matches('}');
    object.starts_with('{') && !inner.trim().is_empty()
}
