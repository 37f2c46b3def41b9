//! The calls of a run from their arrival until their results are due: which may start, which run,
//! how they end, and what a failure does to siblings.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use serde_json::Value;

use super::call::{Call, CallStage};
use super::channels::RunnerEvent;
use super::completed::{CancelReason, Completed, ended_early, failure_text, never_started};
use super::hooking::{Heard, member};
use super::lifecycle::{Prepared, Ready, Unresolved};
use super::schedule::{CallIndex, Schedule};
use super::session::Session;
use super::turns::{TurnNumber, Turns};
use super::{Lifecycle, OnError, Options, Progress, Trace};
use crate::hooks::HookEvent;
use crate::io::{CancelToken, Clock, Messages};
use crate::message::ToolUseId;
use crate::process::ThreadPool;
use crate::records::{Lane, Outcome};
use crate::tools::{CallContext, Content, ContextChange, InterruptBehavior, ToolKind};

/// Calls that may wait for their result before the input has to wait for them.
const MOST_CALLS: usize = 1024;
/// Calls about which hooks or a person are asked at the same time.
const MOST_WAITING: usize = 32;
/// What calls and results may weigh together before the input and further calls have to wait, in
/// bytes.
const MOST_WEIGHT: usize = 16 * 1024 * 1024;

/// The calls that are ours and whose results are not on the output.
pub(super) struct Calls {
    lifecycle: Arc<Lifecycle>,
    on_error: OnError,
    clock: Arc<dyn Clock>,
    messages: Messages,
    trace: Option<Trace>,
    schedule: Schedule,
    turns: Turns,
    by_index: BTreeMap<CallIndex, Call>,
    /// Changes of the running concurrent batch, applied when it is over.
    pending_changes: BTreeMap<CallIndex, Vec<ContextChange>>,
    /// About how much memory the calls and their results take, in bytes.
    weight: usize,
    workers: ThreadPool,
    /// Threads that find out what calls are.
    resolvers: ThreadPool,
    /// Threads that ask whether calls may run.
    checkers: ThreadPool,
    events: Sender<RunnerEvent>,
    /// The turns that hooks will look at, if there are such hooks.
    batches: Option<BTreeMap<TurnNumber, Batch>>,
    started: u64,
    /// The user knows that calls need permission.
    mentions_denial: bool,
}

/// Which running calls get a result before they have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Force {
    /// Those that were asked to end.
    IfCancelled,
    /// All.
    AtOnce,
}

/// A turn that hooks will look at.
#[derive(Debug, Default)]
struct Batch {
    /// What they read of each call that has its result.
    members: BTreeMap<CallIndex, Value>,
    /// They have begun.
    begun: bool,
    /// What they said.
    heard: Option<Heard>,
}

/// What a thread does with a call.
enum Work {
    /// Finds out what it is.
    Resolve(Arc<Unresolved>),
    /// Asks whether it may run.
    Check(Arc<Ready>),
    /// Runs it.
    Run(Arc<Ready>),
}

impl Calls {
    pub(super) fn new(
        options: &Options,
        lifecycle: Arc<Lifecycle>,
        clock: Arc<dyn Clock>,
        messages: Messages,
        trace: Option<Trace>,
        events: Sender<RunnerEvent>,
    ) -> Self {
        let threads = options.cap.get()
            + if lifecycle.looks_afterwards() {
                MOST_WAITING
            } else {
                0
            };
        let batches = lifecycle
            .hears(HookEvent::PostToolBatch)
            .then(BTreeMap::new);
        Self {
            lifecycle,
            on_error: options.on_error,
            clock,
            messages,
            trace,
            schedule: Schedule::new(options.policy, options.cap),
            turns: Turns::default(),
            by_index: BTreeMap::new(),
            pending_changes: BTreeMap::new(),
            weight: 0,
            workers: ThreadPool::new("call", threads, || ()),
            resolvers: ThreadPool::new("resolve", MOST_WAITING, || ()),
            checkers: ThreadPool::new("check", MOST_WAITING, || ()),
            events,
            batches,
            started: 0,
            mentions_denial: options.mentions_denial,
        }
    }

