//! The calls of a run, from arrival until their results are written: how they start, run and end,
//! and how failures cancel siblings.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use serde_json::Value;

use super::call::{CallState, CallTimes, FinishedCall, RunCall};
use super::call_hooks::turn_hook_input;
use super::call_result::{CallResult, HookFeedback};
use super::lifecycle::Lifecycle;
use super::schedule::Schedule;
use super::session::{OnError, Options, Progress, RunSession, RunningCall};
use super::trace::Trace;
use super::turn_tracker::{CallIndex, TurnHooks, TurnNumber, TurnTracker};
use super::workers::{RunnerEvent, Work, Workers};
use crate::io::{CancelToken, Clock, Messages};
use crate::message::ToolUseId;
use crate::records::{Lane, Outcome};
use crate::run::hooks::HookEvent;
use crate::run::tools::ContextChange;

/// Number of calls without a written result at which reading the input pauses.
const MAX_CALLS: usize = 1024;
/// Memory use of calls and results, in bytes, at which reading the input and starting calls pause.
const MAX_WEIGHT: usize = 16 * 1024 * 1024;

/// The numbers of calls that started, that are executing, and that are open.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CallCounts {
    started: u64,
    pub(super) executing: usize,
    open: usize,
}

/// The calls of this run whose results are not written yet.
pub(super) struct OpenCalls {
    lifecycle: Arc<Lifecycle>,
    workers: Workers,
    pub(super) on_error: OnError,
    clock: Arc<dyn Clock>,
    messages: Messages,
    trace: Option<Trace>,
    pub(super) schedule: Schedule,
    pub(super) turns: TurnTracker,
    pub(super) by_index: BTreeMap<CallIndex, RunCall>,
    /// Context changes of the running parallel calls, which are applied when all have ended.
    pending_changes: BTreeMap<CallIndex, Vec<ContextChange>>,
    /// Approximate memory use of the calls and their results, in bytes.
    weight: usize,
    /// The hooks after each turn; `None` if there are none.
    turn_hooks: Option<TurnHooks>,
    started: u64,
    /// Whether the first denied call was reported to the user.
    has_mentioned_denial: bool,
}

impl OpenCalls {
    pub(super) fn new(
        options: &Options,
        lifecycle: Arc<Lifecycle>,
        clock: Arc<dyn Clock>,
        messages: Messages,
        trace: Option<Trace>,
        events: Sender<RunnerEvent>,
    ) -> Self {
        let has_turn_hooks = lifecycle.hooks.has(HookEvent::PostToolBatch);
        Self {
            workers: Workers::new(
                Arc::clone(&lifecycle),
                options.max_concurrent_calls.get(),
                events,
            ),
            lifecycle,
            on_error: options.on_error,
            clock,
            messages,
            trace,
            schedule: Schedule::new(options.policy, options.max_concurrent_calls),
            turns: TurnTracker::default(),
            by_index: BTreeMap::new(),
            pending_changes: BTreeMap::new(),
            weight: 0,
            turn_hooks: has_turn_hooks.then(TurnHooks::default),
            started: 0,
            has_mentioned_denial: !options.warns_on_denial,
        }
    }

    /// Adds a call whose input has `weight` bytes.
    pub(super) fn add_call(
        &mut self,
        id: ToolUseId,
        name: String,
        weight: usize,
        state: CallState,
        session: &RunSession,
    ) {
        let (profile, access) = state.profile(&name);
        let call = RunCall {
            turn: self.turns.add_call(id.clone()),
            id,
            name,
            profile,
            state,
            weight,
            cancel: CancelToken::default(),
            cancel_reason: None,
            times: CallTimes {
                arrival: self.clock.elapsed(),
                check_start: None,
                start: None,
            },
            note: None,
        };
        self.weight += weight;
        let index = self.schedule.enqueue(access);
        if let CallState::Resolving(unresolved) = &call.state {
            // Servers start at once, even before earlier calls have ended.
            self.schedule.hold(index);
            let work = Work::Resolve(Arc::clone(unresolved));
            self.workers.start(index, &call, work, session);
        }
        self.by_index.insert(index, call);
    }

    /// Ends the current turn: all its calls are known.
    pub(super) fn end_turn(&mut self, session: &RunSession) {
        self.turns.end();
        self.start_turn_hooks(session);
    }

    /// Starts every call that may start.
    pub(super) fn start_ready(&mut self, session: &mut RunSession) {
        // While too many results wait to be written, no more are produced; but one call must run, or no
        // result would ever be written.
        while !(self.is_heavy() && self.schedule.executing_count() > 0)
            && let Some(index) = self.schedule.start_next()
        {
            if let Some(reason) = self.sibling_failure(index) {
                self.complete(index, CallResult::never_started(&reason), session);
                continue;
            }
            let Some(call) = self.by_index.get_mut(&index) else {
                self.schedule.complete(index);
                continue;
            };
            let CallState::Queued(ready) = &call.state else {
                // It was refused on arrival.
                self.apply_result(index, &Value::Null, session);
                continue;
            };
            let ready = Arc::clone(ready);
            let now = self.clock.elapsed();
            let work = if self.lifecycle.needs_check(&ready) {
                call.times.check_start = Some(now);
                call.state = CallState::Checking(Arc::clone(&ready));
                self.schedule.check(index);
                Work::Check(ready)
            } else {
                call.times.start = Some(now);
                call.state = CallState::Running(Arc::clone(&ready));
                self.started += 1;
                Work::Run(ready)
            };
            self.workers.start(index, call, work, session);
        }
    }

