//! The main loop of a run: events in, records out.
//!
//! One thread owns everything that must happen in order: the schedule, the echo, the results.
//! A reader thread feeds it lines, workers feed it results; it never waits for anything but them.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::time::{Duration, Instant};

use super::call::{Call, CancelReason};
use super::channels::{Channels, Happening};
use super::emitter::Emitter;
use super::intake::{Arrival, Credit, Item};
use super::interruption::{Interruption, Open};
use super::session::{Naming, Session};
use super::{
    CallIndex, EndCause, Ledger, Lifecycle, Mode, Observer, Options, Ownership, RunEnd, Schedule,
    Trace, Turns,
};
use crate::io::{Clock, Ids, Messages};
use crate::jsonl::WriteError;
use crate::process::{Spawners, ThreadPool};
use crate::tools::{ContextChange, ToolContext};
use crate::wire::{Event, SessionId};

/// Calls that may wait for their result before the input has to wait for them.
const MOST_CALLS: usize = 1024;
/// What calls and results may weigh together before the input and further calls have to wait, in
/// bytes.
const MOST_WEIGHT: usize = 16 * 1024 * 1024;
/// How often a running call says that it still runs.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// Where a run writes and what it tells people.
pub struct Surroundings<Sink: Write> {
    /// Records go here.
    pub sink: Sink,
    /// Messages for people.
    pub messages: Messages,
    /// Times in records.
    pub clock: Arc<dyn Clock>,
    /// Ids in records.
    pub ids: Arc<dyn Ids>,
    /// Is told how far the run is.
    pub observer: Box<dyn Observer>,
    /// Takes the trace, if one is wanted.
    pub trace: Option<Trace>,
    /// Starts the children of calls that run side by side.
    pub lane: Spawners,
}

/// A run in progress.
pub(super) struct Runner<'a, Sink: Write> {
    pub(super) options: &'a Options,
    pub(super) lifecycle: Arc<Lifecycle>,
    pub(super) session: Session,
    pub(super) naming: Naming,
    pub(super) emitter: Emitter<Sink>,
    pub(super) messages: Messages,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) observer: Box<dyn Observer>,
    pub(super) trace: Option<Trace>,
    pub(super) schedule: Schedule,
    pub(super) turns: Turns,
    pub(super) calls: BTreeMap<CallIndex, Call>,
    /// Results that wait for the end of their turn (`--emit turn`).
    pub(super) waiting_results: VecDeque<Call>,
    pub(super) ledger: Ledger,
    pub(super) ownership: Ownership,
    pub(super) plan: super::plan::Plan,
    /// Input that was read but may not be echoed yet.
    backlog: VecDeque<Item>,
    input: InputState,
    /// About how much memory the open calls and their results take, in bytes.
    pub(super) weight: usize,
    /// Changes of the running concurrent batch, applied when it is over.
    pub(super) pending_changes: BTreeMap<CallIndex, Vec<ContextChange>>,
    pub(super) workers: ThreadPool,
    pub(super) sender: Sender<Happening>,
    happenings: Receiver<Happening>,
    credit: Credit,
    pub(super) interruption: Interruption,
    next_heartbeat: Option<Instant>,
    /// The executor record is out.
    claimed: bool,
    pub(super) told: Told,
    pub(super) calls_run: u64,
    failed_calls: u64,
    damaged_lines: u64,
}

/// How far the input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InputState {
    /// More may come.
    Open,
    /// Nothing more comes, but not everything was echoed.
    Ended,
    /// Everything was echoed and reacted to.
    Handled,
}

/// What people were told already, so that they are told once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Told {
    /// That calls of a recording are not run.
    pub(super) history: bool,
    /// That calls need permission.
    pub(super) permission: bool,
}

