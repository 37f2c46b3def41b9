//! Writes results in call order, either one by one or in turns within a budget.

use std::collections::VecDeque;

use super::call::FinishedCall;
use super::emitter::Emitter;
use super::open_calls::OpenCalls;
use super::session::{Dedup, Emit, Options, RunSession};
use crate::io::Messages;
use crate::jsonl::{WriteError, WriteResult};
use crate::message::ToolUseId;
use crate::records::Replacement;
use crate::run::results::{
    BudgetAction, BudgetCandidate, MAX_REPLACEMENT, TURN_BUDGET, decide, decision_key, persist,
};
use crate::run::tools::Content;
use crate::text::utf16_length;

/// The output side of a run.
pub(super) struct ResultWriter {
    pub(super) emitter: Emitter,
    emit: Emit,
    dedup: Dedup,
    messages: Messages,
    /// Results that wait for the end of their turn (`--emit turn`).
    waiting: VecDeque<FinishedCall>,
    pub(super) failed_calls: u64,
}

impl ResultWriter {
    pub(super) fn new(emitter: Emitter, options: &Options, messages: Messages) -> Self {
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

    /// Writes the results that are next in call order. Returns whether there were any.
    pub(super) fn deliver(
        &mut self,
        calls: &mut OpenCalls,
        session: &mut RunSession,
    ) -> Result<bool, WriteError> {
        let mut has_written = false;
        while let Some(call) = calls.take_finished() {
            has_written = true;
            match self.emit {
                Emit::Result => self.write(call, calls, session)?,
                Emit::Turn => self.waiting.push_back(call),
            }
        }
        while let Some(turn) = self.waiting.front().map(|call| call.turn)
            && calls.is_complete(turn)
        {
            has_written = true;
            let end = self.waiting.partition_point(|call| call.turn == turn);
            let mut results: Vec<FinishedCall> = self.waiting.drain(..end).collect();
            self.apply_budget(&mut results, session)?;
            for call in results {
                self.write(call, calls, session)?;
            }
        }
        while let Some(turn) = calls.turns.pop_finished() {
            self.emitter.end_turn(turn)?;
            if session.has_unsaved_changes()
                && let Err(error) = session.save()
            {
                self.messages
                    .error(&format!("cannot save session state: {error}"));
            }
        }
        Ok(has_written)
    }

    fn apply_budget(
        &mut self,
        results: &mut [FinishedCall],
        session: &mut RunSession,
    ) -> WriteResult {
        let candidates: Vec<BudgetCandidate> = results.iter().map(candidate).collect();
        let actions = decide(
            &candidates,
            &session.replacements,
            TURN_BUDGET,
            MAX_REPLACEMENT,
        );
        let mut replaced = Vec::new();
        for ((call, candidate), action) in results.iter_mut().zip(candidates).zip(actions) {
            let replacement = match action {
                BudgetAction::Keep => None,
                BudgetAction::Reapply(text) => Some(text),
                BudgetAction::Replace => {
                    let text = self.persist(call, session);
                    replaced.extend(text.clone().map(|replacement| Replacement {
                        tool_use_id: call.id.clone(),
                        replacement,
                    }));
                    text
                }
            };
            session
                .replacements
                .insert(candidate.key, replacement.clone());
            if let Some(text) = replacement {
                call.result.content = Content::Text(text);
            }
        }
        if replaced.is_empty() {
            return Ok(());
        }
        self.emitter.write_replacements(replaced)
    }

    /// Saves a result to a file. Returns the text that replaces it, or `None` if that failed.
    fn persist(&self, call: &mut FinishedCall, session: &mut RunSession) -> Option<String> {
        let Content::Text(text) = &call.result.content else {
            return None;
        };
        let id: &ToolUseId = &call.id;
        let report_failure = |error: &dyn std::fmt::Display| {
            self.messages
                .warn(&format!("cannot save the result of {id}: {error}"));
        };
        let directory = session
            .directory()
            .map_err(|error| report_failure(&error))
            .ok()?;
        let persisted = persist(directory, id, |sink| sink.write_all(text.as_bytes()))
            .map_err(|error| report_failure(&error))
            .ok()?;
        let text = persisted.replacement(text);
        call.result.persisted = Some(persisted);
        Some(text)
    }

    fn write(
        &mut self,
        mut call: FinishedCall,
        calls: &mut OpenCalls,
        session: &mut RunSession,
    ) -> WriteResult {
        let result = &mut call.result;
        if self.dedup == Dedup::On
            && !result.is_error()
            && let Content::Text(text) = &result.content
            && let Some(reference) = session.seen.remember(&call.name, &call.id, text)
        {
            result.content = Content::Text(reference);
        }
        self.failed_calls += u64::from(result.is_error());
        calls.record_written(call.turn, call.weight);
        self.emitter.write_result(call)
    }
}

fn candidate(call: &FinishedCall) -> BudgetCandidate {
    let result = &call.result;
    let (text, is_replaceable) = match &result.content {
        Content::Text(text) => {
            let is_replaceable = result.persisted.is_none() && result.is_replaceable;
            (text.as_str(), is_replaceable)
        }
        Content::Blocks(_) => ("", false),
    };
    BudgetCandidate {
        key: decision_key(&call.id, text),
        units: utf16_length(text),
        is_replaceable,
    }
}
