//! How results leave a run: in call order, at once or by turns within a budget.

use std::collections::VecDeque;
use std::io::Write;

use super::call::{Call, CallStage};
use super::calls::Calls;
use super::completed::Completed;
use super::emitter::Emitter;
use super::session::Session;
use super::{Dedup, Emit, Options};
use crate::io::Messages;
use crate::jsonl::WriteError;
use crate::message::ToolUseId;
use crate::results::{
    Action, Candidate, LONGEST_STAND_IN, TURN_BUDGET, decide, decision_key, persist,
};
use crate::text::utf16_length;
use crate::tools::Content;

/// The output side of a run.
pub(super) struct Delivery<Sink: Write> {
    pub(super) emitter: Emitter<Sink>,
    emit: Emit,
    dedup: Dedup,
    messages: Messages,
    /// Results that wait for the end of their turn (`--emit turn`).
    waiting: VecDeque<Call>,
    failed_calls: u64,
}

impl<Sink: Write> Delivery<Sink> {
    pub(super) fn new(emitter: Emitter<Sink>, options: &Options, messages: Messages) -> Self {
        Self {
            emitter,
            emit: options.emit,
            dedup: options.dedup,
            messages,
            waiting: VecDeque::new(),
            failed_calls: 0,
        }
    }

    /// Whether results wait for the end of their turn.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// How many results that went out are errors.
    pub(super) fn failed_calls(&self) -> u64 {
        self.failed_calls
    }

    /// Sends the results whose turn in call order has come. Returns whether there were any.
    pub(super) fn deliver(
        &mut self,
        calls: &mut Calls,
        session: &mut Session,
    ) -> Result<bool, WriteError> {
        let mut any = false;
        while let Some(call) = calls.take_completed() {
            any = true;
            match self.emit {
                Emit::Result => self.send(call, calls, session)?,
                Emit::Turn => self.waiting.push_back(call),
            }
        }
        while let Some(turn) = self.waiting.front().map(|call| call.turn)
            && calls.is_complete(turn)
        {
            any = true;
            let end = self.waiting.partition_point(|call| call.turn == turn);
            let mut results: Vec<Call> = self.waiting.drain(..end).collect();
            self.apply_budget(&mut results, session)?;
            for call in results {
                self.send(call, calls, session)?;
            }
        }
        while let Some(turn) = calls.finished_turn() {
            self.emitter.turn_end(turn)?;
            if session.has_changes()
                && let Err(error) = session.save()
            {
                self.messages
                    .note(&format!("cannot keep the state of the session: {error}"));
            }
        }
        Ok(any)
    }

    fn apply_budget(
        &mut self,
        results: &mut [Call],
        session: &mut Session,
    ) -> Result<(), WriteError> {
        let candidates: Vec<Candidate> = results.iter().map(candidate).collect();
        let actions = decide(
            &candidates,
            &session.replacements,
            TURN_BUDGET,
            LONGEST_STAND_IN,
        );
        let mut made = Vec::new();
        for ((call, candidate), action) in results.iter_mut().zip(candidates).zip(actions) {
            let CallStage::Done(completed) = &mut call.stage else {
                continue;
            };
            let replacement = match action {
                Action::Keep => None,
                Action::Reapply(text) => Some(text),
                Action::Replace => {
                    let text = self.persist(&call.id, completed, session);
                    made.extend(text.clone().map(|text| (call.id.clone(), text)));
                    text
                }
            };
            session
                .replacements
                .insert(candidate.key, replacement.clone());
            if let Some(text) = replacement {
                completed.content = Content::Text(text);
            }
        }
        if made.is_empty() {
            return Ok(());
        }
        self.emitter.content_replacement(made)
    }

    /// Writes a result to a file; returns what is sent instead, or nothing if that failed.
    fn persist(
        &self,
        id: &ToolUseId,
        completed: &mut Completed,
        session: &mut Session,
    ) -> Option<String> {
        let Content::Text(text) = &completed.content else {
            return None;
        };
        let failed = |error: &dyn std::fmt::Display| {
            self.messages
                .note(&format!("cannot save the result of {id}: {error}"));
        };
        let directory = session.directory().map_err(|error| failed(&error)).ok()?;
        let persisted = persist(directory, id, |sink| sink.write_all(text.as_bytes()))
            .map_err(|error| failed(&error))
            .ok()?;
        let text = persisted.stand_in(text);
        completed.persisted = Some(persisted);
        Some(text)
    }

    fn send(
        &mut self,
        mut call: Call,
        calls: &mut Calls,
        session: &mut Session,
    ) -> Result<(), WriteError> {
        let CallStage::Done(completed) = &mut call.stage else {
            return Ok(());
        };
        if self.dedup == Dedup::On
            && !completed.is_error()
            && let Content::Text(text) = &completed.content
            && let Some(reference) = session.seen.reference(&call.name, &call.id, text)
        {
            completed.content = Content::Text(reference);
        }
        self.failed_calls += u64::from(completed.is_error());
        calls.answered(call.turn, call.weight);
        self.emitter.result(call)
    }
}

fn candidate(call: &Call) -> Candidate {
    let (text, replaceable) = match &call.stage {
        CallStage::Done(completed) => match &completed.content {
            Content::Text(text) => {
                let replaceable = completed.persisted.is_none() && completed.replaceable;
                (text.as_str(), replaceable)
            }
            Content::Blocks(_) => ("", false),
        },
        CallStage::Waiting(_)
        | CallStage::Resolving
        | CallStage::Checking(_)
        | CallStage::Running(_) => ("", false),
    };
    Candidate {
        key: decision_key(&call.id, text),
        units: utf16_length(text),
        replaceable,
    }
}