/// Runs the calls of a stream. `ledger` knows the results of a seekable input already.
pub fn run<Sink: Write>(
    options: &Options,
    lifecycle: Lifecycle,
    context: ToolContext,
    ledger: Ledger,
    surroundings: Surroundings<Sink>,
    channels: Channels,
) -> RunEnd {
    let naming = match &options.session_id {
        Some(id) => Naming::Named(id.clone()),
        None => Naming::Fresh(SessionId(surroundings.ids.uuid().to_string())),
    };
    let mut runner = Runner {
        options,
        lifecycle: Arc::new(lifecycle),
        session: Session::new(context, surroundings.lane, options.state_root.clone()),
        emitter: Emitter::new(
            surroundings.sink,
            Arc::clone(&surroundings.clock),
            Arc::clone(&surroundings.ids),
            naming.id().clone(),
            options.echo,
        ),
        naming,
        messages: surroundings.messages,
        clock: surroundings.clock,
        observer: surroundings.observer,
        trace: surroundings.trace,
        schedule: Schedule::new(options.policy, options.cap),
        turns: Turns::default(),
        calls: BTreeMap::new(),
        waiting_results: VecDeque::new(),
        ledger,
        ownership: Ownership::new(options.insistence),
        plan: super::plan::Plan::default(),
        backlog: VecDeque::new(),
        input: InputState::Open,
        weight: 0,
        pending_changes: BTreeMap::new(),
        workers: ThreadPool::new("call", options.cap.get(), || ()),
        sender: channels.sender,
        happenings: channels.happenings,
        credit: channels.credit,
        interruption: Interruption::new(options.timeout),
        next_heartbeat: None,
        claimed: false,
        told: Told::default(),
        calls_run: 0,
        failed_calls: 0,
        damaged_lines: 0,
    };
    if options.session_id.is_some() {
        runner.resume_session();
    }
    let cause = match runner.drive() {
        Ok(cause) => cause,
        Err(WriteError::BrokenPipe) => EndCause::OutputGone,
        Err(error) => EndCause::OutputFailed(error.to_string()),
    };
    runner.abandon_calls();
    runner.close();
    Spawners::kill_all();
    RunEnd {
        cause,
        failed_calls: runner.failed_calls,
        damaged_lines: runner.damaged_lines,
    }
}