    /// Takes in a call whose input has this many bytes.
    pub(super) fn admit(
        &mut self,
        id: ToolUseId,
        name: String,
        weight: usize,
        prepared: Prepared,
        session: &Session,
    ) {
        let (access, lane) = (prepared.access(), prepared.lane());
        let turn = self.turns.call(id.clone());
        let unresolved = match &prepared {
            Prepared::Unresolved(unresolved) => Some(Arc::clone(unresolved)),
            Prepared::Ready(_) | Prepared::Refused(_) => None,
        };
        let call = Call {
            label: prepared.label(&name),
            verdict: prepared.verdict(),
            id,
            name,
            turn,
            batch: None,
            lane,
            children: prepared.children(),
            stage: match &unresolved {
                Some(_) => CallStage::Resolving,
                None => CallStage::Waiting(prepared),
            },
            weight,
            cancel: CancelToken::default(),
            cancel_reason: None,
            arrived: self.clock.elapsed(),
            asked: None,
            started: None,
        };
        self.weight += weight;
        let index = self.schedule.enqueue(access);
        self.by_index.insert(index, call);
        if let Some(unresolved) = unresolved {
            // Whatever stands before it, servers start at the same time.
            self.schedule.hold(index);
            self.hand_over(index, Work::Resolve(unresolved), session);
        }
    }

    /// The calls of the present turn are all known.
    pub(super) fn end_turn(&mut self, session: &Session) {
        self.turns.end();
        self.start_batch_hooks(session);
    }

    /// Starts whatever may start.
    pub(super) fn start_ready(&mut self, session: &mut Session) {
        // Results that wait for their turn are bounded by starting nothing that makes more of
        // them, as long as something runs whose end can let them go.
        while !(self.is_heavy() && self.schedule.executing_count() > 0)
            && let Some(index) = self.schedule.start_next()
        {
            if let Some(reason) = self.sibling_failure(index) {
                self.complete(index, never_started(&reason), session);
                continue;
            }
            let Some(call) = self.by_index.get_mut(&index) else {
                self.schedule.complete(index);
                continue;
            };
            call.started = Some(self.clock.elapsed());
            match &call.stage {
                CallStage::Waiting(Prepared::Ready(ready)) if self.lifecycle.asks_about(ready) => {
                    let ready = Arc::clone(ready);
                    call.stage = CallStage::Checking(Arc::clone(&ready));
                    call.asked = call.started.take();
                    self.schedule.check(index);
                    self.hand_over(index, Work::Check(ready), session);
                }
                CallStage::Waiting(Prepared::Ready(ready)) => {
                    let ready = Arc::clone(ready);
                    call.stage = CallStage::Running(Arc::clone(&ready));
                    self.started += 1;
                    self.hand_over(index, Work::Run(ready), session);
                }
                CallStage::Waiting(Prepared::Refused(completed)) => {
                    let completed = completed.clone();
                    self.complete(index, *completed, session);
                }
                CallStage::Waiting(Prepared::Unresolved(_))
                | CallStage::Resolving
                | CallStage::Checking(_)
                | CallStage::Running(_)
                | CallStage::Done(_) => {}
            }
        }
    }

    /// Hands a call to a thread.
    fn hand_over(&self, index: CallIndex, work: Work, session: &Session) {
        let Some(call) = self.by_index.get(&index) else {
            return;
        };
        let (id, cancel) = (call.id.clone(), call.cancel.clone());
        let context = session.context_for(call.children);
        let lifecycle = Arc::clone(&self.lifecycle);
        let events = self.events.clone();
        let session = session.key().clone();
        let threads = match work {
            Work::Resolve(_) => &self.resolvers,
            Work::Check(_) => &self.checkers,
            Work::Run(_) => &self.workers,
        };
        let job = move |(): &()| {
            let context = CallContext {
                id: &id,
                session: &context,
                cancel: &cancel,
            };
            let event = match work {
                Work::Resolve(unresolved) => RunnerEvent::Prepared {
                    call: index,
                    prepared: Box::new(lifecycle.resolve(&unresolved, context.session)),
                },
                Work::Check(ready) => RunnerEvent::Prepared {
                    call: index,
                    prepared: Box::new(lifecycle.check(&ready, &context, &session.id)),
                },
                Work::Run(ready) => {
                    let worked = || {
                        let _ = events.send(RunnerEvent::Worked { call: index });
                    };
                    let completed = lifecycle.execute(&ready, &context, &session, worked);
                    RunnerEvent::Finished {
                        call: index,
                        completed: Box::new(completed),
                    }
                }
            };
            let _ = events.send(event);
        };
        if let Err(no_thread) = threads.run(Box::new(job)) {
            // Better late than never.
            (no_thread.job)(&());
        }
    }