    /// Handles a call that was resolved or checked: it is queued again or refused.
    pub(super) fn accept_prepared(
        &mut self,
        index: CallIndex,
        state: CallState,
        session: &mut RunSession,
    ) {
        let call = self.by_index.get_mut(&index);
        let Some(call) = call.filter(|call| call.is_being_checked()) else {
            // It was cancelled meanwhile, and has its result.
            return;
        };
        if let CallState::Done(refused) = state {
            self.complete(index, *refused, session);
            return;
        }
        let (profile, access) = state.profile(&call.name);
        call.profile = profile;
        call.state = state;
        self.schedule.release(index, access);
    }

    /// Handles the end of a call's tool; hooks follow.
    pub(super) fn finish_tool(&mut self, index: CallIndex) {
        self.schedule.free_slot(index);
    }

    /// Handles the end of a call on a worker thread.
    pub(super) fn finish(
        &mut self,
        index: CallIndex,
        result: CallResult,
        session: &mut RunSession,
    ) {
        let Some(call) = self.by_index.get(&index).filter(|call| call.is_running()) else {
            // It was cancelled meanwhile, and has its result.
            return;
        };
        let result = match &call.cancel_reason {
            Some(reason) if result.outcome == Outcome::Interrupted => {
                CallResult::cancellation(reason, Some(result))
            }
            _ => result,
        };
        self.complete(index, result, session);
    }

    /// Sets the result of a call.
    pub(super) fn complete(
        &mut self,
        index: CallIndex,
        result: CallResult,
        session: &mut RunSession,
    ) {
        let Some(call) = self.by_index.get_mut(&index) else {
            return;
        };
        if call.is_being_checked() {
            // The response no longer matters.
            call.cancel.cancel();
        }
        let input = match call.state.ready() {
            Some(ready) if self.turn_hooks.is_some() => Value::Object(ready.input.clone()),
            Some(_) | None => Value::Null,
        };
        call.state = CallState::Done(Box::new(result));
        self.apply_result(index, &input, session);
    }

    /// Applies the effects of a result: messages, changes of the context, and cancelled siblings.
    /// `input` is the input of the call for the hooks after its turn.
    fn apply_result(&mut self, index: CallIndex, input: &Value, session: &mut RunSession) {
        let Some(call) = self.by_index.get_mut(&index) else {
            return;
        };
        let CallState::Done(result) = &mut call.state else {
            return;
        };
        let changes = std::mem::take(&mut result.changes);
        if let Some(note) = &result.note {
            self.messages.warn(note);
        }
        if result.persisted.is_some() {
            // From here on the session is marked as in use, so no other process removes the file.
            let _ = session.directory();
        }
        if let Some(reason) = &result.denial
            && !std::mem::replace(&mut self.has_mentioned_denial, true)
        {
            let label = &call.profile.label;
            self.messages.warn(&format!("{label} was denied: {reason}"));
        }
        let weight = result.weight();
        self.weight += weight;
        call.weight += weight;
        let cancels_siblings = self.on_error.cancels_siblings(result);
        if cancels_siblings {
            let failure = result.failure_text(&call.profile.label);
            self.turns.set_failure(call.turn, failure);
        }
        if let Some(hooks) = &mut self.turn_hooks {
            let input = turn_hook_input(&call.id, &call.name, input, &result.content);
            hooks.add(call.turn, index, input);
        }
        let now = self.clock.elapsed();
        if let Some(trace) = &mut self.trace {
            trace.record_call(index, &call.id, &call.profile, call.times, result, now);
        }
        self.turns.record_completed(call.turn);
        // The token holds descriptors, and a result may wait long until it is written.
        call.cancel = CancelToken::default();
        let lane = call.profile.lane;
        self.schedule.complete(index);
        self.pending_changes.insert(index, changes);
        if lane == Lane::Serial || self.schedule.executing_count() == 0 {
            self.apply_changes(session);
        }
        if cancels_siblings {
            self.cancel_siblings(session);
        }
        self.start_turn_hooks(session);
    }

    /// Starts the hooks after each turn whose calls all have their results.
    fn start_turn_hooks(&mut self, session: &RunSession) {
        let Some(hooks) = &mut self.turn_hooks else {
            return;
        };
        for (turn, calls) in hooks.take_due_hooks(&self.turns) {
            self.workers.run_turn_hooks(turn, calls, session);
        }
    }