impl<Sink: Write> Runner<'_, Sink> {
    fn drive(&mut self) -> Result<EndCause, WriteError> {
        loop {
            self.advance()?;
            if let Some(cause) = self.is_over() {
                self.emitter.flush()?;
                return Ok(cause);
            }
            let happening = match self.happenings.try_recv() {
                Ok(happening) => Some(happening),
                Err(TryRecvError::Disconnected) => None,
                Err(TryRecvError::Empty) => {
                    self.emitter.flush()?;
                    self.wait()
                }
            };
            match happening {
                Some(Happening::Arrival(Arrival::Failed(error))) => {
                    self.stop_for(&CancelReason::Interrupt);
                    self.advance()?;
                    return Ok(EndCause::InputFailed(error.to_string()));
                }
                Some(happening) => self.take_in(happening)?,
                None => self.on_time()?,
            }
        }
    }

    /// The next thing that happens, or nothing when a deadline passed first.
    fn wait(&self) -> Option<Happening> {
        // Where all processors are busy, something has happened when it is this thread's turn
        // again, and nobody has to wake it.
        std::thread::yield_now();
        if let Ok(happening) = self.happenings.try_recv() {
            return Some(happening);
        }
        let deadline = self
            .interruption
            .next_deadline()
            .into_iter()
            .chain(self.next_heartbeat)
            .min();
        match deadline {
            None => self.happenings.recv().ok(),
            Some(deadline) => {
                let rest = deadline.saturating_duration_since(Instant::now());
                self.happenings.recv_timeout(rest).ok()
            }
        }
    }

    fn take_in(&mut self, happening: Happening) -> Result<(), WriteError> {
        match happening {
            Happening::Arrival(Arrival::Items(items)) => self.arrive(items),
            Happening::Arrival(Arrival::End(events)) => {
                self.input = InputState::Ended;
                let last = Item {
                    raw: Vec::new(),
                    events,
                    reports: Vec::new(),
                    boundary: super::intake::Boundary::Line,
                };
                self.arrive(vec![last]);
            }
            Happening::Arrival(Arrival::Failed(_)) => {}
            Happening::Progress { call, text } => self.progress(call, &text)?,
            Happening::Finished { call, completed } => self.finish(call, *completed),
            Happening::Signal(signal) => self.signalled(signal),
            Happening::OutputGone => return Err(WriteError::BrokenPipe),
        }
        Ok(())
    }

    /// Takes in what was read. Results that stand in it are known before any call of it starts.
    fn arrive(&mut self, items: Vec<Item>) {
        self.interruption.input_arrived(Instant::now());
        for item in &items {
            for event in &item.events {
                match event {
                    Event::Result(result) => self.note_result(&result.id),
                    Event::Interrupt { .. } => self.stop_for(&CancelReason::Interrupt),
                    _ => {}
                }
            }
        }
        self.backlog.extend(items);
    }

    /// Does everything that can be done without waiting.
    fn advance(&mut self) -> Result<(), WriteError> {
        loop {
            self.echo_backlog()?;
            self.start_ready();
            let yielded = self.yield_ready()?;
            if !yielded {
                return Ok(());
            }
        }
    }

    fn echo_backlog(&mut self) -> Result<(), WriteError> {
        while let Some(item) = self.backlog.pop_front() {
            if self.must_wait(&item) {
                self.backlog.push_front(item);
                break;
            }
            self.credit.give_back(item.raw.len());
            self.echo(&item)?;
        }
        if self.input == InputState::Ended && self.backlog.is_empty() {
            self.input = InputState::Handled;
        }
        Ok(())
    }

    /// A `result` record waits until the results before it are out (protocol 6.1); anything waits
    /// while too many calls are open.
    fn must_wait(&mut self, item: &Item) -> bool {
        if item
            .events
            .iter()
            .any(|event| matches!(event, Event::SessionResult))
        {
            // Whatever else the record says, it ends the turn whose results it waits for.
            self.turns.end();
            return !self.calls.is_empty() || !self.waiting_results.is_empty();
        }
        self.calls.len() >= MOST_CALLS || (self.is_heavy() && !self.calls.is_empty())
    }

    /// Whether what waits here is enough for now.
    pub(super) fn is_heavy(&self) -> bool {
        self.weight > MOST_WEIGHT
    }

    fn echo(&mut self, item: &Item) -> Result<(), WriteError> {
        for report in &item.reports {
            self.damaged_lines += 1;
            self.messages.note(&format!(
                "input line {} (byte {}): {}",
                report.line, report.offset, report.reason
            ));
        }
        if self.options.mode == Mode::Execute && !self.claimed && self.will_run_any(&item.events) {
            self.claimed = true;
            self.learn_session(&item.events);
            self.emitter.executor()?;
        }
        self.emitter.echo(&item.raw, item.boundary)?;
        for event in &item.events {
            self.react(event)?;
        }
        Ok(())
    }

    /// What time itself brings: an interrupt that was not obeyed, the end of the run, heartbeats.
    fn on_time(&mut self) -> Result<(), WriteError> {
        let now = Instant::now();
        if self.interruption.time_is_up(now) {
            self.stop_for(&CancelReason::TimeUp);
        }
        if self.interruption.patience_is_over(now) {
            self.give_up_waiting();
        }
        if self.next_heartbeat.is_some_and(|due| due <= now) {
            self.heartbeat()?;
            self.next_heartbeat = Some(now + HEARTBEAT);
        }
        Ok(())
    }

    pub(super) fn a_call_started(&mut self) {
        self.calls_run += 1;
        self.next_heartbeat
            .get_or_insert_with(|| Instant::now() + HEARTBEAT);
    }

    pub(super) fn a_result_is_out(&mut self, is_error: bool) {
        self.failed_calls += u64::from(is_error);
        if self.schedule.executing_count() == 0 {
            self.next_heartbeat = None;
        }
    }

    /// Whether the run is over, and why.
    fn is_over(&mut self) -> Option<EndCause> {
        let open = if self.calls.is_empty() && self.waiting_results.is_empty() {
            Open::Nothing
        } else {
            Open::Calls
        };
        let stage = self.stage_kind();
        if let Some(cause) = self.interruption.ends_the_run(open, stage, Instant::now())
            && self.happenings_are_drained()
        {
            return Some(cause);
        }
        (self.input == InputState::Handled && open == Open::Nothing)
            .then(|| self.interruption.cause_at_end(stage))
    }

    fn happenings_are_drained(&mut self) -> bool {
        match self.happenings.try_recv() {
            Ok(happening) => {
                let _ = self.take_in(happening);
                false
            }
            Err(_) => self.backlog.is_empty(),
        }
    }

    fn close(&mut self) {
        self.report_unanswered_history();
        if self.session.has_changes() && matches!(self.naming, Naming::Fresh(_)) {
            self.messages.note("the working directory or to-do list of this run is not kept: the session has no name");
            self.messages
                .hint("give the session a name with --session-id");
        }
        if let Err(error) = self.session.save(&self.naming) {
            self.messages
                .note(&format!("cannot keep the state of the session: {error}"));
        }
        if let Some(trace) = self.trace.take()
            && let Err(error) = trace.finish()
        {
            self.messages
                .note(&format!("cannot write the trace: {error}"));
        }
        self.observer.finished();
    }
}