    /// A thread knows what a call is, or whether it may run, and as what.
    pub(super) fn prepared(&mut self, index: CallIndex, prepared: Prepared, session: &mut Session) {
        let Some(call) = self
            .by_index
            .get_mut(&index)
            .filter(|call| call.is_asked_about())
        else {
            // Its result was made up meanwhile.
            return;
        };
        match prepared {
            Prepared::Refused(completed) => self.complete(index, *completed, session),
            Prepared::Unresolved(_) | Prepared::Ready(_) => {
                let access = prepared.access();
                call.label = prepared.label(&call.name);
                call.verdict = prepared.verdict();
                (call.lane, call.children) = (prepared.lane(), prepared.children());
                call.stage = CallStage::Waiting(prepared);
                self.schedule.release(index, access);
            }
        }
    }

    /// A worker has done a call's work, and goes on with what follows.
    pub(super) fn worked(&mut self, index: CallIndex) {
        self.schedule.finishing(index);
    }

    /// A worker is done with a call.
    pub(super) fn finish(&mut self, index: CallIndex, completed: Completed, session: &mut Session) {
        let Some(call) = self.by_index.get(&index).filter(|call| call.is_running()) else {
            // Its result was made up before it ended.
            return;
        };
        let completed = match &call.cancel_reason {
            Some(reason) if completed.outcome == Outcome::Interrupted => {
                ended_early(reason, Some(completed))
            }
            _ => completed,
        };
        self.complete(index, completed, session);
    }

    /// Gives a call its result, applies what it changed and cancels its siblings if it must.
    fn complete(&mut self, index: CallIndex, mut completed: Completed, session: &mut Session) {
        let changes = std::mem::take(&mut completed.changes);
        let Some(call) = self.by_index.get_mut(&index) else {
            return;
        };
        if let Some(note) = &completed.note {
            self.messages.note(note);
        }
        if completed.persisted.is_some() {
            // From here on the session is in use, and nobody removes the result.
            let _ = session.directory();
        }
        if completed.outcome == Outcome::Denied
            && std::mem::replace(&mut self.mentions_denial, false)
        {
            let why = match (&completed.denial, &completed.content) {
                (Some(why), _) | (None, Content::Text(why)) => why,
                (None, Content::Blocks(_)) => "",
            };
            self.messages
                .note(&format!("{} was denied: {why}", call.label));
        }
        if let Some(trace) = &mut self.trace {
            trace.ended(index, call, &completed, self.clock.elapsed());
        }
        let cancels_siblings = self.on_error.cancels_siblings(&completed);
        if cancels_siblings {
            self.turns
                .failed(call.turn, failure_text(&call.label, &completed));
        }
        let weight = completed.weight();
        self.weight += weight;
        call.weight += weight;
        if call.is_asked_about() {
            // Nobody waits for the answer any more.
            call.cancel.cancel();
        }
        if let Some(batches) = &mut self.batches {
            let members = member(call, &completed);
            let batch = batches.entry(call.turn).or_default();
            batch.members.insert(index, members);
        }
        self.turns.completed(call.turn);
        // The token holds descriptors, and a result may wait long for its turn.
        call.cancel = CancelToken::default();
        call.stage = CallStage::Done(Box::new(completed));
        let lane = call.lane;
        self.schedule.complete(index);
        self.pending_changes.insert(index, changes);
        if lane == Lane::Serial || self.schedule.executing_count() == 0 {
            self.apply_changes(session);
        }
        if cancels_siblings {
            self.cancel_siblings(session);
        }
        self.start_batch_hooks(session);
    }

