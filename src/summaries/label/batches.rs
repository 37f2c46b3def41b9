//! Finds the batches of a stream: the calls of one message, and when they are complete. Pure.

use super::batch::{Batch, BatchCall, BatchResult, Need};
use super::question::intent;
use crate::api::{AssistantText, ResultBody};
use crate::assemble::{Event, Source, ToolCall, TurnEnd};
use crate::message::{SessionId, ToolUseId};

/// Maximum number of batches without a result.
const MAX_OPEN: usize = 64;

/// Finds the batches of a stream.
#[derive(Debug)]
pub(super) struct Batches {
    need: Need,
    open: Vec<Open>,
    /// The number of the next batch.
    next: u64,
    model_text: String,
    session: Option<SessionId>,
    cwd: Option<String>,
}

/// A batch that may still change, or whose label has no position yet.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) batch: Batch,
    /// Whether the message is the last one.
    is_current: bool,
    /// Whether the message has ended, so that no further call follows.
    is_ended: bool,
    /// Whether the batch was returned. Further calls of the message are another batch.
    pub(super) is_returned: bool,
}

impl Open {
    fn is_unsettled(&self) -> bool {
        !self.is_returned && self.batch.is_complete()
    }
}

impl Batches {
    /// Creates the state before the first record.
    pub(super) fn new(need: Need) -> Self {
        Self {
            need,
            open: Vec::new(),
            next: 0,
            model_text: String::new(),
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
        self.process(events, &results);
        // A record with results has no text of the model, and may be long.
        if self.need != Need::Rules && !has_results {
            self.add_model_text(source);
        }
    }

    /// Processes the events of the end of the input.
    pub(super) fn finish(&mut self, events: Vec<Event>) {
        self.process(events, &[]);
    }

    fn process(&mut self, events: Vec<Event>, results: &[ResultBody<'_>]) {
        let mut results = results.iter();
        for event in events {
            match event {
                Event::Session(id) => self.session = Some(id),
                Event::Message(_) => self.leave_message(),
                Event::Call(call) => self.add_call(call),
                Event::Result(id) => {
                    if let Some(content) = results.next() {
                        self.add_result(&id, content);
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

    /// Removes the batches of calls that the stream itself labels.
    pub(super) fn remove_labeled(&mut self, calls: &[ToolUseId]) {
        let is_labeled = |open: &Open| open.batch.calls.iter().any(|call| calls.contains(&call.id));
        self.open.retain(|open| !is_labeled(open));
    }

    /// Returns each complete batch once: when no further call can be added, or if the input is `idle`.
    pub(super) fn take_settled(&mut self, idle: bool) -> Vec<Batch> {
        let mut settled = Vec::new();
        for open in self.open.iter_mut().filter(|open| open.is_unsettled()) {
            if open.is_ended || !open.is_current || idle {
                open.is_returned = true;
                settled.push(open.batch.clone());
            }
        }
        settled
    }

    /// Whether a complete batch was not yet returned.
    pub(super) fn has_unsettled(&self) -> bool {
        self.open.iter().any(Open::is_unsettled)
    }

    /// Removes and returns the batches with a result, in order. Their labels belong before the boundary.
    pub(super) fn take_before_boundary(&mut self) -> Vec<Open> {
        let due = self.open.extract_if(.., |open| open.batch.has_results());
        due.collect()
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

    fn add_call(&mut self, call: ToolCall) {
        let call = BatchCall::new(call, self.need);
        let current = self.open.iter_mut().rfind(|open| open.is_current);
        if let Some(open) = current.filter(|open| !open.is_returned) {
            if open.batch.has_room() {
                open.batch.calls.push(call);
            }
            return;
        }
        if self.open.len() > MAX_OPEN {
            return;
        }
        let batch = Batch {
            number: self.next,
            calls: vec![call],
            model_text: intent(&self.model_text),
            session: self.session.clone(),
            cwd: self.cwd.clone(),
        };
        self.next += 1;
        self.open.push(Open {
            batch,
            is_current: true,
            is_ended: false,
            is_returned: false,
        });
    }

    fn add_result(&mut self, id: &ToolUseId, content: &ResultBody<'_>) {
        // The result of a repeated id belongs to the last message with that id.
        let batches = self.open.iter_mut().rev().map(|open| &mut open.batch.calls);
        let mut calls = batches.flatten();
        if let Some(call) = calls.find(|call| call.id == *id && call.result.is_none()) {
            call.result = Some(BatchResult::new(content, &call.name, self.need));
        }
    }

    fn add_model_text(&mut self, source: &Source<'_>) {
        match source.assistant_text() {
            Some(AssistantText::Whole(text)) if !text.trim().is_empty() => self.model_text = text,
            Some(AssistantText::Part(more)) => {
                if self.is_text_old() {
                    self.model_text.clear();
                }
                if self.model_text.len() < 4096 {
                    self.model_text.push_str(&more);
                }
            }
            _ => return,
        }
        if let Some(open) = self.open.iter_mut().rfind(|open| open.is_current) {
            open.batch.model_text = intent(&self.model_text);
        }
    }

    /// Whether the last text belongs to an earlier message than the current deltas.
    fn is_text_old(&self) -> bool {
        !self.open.iter().any(|open| open.is_current)
            && self.open.iter().any(|open| open.batch.has_results())
    }
}

#[cfg(test)]
#[path = "batches_tests.rs"]
mod tests;
