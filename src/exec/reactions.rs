//! What the events of an input line do to a run, and how results leave it.

use std::io::Write;

use super::call::{Call, CallStage};
use super::lifecycle::stand_in;
use super::runner::Runner;
use super::session::Naming;
use super::{Completed, Dedup, Emit, Mode, Progress};
use crate::jsonl::WriteError;
use crate::results::{Action, Candidate, TURN_BUDGET, ToolResultStore, decide};
use crate::text::utf16_length;
use crate::tools::Content;
use crate::wire::{Event, ToolUseId};

impl<Sink: Write> Runner<'_, Sink> {
    pub(super) fn react(&mut self, event: &Event) -> Result<(), WriteError> {
        match event {
            Event::Opening(opening) => self.ownership.opened(opening),
            Event::Session(_) => self.learn_session(std::slice::from_ref(event)),
            Event::Executor => self.ownership.executed(),
            Event::Call(call) => self.enter(call),
            Event::Invalid(call) => self.enter_invalid(call),
            Event::Unanswerable(reason) => {
                self.messages.note(&format!(
                    "a call without an id cannot be answered: {reason}"
                ));
            }
            Event::TurnEnd(_) => {
                self.turns.end();
                self.print_plan()?;
            }
            Event::Interrupt { request_id } => self.emitter.interrupt_received(request_id)?,
            Event::Message(_) | Event::Result(_) | Event::Prompt | Event::SessionResult => {}
        }
        Ok(())
    }

    /// A result stands in the input; noted ahead of the lines before it.
    pub(super) fn note_result(&mut self, id: &ToolUseId) {
        if self.ledger.is_taken(id) {
            self.messages.note(&format!(
                "the input holds a result for {id}, which was run here"
            ));
        }
        self.ledger.answered(id);
    }

    /// Whether one of these events is a call that this run will answer.
    pub(super) fn will_run_any(&self, events: &[Event]) -> bool {
        let mut ownership = self.ownership;
        events.iter().any(|event| match event {
            Event::Opening(opening) => {
                ownership.opened(opening);
                false
            }
            Event::Executor => {
                ownership.executed();
                false
            }
            Event::Call(call) => ownership.runs_calls() && self.ledger.is_new(&call.id),
            Event::Invalid(call) => ownership.runs_calls() && self.ledger.is_new(&call.id),
            _ => false,
        })
    }

    /// Takes the session's name from the stream, unless it has one.
    pub(super) fn learn_session(&mut self, events: &[Event]) {
        for event in events {
            let Event::Session(id) = event else { continue };
            if self.options.session_id.is_some() || matches!(self.naming, Naming::Named(_)) {
                continue;
            }
            self.naming = Naming::Named(id.clone());
            self.emitter.set_session(id.clone());
            self.resume_session();
        }
    }

    pub(super) fn resume_session(&mut self) {
        if self.options.mode == Mode::Plan {
            return;
        }
        if let Err(error) = self.session.resume(&self.naming) {
            self.messages
                .note(&format!("cannot take up the state of the session: {error}"));
        }
    }

    /// Sends the results whose turn in call order has come. Says whether there were any.
    pub(super) fn yield_ready(&mut self) -> Result<bool, WriteError> {
        let mut any = false;
        while let Some(index) = self.schedule.yield_next() {
            let Some(call) = self.calls.remove(&index) else {
                continue;
            };
            any = true;
            match self.options.emit {
                Emit::Result => self.send(call)?,
                Emit::Turn => self.waiting_results.push_back(call),
            }
        }
        any |= self.release_turn()?;
        while let Some(turn) = self.turns.finished() {
            self.emitter.turn_end(turn.ids)?;
            if self.session.has_changes()
                && let Err(error) = self.session.save(&self.naming)
            {
                self.messages
                    .note(&format!("cannot keep the state of the session: {error}"));
            }
        }
        Ok(any)
    }

    /// Sends the results of a turn that is complete, within its budget.
    fn release_turn(&mut self) -> Result<bool, WriteError> {
        let mut any = false;
        while let Some(turn) = self.waiting_results.front().map(|call| call.turn) {
            let incomplete = self.calls.values().any(|call| call.turn == turn);
            if incomplete || !self.turns.has_ended(turn) {
                break;
            }
            let count = self
                .waiting_results
                .iter()
                .take_while(|call| call.turn == turn)
                .count();
            let mut results: Vec<Call> = self.waiting_results.drain(..count).collect();
            self.apply_budget(&mut results)?;
            for call in results {
                self.send(call)?;
            }
            any = true;
        }
        Ok(any)
    }

    fn apply_budget(&mut self, results: &mut [Call]) -> Result<(), WriteError> {
        let candidates: Vec<Candidate> = results.iter().map(candidate).collect();
        let mut made = Vec::new();
        for (call, decision) in
            results
                .iter_mut()
                .zip(decide(&candidates, &self.session.replacements, TURN_BUDGET))
        {
            let CallStage::Done(completed) = &mut call.stage else {
                continue;
            };
            let replacement = match decision.action {
                Action::Keep => None,
                Action::Reapply(text) => Some(text),
                Action::Replace => {
                    let text = self.persist(&call.id, completed);
                    made.extend(text.clone().map(|text| (call.id.clone(), text)));
                    text
                }
            };
            self.session
                .replacements
                .insert(call.id.0.clone(), replacement.clone());
            if let Some(text) = replacement {
                completed.content = Content::Text(text);
            }
        }
        if made.is_empty() {
            Ok(())
        } else {
            self.emitter.content_replacement(made)
        }
    }

    /// Writes a result to a file; returns what is sent instead, or nothing if that failed.
    fn persist(&mut self, id: &ToolUseId, completed: &mut Completed) -> Option<String> {
        let Content::Text(text) = &completed.content else {
            return None;
        };
        let session = match self.session.directory(&self.naming) {
            Ok(session) => session?,
            Err(error) => {
                self.messages
                    .note(&format!("cannot save the result of {id}: {error}"));
                return None;
            }
        };
        let written =
            ToolResultStore::new(session).persist(id, |sink| sink.write_all(text.as_bytes()));
        match written {
            Ok(persisted) => {
                let text = stand_in(&persisted, text);
                completed.persisted = Some(persisted);
                Some(text)
            }
            Err(error) => {
                self.messages
                    .note(&format!("cannot save the result of {id}: {error}"));
                None
            }
        }
    }

    fn send(&mut self, mut call: Call) -> Result<(), WriteError> {
        let CallStage::Done(completed) = &mut call.stage else {
            return Ok(());
        };
        if self.options.dedup == Dedup::On
            && !completed.is_error()
            && let Content::Text(text) = &completed.content
            && let Some(reference) = self.session.seen.reference(&call.name, &call.id, text)
        {
            completed.content = Content::Text(reference);
        }
        self.turns.answered(call.turn);
        self.weight = self.weight.saturating_sub(call.weight);
        self.a_result_is_out(completed.is_error());
        self.emitter.result(call, self.options.permission_mode)?;
        self.observe();
        Ok(())
    }

    pub(super) fn progress(
        &mut self,
        index: super::CallIndex,
        text: &str,
    ) -> Result<(), WriteError> {
        let now = self.clock.elapsed();
        let Some(call) = self.calls.get(&index) else {
            return Ok(());
        };
        if !matches!(call.stage, CallStage::Running { .. }) {
            return Ok(());
        }
        let elapsed = now.saturating_sub(call.started.unwrap_or(now));
        self.emitter
            .progress(call, elapsed, super::emitter::ProgressKind::Note(text))
    }

    pub(super) fn heartbeat(&mut self) -> Result<(), WriteError> {
        let now = self.clock.elapsed();
        for call in self.calls.values() {
            if matches!(call.stage, CallStage::Running { .. }) {
                let elapsed = now.saturating_sub(call.started.unwrap_or(now));
                self.emitter
                    .progress(call, elapsed, super::emitter::ProgressKind::Heartbeat)?;
            }
        }
        Ok(())
    }

    pub(super) fn observe(&mut self) {
        let running = self.schedule.executing_count();
        let open = self.schedule.len();
        let oldest = self.schedule.executing().next();
        let label = oldest
            .and_then(|index| self.calls.get(&index))
            .map(|call| call.label.as_str());
        self.observer.changed(&Progress {
            started: self.calls_run,
            running,
            open,
            oldest: label,
        });
    }

    fn print_plan(&mut self) -> Result<(), WriteError> {
        for batch in self.plan.take_turn() {
            self.emitter.plan(batch)?;
        }
        Ok(())
    }
}

fn candidate(call: &Call) -> Candidate {
    let (units, replaceable) = match &call.stage {
        CallStage::Done(completed) => match &completed.content {
            Content::Text(text) => {
                let replaceable = completed.persisted.is_none() && completed.replaceable;
                (utf16_length(text), replaceable)
            }
            Content::Image { .. } => (0, false),
        },
        CallStage::Waiting(_) | CallStage::Starting | CallStage::Running { .. } => (0, false),
    };
    Candidate {
        id: call.id.clone(),
        units,
        replaceable,
    }
}
