//! Calls in a run: entering, starting, finishing, and what a failure does to siblings.

use std::io::Write;
use std::sync::Arc;

use super::call::{Call, CallStage, CancelReason};
use super::channels::Happening;
use super::lifecycle::{ResultPlace, refuse_cut_off};
use super::refusals::{ended_early, failure_text, never_started};
use super::runner::Runner;
use super::{CallIndex, Completed, Mode, OnError, Owner, Prepared, Standing, TurnNumber};
use crate::process::CancelToken;
use crate::text::terminal_safe_line;
use crate::tools::{Access, CallContext, ToolKind};
use crate::wire::{InvalidCall, Lane, Outcome, ToolCall, ToolUseId};

impl<Sink: Write> Runner<'_, Sink> {
    /// A complete call stands in the input.
    pub(super) fn enter(&mut self, call: &ToolCall) {
        let standing = self.ledger.enter(call);
        if self.options.mode == Mode::Plan {
            if matches!(standing, Standing::New | Standing::Answered) {
                let prepared = self.lifecycle.prepare(call, &self.session.context);
                self.plan.add(&call.id, &call.name, &prepared);
            }
            return;
        }
        if !self.may_enter(&call.id, standing) {
            return;
        }
        let prepared = self.lifecycle.prepare(call, &self.session.context);
        self.admit(
            call.id.clone(),
            call.name.clone(),
            call.input.get().len(),
            prepared,
        );
    }

    /// A call stands in the input that can never run.
    pub(super) fn enter_invalid(&mut self, call: &InvalidCall) {
        let standing = self.ledger.enter_invalid(&call.id, &call.name);
        let prepared = Prepared::Refused(Box::new(refuse_cut_off(call)));
        if self.options.mode == Mode::Plan {
            if matches!(standing, Standing::New | Standing::Answered) {
                self.plan.add(&call.id, &call.name, &prepared);
            }
        } else if self.may_enter(&call.id, standing) {
            self.admit(call.id.clone(), call.name.clone(), 0, prepared);
        }
    }

    fn may_enter(&mut self, id: &ToolUseId, standing: Standing) -> bool {
        if !self.ownership.runs_calls() {
            self.hint_history();
            return false;
        }
        match standing {
            Standing::New => true,
            Standing::Answered | Standing::Repeated => false,
            Standing::Contradicted => {
                self.messages.note(&format!(
                    "call {id} came twice with different input: the first one counts"
                ));
                false
            }
        }
    }

    fn hint_history(&mut self) {
        if std::mem::replace(&mut self.told.history, true) {
            return;
        }
        let whose = match self.ownership.owner() {
            Owner::Foreign(name) => name,
            Owner::Executed => "stream that an executor has worked on",
            Owner::Unclaimed | Owner::Ours => "recording",
        };
        self.messages
            .note(&format!("this is a {whose}: its calls are not run"));
        self.messages
            .hint("look at them with --plan, or run them with --execute");
    }

    fn admit(&mut self, id: ToolUseId, name: String, weight: usize, prepared: Prepared) {
        self.weight += weight;
        let (access, label) = match &prepared {
            Prepared::Ready(ready) => (
                ready.assessment.access.clone(),
                label(ready.tool.name(), &ready.input),
            ),
            Prepared::Refused(_) => (Access::world(), name.clone()),
        };
        let verdict = prepared.verdict();
        self.ledger.taken(&id);
        let read_only = access.is_read_only();
        let (turn, batch) = self.turns.call(id.clone(), read_only);
        let index = self.schedule.enqueue(access);
        let call = Call {
            id,
            name,
            turn,
            batch,
            lane: if read_only {
                Lane::Parallel
            } else {
                Lane::Serial
            },
            stage: CallStage::Waiting(prepared),
            verdict,
            label,
            weight,
            cancel: CancelToken::default(),
            cancel_reason: None,
            arrived: self.clock.elapsed(),
            started: None,
        };
        self.calls.insert(index, call);
        if !self.interruption.lets_calls_start() {
            let reason = if self.interruption.is_for_time() {
                CancelReason::TimeUp
            } else {
                CancelReason::Interrupt
            };
            self.complete(index, never_started(&reason));
        }
    }

    /// Starts whatever may start.
    pub(super) fn start_ready(&mut self) {
        // Results that wait for their turn are bounded by starting nothing that makes more of
        // them, as long as something runs whose end can let them go.
        while !(self.is_heavy() && self.schedule.executing_count() > 0)
            && let Some(index) = self.schedule.start_next()
        {
            if let Some(reason) = self.doom(index) {
                self.complete(index, never_started(&reason));
                continue;
            }
            let started = self.clock.elapsed();
            let Some(call) = self.calls.get_mut(&index) else {
                self.schedule.complete(index);
                continue;
            };
            call.started = Some(started);
            let stage = std::mem::replace(&mut call.stage, CallStage::Starting);
            match stage {
                CallStage::Waiting(Prepared::Refused(completed)) => {
                    self.complete(index, *completed);
                }
                CallStage::Waiting(Prepared::Ready(ready)) => {
                    call.stage = CallStage::Running {
                        interrupt: ready.tool.interrupt(),
                        kind: ready.tool.kind(),
                    };
                    let (id, lane, cancel) = (call.id.clone(), call.lane, call.cancel.clone());
                    self.a_call_started();
                    self.hand_over(index, *ready, id, lane, cancel);
                }
                other @ (CallStage::Starting | CallStage::Running { .. } | CallStage::Done(_)) => {
                    call.stage = other;
                }
            }
        }
    }

    fn hand_over(
        &mut self,
        index: CallIndex,
        ready: super::Ready,
        id: ToolUseId,
        lane: Lane,
        cancel: CancelToken,
    ) {
        let lifecycle = Arc::clone(&self.lifecycle);
        let session = self.session.context_for(lane);
        let sender = self.sender.clone();
        let place = ResultPlace {
            root: self.options.state_root.clone(),
            session: self.naming.id().clone(),
        };
        let job = move |(): &()| {
            let progress = |text: &str| {
                let text = text.to_owned();
                let _ = sender.send(Happening::Progress { call: index, text });
            };
            let context = CallContext {
                id: &id,
                session: &session,
                cancel: &cancel,
                progress: &progress,
            };
            let completed = Box::new(lifecycle.execute(&ready, &context, &place));
            let _ = sender.send(Happening::Finished {
                call: index,
                completed,
            });
        };
        if let Err(no_thread) = self.workers.run(Box::new(job)) {
            // Better late than never.
            (no_thread.job)(&());
        }
    }

    /// A worker is done with a call.
    pub(super) fn finish(&mut self, index: CallIndex, completed: Completed) {
        let Some(call) = self.calls.get(&index) else {
            return;
        };
        if !matches!(call.stage, CallStage::Running { .. }) {
            // Its result went out, or was made up, before it ended.
            return;
        }
        let completed = match &call.cancel_reason {
            Some(reason) if completed.outcome == Outcome::Interrupted => {
                ended_early(reason, Some(completed))
            }
            _ => completed,
        };
        self.complete(index, completed);
    }

    /// Gives a call its result, applies what it changed and tells its siblings.
    pub(super) fn complete(&mut self, index: CallIndex, mut completed: Completed) {
        let changes = std::mem::take(&mut completed.changes);
        let Some(call) = self.calls.get_mut(&index) else {
            return;
        };
        let (turn, lane) = (call.turn, call.lane);
        if let Some(note) = &completed.note {
            self.messages.note(note);
        }
        let failure = self
            .options
            .on_error
            .dooms_siblings(&completed)
            .then(|| failure_text(&call.label, &completed));
        if completed.outcome == Outcome::Denied && !self.told.permission {
            self.told.permission = true;
            self.messages.note(&format!(
                "{} was denied: it may change something",
                call.label
            ));
            self.messages
                .hint("let such calls run with --permission-mode bypassPermissions");
        }
        if let Some(trace) = &mut self.trace {
            trace.ended(index, call, &completed, self.clock.elapsed());
        }
        let weight = completed.weight();
        self.weight += weight;
        call.weight += weight;
        // The token holds descriptors, and a result may wait long for its turn.
        call.cancel = CancelToken::default();
        call.stage = CallStage::Done(Box::new(completed));
        self.schedule.complete(index);
        self.pending_changes.insert(index, changes);
        if lane == Lane::Serial || self.schedule.executing_count() == 0 {
            self.apply_changes();
        }
        if let Some(failure) = failure {
            self.turns.failed(turn, failure);
            self.cancel_siblings(turn);
        }
        self.observe();
    }

    /// Changes of a concurrent batch wait for its end and are applied in call order.
    fn apply_changes(&mut self) {
        let changes: Vec<_> = std::mem::take(&mut self.pending_changes)
            .into_values()
            .flatten()
            .collect();
        if changes.is_empty() {
            return;
        }
        if self.session.apply(changes) {
            let (calls, session, lifecycle) = (&self.calls, &self.session, &self.lifecycle);
            self.schedule
                .reassess(|index| match &calls.get(&index)?.stage {
                    CallStage::Waiting(Prepared::Ready(ready)) => Some(
                        lifecycle
                            .assess(&*ready.tool, &*ready.call, &session.context)
                            .access,
                    ),
                    _ => None,
                });
        }
    }

    fn cancel_siblings(&mut self, turn: TurnNumber) {
        let queued: Vec<CallIndex> = self.schedule.queued().collect();
        for index in queued {
            if self.calls.get(&index).is_some_and(|call| call.turn == turn)
                && let Some(reason) = self.doom(index)
            {
                self.complete(index, never_started(&reason));
            }
        }
        let running: Vec<CallIndex> = self.schedule.executing().collect();
        for index in running {
            let Some(reason) = self.doom(index) else {
                continue;
            };
            if let Some(call) = self.calls.get_mut(&index).filter(|call| call.turn == turn) {
                call.cancel_reason.get_or_insert(reason);
                call.cancel.cancel();
            }
        }
    }

    /// Why a call must not run because of a failed sibling, if so.
    fn doom(&self, index: CallIndex) -> Option<CancelReason> {
        let call = self.calls.get(&index)?;
        let failure = self.turns.failure(call.turn)?;
        let concerned = match self.options.on_error {
            OnError::Continue => false,
            OnError::CancelAll => true,
            OnError::CancelShell => call.kind() == Some(ToolKind::Shell),
        };
        let refused = matches!(call.stage, CallStage::Waiting(Prepared::Refused(_)));
        (concerned && !refused).then(|| CancelReason::Sibling(failure.to_owned()))
    }
}

impl OnError {
    /// Whether a call that ended like this takes its siblings with it.
    fn dooms_siblings(self, completed: &Completed) -> bool {
        let failed = matches!(completed.outcome, Outcome::Error | Outcome::Timeout);
        match self {
            Self::Continue => false,
            Self::CancelShell => failed && completed.cancels_siblings,
            Self::CancelAll => failed,
        }
    }
}

/// A short description of a call: the tool and the argument that people know it by.
fn label(tool: &str, input: &crate::tools::Input) -> String {
    /// Enough to recognise a call, in characters.
    const SHOWN: usize = 60;
    let subject = ["description", "command", "file_path", "pattern", "path"]
        .iter()
        .find_map(|field| input.get(*field).and_then(serde_json::Value::as_str));
    match subject {
        Some(subject) => {
            let subject = terminal_safe_line(subject);
            let shown: String = subject.chars().take(SHOWN).collect();
            let ellipsis = if shown.len() < subject.len() {
                "…"
            } else {
                ""
            };
            format!("{tool}({shown}{ellipsis})")
        }
        None => tool.to_owned(),
    }
}