    /// Has hooks look at turns all of whose calls have their results.
    fn start_batch_hooks(&mut self, session: &Session) {
        for (turn, batch) in self.batches.iter_mut().flatten() {
            if batch.heard.is_some() || batch.begun || !self.turns.is_done(*turn) {
                continue;
            }
            batch.begun = true;
            let members: Vec<Value> = std::mem::take(&mut batch.members).into_values().collect();
            let lifecycle = Arc::clone(&self.lifecycle);
            let (context, id) = (Arc::clone(&session.context), session.key().id.clone());
            let (events, turn) = (self.events.clone(), *turn);
            let job = move |(): &()| {
                let heard = lifecycle.after_batch(&members, &context, &id);
                let _ = events.send(RunnerEvent::Batched { turn, heard });
            };
            if let Err(no_thread) = self.checkers.run(Box::new(job)) {
                (no_thread.job)(&());
            }
        }
    }

    /// The hooks after a turn have said this.
    pub(super) fn batched(&mut self, turn: TurnNumber, heard: Heard) {
        if let Some(batch) = self.batches.as_mut().and_then(|all| all.get_mut(&turn)) {
            batch.heard = Some(heard);
        }
    }

    /// No hooks look at turns any more.
    pub(super) fn skip_batch_hooks(&mut self) {
        self.batches = None;
    }

    /// Whether the result of a call waits for the hooks after its turn: the last one does, since it
    /// tells what they said.
    fn awaits_batch_hooks(&self, index: CallIndex) -> bool {
        let (Some(batches), Some(call)) = (&self.batches, self.by_index.get(&index)) else {
            return false;
        };
        let batch = batches.get(&call.turn);
        batch.is_some_and(|batch| batch.heard.is_none()) && self.turns.is_last(call.turn, &call.id)
    }

    /// Changes of a concurrent batch wait for its end and are applied in call order.
    fn apply_changes(&mut self, session: &mut Session) {
        let changes: Vec<_> = std::mem::take(&mut self.pending_changes)
            .into_values()
            .flatten()
            .collect();
        if session.apply(changes) {
            let (calls, lifecycle) = (&self.by_index, &self.lifecycle);
            self.schedule
                .reassess(|index| match &calls.get(&index)?.stage {
                    CallStage::Waiting(Prepared::Ready(ready)) => {
                        Some(lifecycle.reassess(ready, &session.context).access)
                    }
                    _ => None,
                });
        }
    }

    fn cancel_siblings(&mut self, session: &mut Session) {
        for index in self.schedule.waiting().collect::<Vec<_>>() {
            if let Some(reason) = self.sibling_failure(index) {
                self.complete(index, never_started(&reason), session);
            }
        }
        for index in self.schedule.begun().collect::<Vec<_>>() {
            if let Some(reason) = self.sibling_failure(index)
                && let Some(call) = self.by_index.get_mut(&index)
            {
                call.cancel(&reason);
            }
        }
    }

    /// The failed sibling because of which a call must not run, if there is one.
    fn sibling_failure(&self, index: CallIndex) -> Option<CancelReason> {
        let call = self.by_index.get(&index)?;
        let failure = self.turns.failure(call.turn)?;
        let is_concerned = match self.on_error {
            OnError::Continue => false,
            OnError::CancelAll => true,
            OnError::CancelShell => call.kind() == Some(ToolKind::Shell),
        };
        let is_refused = matches!(call.stage, CallStage::Waiting(Prepared::Refused(_)));
        (is_concerned && !is_refused).then(|| CancelReason::Sibling(failure.to_owned()))
    }

    /// Gives every queued call its result without running it.
    pub(super) fn refuse_queued(&mut self, reason: &CancelReason, session: &mut Session) {
        for index in self.schedule.waiting().collect::<Vec<_>>() {
            self.complete(index, never_started(reason), session);
        }
    }

    /// Asks the running calls to end, except those that want to finish. Returns whether there were
    /// any.
    pub(super) fn cancel_running(&mut self, reason: &CancelReason) -> bool {
        let mut any = false;
        for index in self.schedule.begun() {
            if let Some(call) = self.by_index.get_mut(&index)
                && let CallStage::Running(ready) = &call.stage
                && (ready.tool.interrupt() == InterruptBehavior::Cancel
                    || *reason == CancelReason::TimeUp)
            {
                call.cancel(reason);
                any = true;
            }
        }
        any
    }

