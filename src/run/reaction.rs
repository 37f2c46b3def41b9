//! The effect of the input on a run: its copy, the calls that it contains, and facts about the session.

use super::call::CallState;
use super::intake::InputItem;
use super::runner::Runner;
use super::session::RunMode;
use crate::assemble::Event;
use crate::jsonl::{WriteError, WriteResult};
use crate::message::{SessionId, ToolUseId};
use crate::records::ExecutorRecord;

/// Length of the start of the input that is kept, in bytes.
const MAX_HEAD: usize = 64 * 1024;

impl Runner<'_> {
    /// Returns the next part of the input. A `result` record waits for the results before it, and so does the
    /// next message in a list of messages for an API; everything waits while too many calls are open.
    pub(super) fn next_item(&mut self) -> Result<Option<InputItem>, WriteError> {
        let Some(item) = self.backlog.front() else {
            return Ok(None);
        };
        let is_for_api = self.options.results_api.is_some();
        let ends_turn = |event: &Event| match event {
            Event::SessionResult => true,
            Event::Message(_) => is_for_api,
            _ => false,
        };
        let must_wait = if item.events.iter().any(ends_turn) {
            // A `result` record ends the turn whose results it waits for.
            self.end_turn()?;
            self.has_open_calls()
        } else {
            self.calls.is_full()
        };
        Ok(if must_wait { None } else { self.backlog.pop() })
    }

    fn end_turn(&mut self) -> WriteResult {
        self.output.emitter.end_reply()?;
        self.calls.end_turn(&self.session);
        Ok(())
    }

    pub(super) fn has_open_calls(&self) -> bool {
        !self.calls.is_empty() || self.output.is_waiting()
    }

    pub(super) fn pass_on(&mut self, item: &InputItem) -> WriteResult {
        self.understanding.update(item.piece.raw(), &item.events);
        if self.head.len() < MAX_HEAD {
            self.head.extend_from_slice(item.piece.raw());
        }
        for damage in &item.damage {
            self.damaged_lines += 1;
            self.messages.warn(&damage.to_string());
        }
        let is_first_claim = self.options.mode == RunMode::Execute && !self.is_claimed;
        if is_first_claim && self.stream.will_take_any(&item.events) {
            for event in &item.events {
                self.update_session(event);
            }
            if let Some(id) = &self.options.fallback_session_id {
                self.name_session(id);
            }
            self.is_claimed = true;
            self.resume_session();
            let record = ExecutorRecord::new(self.stream.call_id_prefix().to_owned());
            self.output.emitter.write(record)?;
        }
        self.output.emitter.echo(&item.piece, item.boundary)?;
        for event in &item.events {
            self.handle_event(event)?;
        }
        Ok(())
    }

    fn handle_event(&mut self, event: &Event) -> WriteResult {
        self.stream.observe(event);
        match event {
            Event::Session(_) | Event::SessionFile(_) => self.update_session(event),
            Event::Call(call) => {
                self.output.emitter.record_call(&call.id);
                if self.is_wanted(&call.id) {
                    let weight = call.input.as_ref().map_or(0, |input| input.get().len());
                    let state = self.lifecycle.prepare(call, &self.session.context);
                    self.admit(&call.id, &call.name, weight, state);
                }
            }
            Event::TurnEnd(_) => {
                self.end_turn()?;
                for batch in self.plan.take_turn() {
                    self.output.emitter.write(batch)?;
                }
            }
            Event::Interrupt { request_id } => {
                self.output.emitter.acknowledge_interrupt(request_id)?;
            }
            Event::Opening(_)
            | Event::Executor { .. }
            | Event::Message(_)
            | Event::Result(_)
            | Event::Prompt
            | Event::SessionResult
            | Event::ControlResponse(_) => {}
        }
        Ok(())
    }

    /// Whether to run or plan the next call of the input.
    fn is_wanted(&mut self, id: &ToolUseId) -> bool {
        match self.options.mode {
            RunMode::Plan => self.stream.skip_call(id),
            RunMode::Execute => self.stream.enter_call(id),
        }
    }

    /// Plans or admits a call whose input has `weight` bytes.
    fn admit(&mut self, id: &ToolUseId, name: &str, weight: usize, state: CallState) {
        if self.options.mode == RunMode::Plan {
            let context = &self.session.context;
            let decision = self.lifecycle.planned_decision(&state, context);
            self.plan.add(id, name, &state, decision);
            return;
        }
        self.calls
            .add_call(id.clone(), name.to_owned(), weight, state, &self.session);
        if let Some(reason) = self.interruption.refusal() {
            self.calls.refuse_waiting(&reason, &mut self.session);
        }
    }

    /// Reads facts about the session from the stream. State is restored before the first call.
    fn update_session(&mut self, event: &Event) {
        match event {
            Event::Session(id) => self.name_session(id),
            Event::SessionFile(digest)
                if !self.is_claimed && self.options.fallback_session_id.is_none() =>
            {
                self.session.key.scope = self.options.session_scope.with_digest(digest);
            }
            _ => {}
        }
    }

    /// Sets the id of the session, unless it has one.
    fn name_session(&mut self, id: &SessionId) {
        if !self.session.has_name() {
            self.session.set_id(id.clone());
            self.output.emitter.session = id.clone();
            if self.is_claimed {
                self.resume_session();
            }
        }
    }

    fn resume_session(&mut self) {
        if self.options.mode == RunMode::Execute
            && let Err(error) = self.session.resume()
        {
            self.messages
                .error(&format!("cannot restore session state: {error}"));
        }
    }
}
