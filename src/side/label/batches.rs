//! Finds the batches of a stream: the calls of one message, the parts of their results that labels need, and when
//! they are complete. Pure.

use serde_json::value::RawValue;

use super::CallsEnded;
use super::question::{intent, shown};
use crate::api::{AssistantText, ResultBody};
use crate::assemble::{Event, Source, ToolCall, TurnEnd};
use crate::message::{SessionId, ToolUseId};
use crate::side::builtin::{FinishedCall, needed_of_result};
use crate::side::excerpt::{TRUNCATED, beginning_and_end, bounded};

/// Maximum number of batches without a result.
const MAX_OPEN: usize = 64;

/// Finds the batches of a stream.
#[derive(Debug)]
pub(super) struct Batches {
    need: Need,
    open: Vec<Open>,
    /// The number of the next batch.
    next: u64,
    said: String,
    session: Option<SessionId>,
    cwd: Option<String>,
}

#[derive(Debug)]
struct Open {
    batch: Batch,
    /// Whether the message is the last one.
    is_current: bool,
    /// Whether the message has ended, so that no further call follows.
    is_ended: bool,
    /// The number of calls when it was returned.
    returned: Option<usize>,
}

impl Batches {
    /// Creates the state before the first record.
    pub(super) fn new(need: Need) -> Self {
        Self {
            need,
            open: Vec::new(),
            next: 0,
            said: String::new(),
            session: None,
            cwd: None,
        }
    }

    /// Whether a record with these events starts another message or ends the session. Labels go
    /// before it: call [`Batches::take_before_boundary`] before [`Batches::record`].
    pub(super) fn is_boundary(events: &[Event]) -> bool {
        let mut events = events.iter();
        events.any(|event| matches!(event, Event::Message(_) | Event::SessionResult))
    }

    /// Processes a record and its events.
    pub(super) fn record(&mut self, source: &Source<'_>, events: Vec<Event>) {
        if source.is_sidechain() {
            return;
        }
        if self.cwd.is_none() {
            self.cwd = source.directory();
        }
        let has_results = events.iter().any(|event| matches!(event, Event::Result(_)));
        let results = if has_results {
            source.results()
        } else {
            Vec::new()
        };
        self.events(events, &results);
        // A record with results has no text of the model, and may be long.
        if self.need != Need::Rules && !has_results {
            self.assistant_text(source);
        }
    }

    /// Processes the events of the end of the input.
    pub(super) fn finish(&mut self, events: Vec<Event>) {
        self.events(events, &[]);
    }