    /// Handles the end of the hooks after a turn.
    pub(super) fn finish_turn_hooks(&mut self, turn: TurnNumber, feedback: HookFeedback) {
        if let Some(hooks) = &mut self.turn_hooks {
            hooks.finish_hooks(turn, feedback);
        }
    }

    /// Stops waiting for the hooks after a turn.
    pub(super) fn skip_turn_hooks(&mut self) {
        self.turn_hooks = None;
    }

    /// Whether a result waits for the hooks after its turn: the last one does, since it carries their
    /// feedback.
    fn awaits_turn_hooks(&self, index: CallIndex) -> bool {
        let (Some(hooks), Some(call)) = (&self.turn_hooks, self.by_index.get(&index)) else {
            return false;
        };
        hooks.are_pending(call.turn) && self.turns.is_last(call.turn, &call.id)
    }

    /// Applies the context changes of ended calls, in call order.
    fn apply_changes(&mut self, session: &mut RunSession) {
        let changes: Vec<_> = std::mem::take(&mut self.pending_changes)
            .into_values()
            .flatten()
            .collect();
        if session.apply(changes) {
            let (calls, lifecycle) = (&self.by_index, &self.lifecycle);
            self.schedule.reassess(|index| {
                let CallState::Queued(ready) = &calls.get(&index)?.state else {
                    return None;
                };
                Some(lifecycle.reassess(ready, &session.context).access)
            });
        }
    }

    /// Removes the next call in call order, if it has its result.
    pub(super) fn take_finished(&mut self) -> Option<FinishedCall> {
        let next = self.schedule.next_completed()?;
        if self.awaits_turn_hooks(next) {
            return None;
        }
        let index = self.schedule.yield_next()?;
        let call = self.by_index.remove(&index)?;
        let batch = self.turns.batch(call.turn, call.profile.lane);
        let mut call = call.into_finished(batch)?;
        if self.turns.is_last(call.turn, &call.id)
            && let Some(hooks) = &mut self.turn_hooks
            && let Some(feedback) = hooks.take(call.turn)
        {
            call.result.add_feedback(feedback);
            if let Some(note) = call.result.note.take() {
                self.messages.warn(&note);
            }
        }
        Some(call)
    }

    /// Notes that the result of a call of this turn and weight was written.
    pub(super) fn record_written(&mut self, turn: TurnNumber, weight: usize) {
        self.turns.record_written(turn);
        self.weight = self.weight.saturating_sub(weight);
    }

    /// Whether all calls of this turn are known and have their results.
    pub(super) fn is_complete(&self, turn: TurnNumber) -> bool {
        self.turns.has_ended(turn) && !self.by_index.values().any(|call| call.turn == turn)
    }

    /// Returns the running calls, each with the time since its start.
    pub(super) fn running_calls(&self) -> impl Iterator<Item = (&RunCall, Duration)> {
        let running = self.by_index.values().filter(|call| call.is_running());
        let now = self.clock.elapsed();
        running.map(move |call| (call, call.elapsed(now)))
    }

    /// Stores a call's progress message. Returns the call, with the time since its start, if it is running.
    pub(super) fn set_note(
        &mut self,
        index: CallIndex,
        note: &str,
    ) -> Option<(&RunCall, Duration)> {
        let now = self.clock.elapsed();
        let call = self.by_index.get_mut(&index)?;
        call.note = Some(note.to_owned());
        call.is_running().then(|| (&*call, call.elapsed(now)))
    }

    /// Returns the numbers of calls.
    pub(super) fn counts(&self) -> CallCounts {
        CallCounts {
            started: self.started,
            executing: self.schedule.executing_count(),
            open: self.schedule.len(),
        }
    }

    /// Returns the progress of the run.
    pub(super) fn progress(&self) -> Progress<'_> {
        let now = self.clock.elapsed();
        let calls = self.by_index.iter();
        let running = calls.filter(|(_, call)| call.is_running() || call.is_being_checked());
        Progress {
            started: self.started,
            open: self.schedule.len(),
            running: running
                .map(|(_, call)| RunningCall {
                    lane: call.profile.lane,
                    label: &call.profile.label,
                    note: call.note.as_deref(),
                    elapsed: call.elapsed(now),
                })
                .collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_index.is_empty()
    }

    /// Returns the number of calls started so far.
    pub(super) fn started_count(&self) -> u64 {
        self.started
    }

    /// Whether reading the input has to pause until calls end.
    pub(super) fn is_full(&self) -> bool {
        self.by_index.len() >= MAX_CALLS || (self.is_heavy() && !self.by_index.is_empty())
    }

    fn is_heavy(&self) -> bool {
        self.weight > MAX_WEIGHT
    }

    /// Completes the trace, if there is one.
    pub(super) fn finish_trace(&mut self) -> io::Result<()> {
        self.trace.take().map_or(Ok(()), Trace::finish)
    }
}