    /// Gives running calls their results without them. Their processes are being ended all the
    /// same.
    pub(super) fn end_running(&mut self, force: Force, session: &mut Session) {
        for index in self.schedule.begun().collect::<Vec<_>>() {
            let Some(call) = self.by_index.get_mut(&index) else {
                continue;
            };
            let reason = match (force, &call.cancel_reason) {
                (_, Some(reason)) => reason.clone(),
                (Force::AtOnce, None) => CancelReason::Interrupt,
                (Force::IfCancelled, None) => continue,
            };
            if force == Force::AtOnce {
                call.cancel.kill();
            }
            self.complete(index, ended_early(&reason, None), session);
        }
    }

    /// The run is over, whatever the calls do.
    pub(super) fn kill(&self) {
        for call in self.by_index.values() {
            call.cancel.kill();
        }
    }

    /// The next call in call order if it has its result; it leaves.
    pub(super) fn take_completed(&mut self) -> Option<Call> {
        let next = self.schedule.next_completed()?;
        if self.awaits_batch_hooks(next) {
            return None;
        }
        let index = self.schedule.yield_next()?;
        let mut call = self.by_index.remove(&index)?;
        call.batch = self.turns.batch(call.turn, call.lane);
        if self.turns.is_last(call.turn, &call.id)
            && let Some(batches) = &mut self.batches
            && let Some(heard) = batches.remove(&call.turn).and_then(|batch| batch.heard)
            && let CallStage::Done(completed) = &mut call.stage
        {
            completed.hear(heard);
            if let Some(note) = completed.note.take() {
                self.messages.note(&note);
            }
        }
        Some(call)
    }

    /// The result of this call is on the output.
    pub(super) fn answered(&mut self, turn: TurnNumber, weight: usize) {
        self.turns.answered(turn);
        self.weight = self.weight.saturating_sub(weight);
    }

    /// Whether all calls of this turn are known and have their results.
    pub(super) fn is_complete(&self, turn: TurnNumber) -> bool {
        self.turns.has_ended(turn) && !self.by_index.values().any(|call| call.turn == turn)
    }

    /// The calls of the next turn whose results are all on the output; it is forgotten.
    pub(super) fn finished_turn(&mut self) -> Option<Vec<ToolUseId>> {
        self.turns.finished()
    }

    /// The calls that run, each with the time since its start.
    pub(super) fn running(&self) -> impl Iterator<Item = (&Call, Duration)> {
        let running = self.by_index.values().filter(|call| call.is_running());
        let now = self.clock.elapsed();
        running.map(move |call| (call, now.saturating_sub(call.started.unwrap_or(now))))
    }

    /// How far the run is.
    pub(super) fn progress(&self) -> Progress<'_> {
        let oldest = self.schedule.begun().next();
        let oldest = oldest.and_then(|index| self.by_index.get(&index));
        Progress {
            started: self.started,
            running: self.schedule.executing_count(),
            open: self.schedule.len(),
            oldest: oldest.map(|call| call.label.as_str()),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_index.is_empty()
    }

    /// How many calls were started so far.
    pub(super) fn started(&self) -> u64 {
        self.started
    }

    /// Whether the input has to wait for calls to end.
    pub(super) fn is_full(&self) -> bool {
        self.by_index.len() >= MOST_CALLS || (self.is_heavy() && !self.by_index.is_empty())
    }

    fn is_heavy(&self) -> bool {
        self.weight > MOST_WEIGHT
    }

    /// Completes the trace, if there is one.
    pub(super) fn finish_trace(&mut self) -> io::Result<()> {
        self.trace.take().map_or(Ok(()), Trace::finish)
    }
}

impl OnError {
    /// Whether a call that ended like this takes its siblings with it.
    fn cancels_siblings(self, completed: &Completed) -> bool {
        let failed = matches!(completed.outcome, Outcome::Error | Outcome::Timeout);
        match self {
            Self::Continue => false,
            Self::CancelShell => failed && completed.cancels_siblings,
            Self::CancelAll => failed,
        }
    }
}