    fn events(&mut self, events: Vec<Event>, results: &[ResultBody<'_>]) {
        let mut results = results.iter();
        for event in events {
            match event {
                Event::Session(id) => self.session = Some(id),
                Event::Message(_) => self.leave_message(),
                Event::Call(call) => self.call(call),
                Event::Result(id) => {
                    if let Some(content) = results.next() {
                        self.result(&id, content);
                    }
                }
                Event::TurnEnd(TurnEnd::Stop | TurnEnd::SessionResult) => {
                    for open in self.open.iter_mut().filter(|open| open.is_current) {
                        open.is_ended = true;
                    }
                }
                _ => {}
            }
        }
    }

    /// Removes the batches of these calls: the stream has labels for them.
    pub(super) fn remove_labeled(&mut self, calls: &[ToolUseId]) {
        let is_labeled = |open: &Open| open.batch.calls.iter().any(|call| calls.contains(&call.id));
        self.open.retain(|open| !is_labeled(open));
    }

    /// Returns the complete batches to which no further call can be added, and if `idle`, all complete batches.
    /// Each is returned once, and again if it grows.
    pub(super) fn take_settled(&mut self, idle: bool) -> Vec<Batch> {
        let mut settled = Vec::new();
        for open in &mut self.open {
            let count = open.batch.calls.len();
            let is_new = open.returned != Some(count);
            if is_new && open.batch.is_complete() && (open.is_ended || !open.is_current || idle) {
                open.returned = Some(count);
                settled.push(open.batch.clone());
            }
        }
        settled
    }

    /// Whether a complete batch was not yet returned.
    pub(super) fn has_unsettled(&self) -> bool {
        self.open
            .iter()
            .any(|open| open.batch.is_complete() && open.returned != Some(open.batch.calls.len()))
    }

    /// Removes and returns the batches whose labels belong here, in order: those with a result. The flag
    /// is true if the batch was returned before with the same calls.
    pub(super) fn take_before_boundary(&mut self) -> Vec<(Batch, bool)> {
        let due = self.open.extract_if(.., |open| open.batch.has_results());
        due.map(|open| {
            let was_returned = open.returned == Some(open.batch.calls.len());
            (open.batch, was_returned)
        })
        .collect()
    }

    /// Whether the position of a batch's label is still ahead.
    pub(super) fn is_open(&self, number: u64) -> bool {
        self.open.iter().any(|open| open.batch.number == number)
    }

    fn leave_message(&mut self) {
        for open in &mut self.open {
            open.is_current = false;
        }
        if self.open.len() > MAX_OPEN {
            self.open.remove(0);
        }
    }

    fn call(&mut self, call: ToolCall) {
        let call = BatchCall::new(call, self.need);
        if let Some(open) = self.open.iter_mut().find(|open| open.is_current) {
            if open.batch.has_room() {
                open.batch.calls.push(call);
            }
            return;
        }
        let batch = Batch {
            number: self.next,
            calls: vec![call],
            said: intent(&self.said),
            session: self.session.clone(),
            cwd: self.cwd.clone(),
        };
        self.next += 1;
        self.open.push(Open {
            batch,
            is_current: true,
            is_ended: false,
            returned: None,
        });
    }

    fn result(&mut self, id: &ToolUseId, content: &ResultBody<'_>) {
        // The result of a repeated id belongs to the last message with that id.
        let batches = self.open.iter_mut().rev().map(|open| &mut open.batch.calls);
        let mut calls = batches.flatten();
        if let Some(call) = calls.find(|call| call.id == *id && call.result.is_none()) {
            call.result = Some(BatchResult::new(content, &call.name, self.need));
        }
    }

    fn assistant_text(&mut self, source: &Source<'_>) {
        match source.assistant_text() {
            Some(AssistantText::Whole(said)) if !said.trim().is_empty() => self.said = said,
            Some(AssistantText::Part(more)) => {
                if self.text_is_old() {
                    self.said.clear();
                }
                if self.said.len() < 4096 {
                    self.said.push_str(&more);
                }
            }
            _ => return,
        }
        if let Some(open) = self.open.iter_mut().find(|open| open.is_current) {
            open.batch.said = intent(&self.said);
        }
    }

    /// Whether the last text belongs to an earlier message than the current deltas.
    fn text_is_old(&self) -> bool {
        !self.open.iter().any(|open| open.is_current)
            && self.open.iter().any(|open| open.batch.has_results())
    }
}

/// Bytes of the beginning and of the end of a result that are kept for the rules.
const KEPT_BYTES: usize = 64 * 1024;

/// Maximum number of calls in a batch.
const MAX_CALLS: usize = 128;

/// The consumers of a batch, which need different parts of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// The rules.
    Rules,
    /// A model.
    Model,
    /// Both.
    Both,
}

/// The calls of one message.
#[derive(Debug, Clone)]
pub(super) struct Batch {
    /// Its number in the stream, from 0.
    pub(super) number: u64,
    /// In the order of the message.
    pub(super) calls: Vec<BatchCall>,
    /// The part of the model's last text that prompts show.
    pub(super) said: String,
    /// The session.
    pub(super) session: Option<SessionId>,
    /// The working directory, if the stream contains it.
    pub(super) cwd: Option<String>,
}

/// A call of a batch.
#[derive(Debug, Clone)]
pub(super) struct BatchCall {
    /// The id.
    pub(super) id: ToolUseId,
    /// The tool.
    pub(super) name: String,
    /// The arguments; long texts may be cut.
    pub(super) input: Box<RawValue>,
    /// The arguments as prompts show them.
    pub(super) input_shown: String,
    /// The result, once there is one.
    pub(super) result: Option<BatchResult>,
}

/// The result of a call.
#[derive(Debug, Clone)]
pub(super) struct BatchResult {
    /// The text: the beginning and the end of a long one.
    pub(super) text: String,
    /// As prompts show it.
    pub(super) shown: String,
    /// Whether the call failed.
    pub(super) failed: bool,
}

impl Batch {
    /// Whether there is a call, and every call has a result.
    pub(super) fn is_complete(&self) -> bool {
        !self.calls.is_empty() && self.calls.iter().all(|call| call.result.is_some())
    }

    /// Whether a call has a result.
    pub(super) fn has_results(&self) -> bool {
        self.calls.iter().any(|call| call.result.is_some())
    }

    /// Returns the calls that a prompt shows: the successful ones, or the failed ones if all
    /// failed. Calls about the agent's own goal are omitted.
    pub(super) fn shown_calls(&self) -> (Vec<&BatchCall>, CallsEnded) {
        let is_own = |call: &BatchCall| matches!(call.name.as_str(), "get_goal" | "update_goal");
        let calls = self.calls.iter().filter(|call| !is_own(call));
        let with_result = calls.filter_map(|call| Some((call, call.result.as_ref()?.failed)));
        let (failed, succeeded): (Vec<_>, Vec<_>) = with_result.partition(|(_, failed)| *failed);
        let (shown, ended) = if succeeded.is_empty() {
            (failed, CallsEnded::Badly)
        } else {
            (succeeded, CallsEnded::Well)
        };
        (shown.into_iter().map(|(call, _)| call).collect(), ended)
    }

    /// Whether another call fits.
    pub(super) fn has_room(&self) -> bool {
        self.calls.len() < MAX_CALLS
    }

    /// Returns the calls with results, for the rules.
    pub(super) fn finished_calls(&self) -> Vec<FinishedCall<'_>> {
        let calls = self.calls.iter().filter_map(|call| {
            let result = call.result.as_ref()?;
            Some(FinishedCall {
                name: &call.name,
                input: &call.input,
                text: &result.text,
                failed: result.failed,
            })
        });
        calls.collect()
    }
}

impl BatchCall {
    /// Creates a call without a result.
    pub(super) fn new(call: ToolCall, need: Need) -> Self {
        let empty = || RawValue::from_string("{}".to_owned());
        let input = call.input.or_else(|_| empty()).unwrap_or_default();
        let input_shown = match need {
            Need::Rules => String::new(),
            Need::Model | Need::Both => shown(input.get()),
        };
        let input = match need {
            Need::Model => RawValue::NULL.to_owned(),
            Need::Rules | Need::Both => bounded(input),
        };
        Self {
            id: call.id,
            name: call.name,
            input,
            input_shown,
            result: None,
        }
    }
}

impl BatchResult {
    /// Keeps the parts of a result that are needed.
    pub(super) fn new(content: &ResultBody<'_>, tool: &str, need: Need) -> Self {
        let text = match need {
            Need::Model => String::new(),
            Need::Rules | Need::Both => {
                let text = content.text(needed_of_result(tool));
                beginning_and_end(&text, KEPT_BYTES, TRUNCATED).into_owned()
            }
        };
        let shown = match need {
            Need::Rules => String::new(),
            Need::Model | Need::Both => shown(&content.json()),
        };
        Self {
            text,
            shown,
            failed: content.failed,
        }
    }
}

#[cfg(test)]
#[path = "batches_tests.rs"]
mod tests;
