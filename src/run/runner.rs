//! The main loop of a run: events in, records out.
//!
//! One thread owns all ordered state: the schedule, the copy of the input, the results. It
//! only waits for events: lines from the reader thread, results from the workers, signals.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use super::call_result::CancelReason;
use super::cancellation::ForcedCalls;
use super::delivery::ResultWriter;
use super::emitter::Emitter;
use super::intake::{Backlog, InputEvent};
use super::interruption::{Demand, Interruption, StageKind};
use super::lifecycle::Lifecycle;
use super::open_calls::{CallCounts, OpenCalls};
use super::prompting::{ControlRecord, OpenQuestions};
use super::schedule::Plan;
use super::session::{Dependencies, EndCause, Observer, Options, RunEnd, RunSession};
use super::stream::Stream;
use super::workers::{Channels, RunnerEvent};
use crate::assemble::{Event, Understanding};
use crate::io::Messages;
use crate::jsonl::{WriteError, WriteResult};
use crate::message::SessionId;
use crate::process::EndSignal;
use crate::run::tools::ToolContext;
use crate::state::SessionKey;

/// Interval of the progress records of running calls.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(30);

/// A run in progress.
pub(super) struct Runner<'a> {
    pub(super) options: &'a Options,
    pub(super) lifecycle: Arc<Lifecycle>,
    events: Receiver<RunnerEvent>,
    pub(super) backlog: Backlog,
    questions: OpenQuestions,
    pub(super) stream: Stream,
    pub(super) plan: Plan,
    pub(super) calls: OpenCalls,
    pub(super) session: RunSession,
    /// Dropped before the output, which may end with a summary.
    observer: Box<dyn Observer>,
    pub(super) output: ResultWriter,
    pub(super) interruption: Interruption,
    pub(super) messages: Messages,
    next_heartbeat: Option<Instant>,
    /// Whether the executor record is written.
    pub(super) is_claimed: bool,
    pub(super) damaged_lines: u64,
    pub(super) understanding: Understanding,
    /// The start of the input.
    pub(super) head: Vec<u8>,
    /// The counts last passed to the observer.
    last_counts: CallCounts,
}

/// Runs the calls of a stream. Returns when the input has ended and every call has its result, or when a
/// signal, a deadline or a failed write ends the run.
pub fn run(
    options: &Options,
    lifecycle: Lifecycle,
    context: ToolContext,
    dependencies: Dependencies,
    channels: Channels,
) -> RunEnd {
    let Dependencies {
        messages, clock, ..
    } = dependencies;
    let given_id = options.session_id.clone();
    let has_name = given_id.is_some();
    let key = SessionKey {
        id: given_id.unwrap_or_else(|| SessionId(dependencies.ids.uuid().to_string())),
        scope: options.session_scope.clone(),
    };
    let lifecycle = Arc::new(lifecycle);
    let emitter = Emitter::new(
        dependencies.writer,
        Arc::clone(&clock),
        dependencies.ids,
        key.id.clone(),
        dependencies.listener,
        options,
    );
    let mut runner = Runner {
        options,
        events: channels.events,
        backlog: Backlog::new(channels.credit),
        questions: channels.questions,
        stream: Stream::new(options, messages.clone()),
        plan: Plan::new(options.policy),
        calls: OpenCalls::new(
            options,
            Arc::clone(&lifecycle),
            clock,
            messages.clone(),
            dependencies.trace,
            channels.sender,
        ),
        session: RunSession::new(
            context,
            key,
            has_name,
            options.start_directory,
            lifecycle.state_root.clone(),
        ),
        lifecycle,
        output: ResultWriter::new(emitter, options, messages.clone()),
        interruption: Interruption::new(options.timeout),
        observer: dependencies.observer,
        messages,
        next_heartbeat: None,
        is_claimed: false,
        damaged_lines: 0,
        understanding: Understanding::default(),
        head: Vec::new(),
        last_counts: CallCounts::default(),
    };
    let mut cause = match runner.drive() {
        Ok(cause) => cause,
        Err(WriteError::BrokenPipe) => EndCause::OutputGone,
        Err(error) => EndCause::OutputFailed(error.to_string()),
    };
    runner.calls.kill();
    runner.close();
    if let Err(error) = runner.calls.finish_trace() {
        let failure = format!("cannot write the trace: {error}");
        if cause == EndCause::EndOfInput {
            cause = EndCause::OutputFailed(failure);
        } else {
            runner.messages.error(&failure);
        }
    }
    runner.lifecycle.registry.end();
    runner.session.context.spawners.supervisor().kill_all();
    RunEnd {
        cause,
        failed_calls: runner.output.failed_calls,
        damaged_lines: runner.damaged_lines,
        understanding: runner.understanding,
        head: runner.head,
    }
}

impl Runner<'_> {
    fn drive(&mut self) -> Result<EndCause, WriteError> {
        loop {
            self.advance()?;
            if let Some(cause) = self.end_cause()? {
                self.output.emitter.flush()?;
                return Ok(cause);
            }
            let event = match self.events.try_recv() {
                Ok(event) => Some(event),
                Err(TryRecvError::Disconnected) => None,
                Err(TryRecvError::Empty) => {
                    self.output.emitter.flush()?;
                    self.wait()
                }
            };
            match event {
                Some(RunnerEvent::Input(InputEvent::Failed(error))) => {
                    self.stop(&CancelReason::Interrupt);
                    self.advance()?;
                    return Ok(EndCause::InputFailed(error.to_string()));
                }
                Some(event) => self.handle(event)?,
                None => self.handle_deadlines()?,
            }
        }
    }

    /// Waits for the next event. Returns `None` when a deadline passes first.
    fn wait(&self) -> Option<RunnerEvent> {
        // On a busy machine an event often arrives while this thread yields, which saves a wake-up.
        std::thread::yield_now();
        if let Ok(event) = self.events.try_recv() {
            return Some(event);
        }
        let deadline = self.interruption.next_deadline();
        match deadline.into_iter().chain(self.next_heartbeat).min() {
            None => self.events.recv().ok(),
            Some(deadline) => {
                let remaining = deadline.saturating_duration_since(Instant::now());
                self.events.recv_timeout(remaining).ok()
            }
        }
    }

    fn handle(&mut self, event: RunnerEvent) -> WriteResult {
        match event {
            RunnerEvent::Input(InputEvent::Ledger(ledger)) => self.stream.ledger = ledger,
            RunnerEvent::Input(InputEvent::Items(items)) => {
                self.interruption.note_input(Instant::now());
                for event in items.iter().flat_map(|item| &item.events) {
                    self.observe_ahead(event);
                }
                self.backlog.extend(items);
            }
            RunnerEvent::Input(InputEvent::End) => {
                self.backlog.end();
                self.questions.end();
            }
            RunnerEvent::Input(InputEvent::Failed(_)) => {}
            RunnerEvent::Prepared { call, state } => {
                self.calls.accept_prepared(call, *state, &mut self.session);
            }
            RunnerEvent::TurnHooksDone { turn, feedback } => {
                self.calls.finish_turn_hooks(turn, feedback);
            }
            RunnerEvent::Control(ControlRecord::Question(record)) => {
                self.output.emitter.write(record)?;
            }
            RunnerEvent::Control(ControlRecord::Cancel(record)) => {
                self.output.emitter.write(record)?;
            }
            RunnerEvent::ModelCost(cost) => self.output.emitter.write_model_cost(*cost)?,
            RunnerEvent::Progress { call, note } => {
                if let Some((call, elapsed)) = self.calls.set_note(call, &note) {
                    self.output
                        .emitter
                        .write_progress(call, elapsed, Some(note))?;
                    self.observer.update(&self.calls.progress());
                }
            }
            RunnerEvent::ToolDone { call } => self.calls.finish_tool(call),
            RunnerEvent::Finished { call, result } => {
                self.calls.finish(call, *result, &mut self.session);
            }
            RunnerEvent::Signal(signal) => self.handle_signal(signal),
            RunnerEvent::OutputClosed => return Err(WriteError::BrokenPipe),
        }
        Ok(())
    }

    /// Handles events that take effect when they are read: results, before a call on the same lines starts;
    /// requests to stop; and responses to questions.
    fn observe_ahead(&mut self, event: &Event) {
        self.stream.observe_ahead(event);
        match event {
            Event::Interrupt { .. } => self.stop(&CancelReason::Interrupt),
            Event::ControlResponse(response) => self.questions.answer(response),
            _ => {}
        }
    }

    /// Does all work that requires no waiting.
    fn advance(&mut self) -> WriteResult {
        loop {
            while let Some(item) = self.next_item()? {
                self.pass_on(&item)?;
            }
            self.calls.start_ready(&mut self.session);
            let has_written = self.output.deliver(&mut self.calls, &mut self.session)?;
            self.show_progress();
            if !has_written {
                return Ok(());
            }
        }
    }

    /// Refuses waiting calls and cancels running ones.
    fn stop(&mut self, reason: &CancelReason) {
        self.calls.skip_turn_hooks();
        self.calls.refuse_waiting(reason, &mut self.session);
        if self.calls.cancel_running(reason) {
            self.interruption.note_cancelled_calls(Instant::now());
        }
    }

    fn handle_signal(&mut self, signal: EndSignal) {
        let demand = self.interruption.record_signal(signal, Instant::now());
        self.stop(&CancelReason::Interrupt);
        match demand {
            Demand::StopAtOnce => self
                .calls
                .end_running(ForcedCalls::AtOnce, &mut self.session),
            Demand::Stop => {
                let mut running = self.calls.running_calls();
                if let Some((call, _)) = running.find(|(call, _)| call.cancel_reason.is_none()) {
                    let label = &call.profile.label;
                    self.messages
                        .warn(&format!("interrupted: waiting for {label} to finish"));
                    self.messages.hint("interrupt again to end it now");
                }
            }
        }
    }

    /// Handles the time limit of the run, the end of the grace period of cancelled calls, and heartbeats.
    fn handle_deadlines(&mut self) -> WriteResult {
        let now = Instant::now();
        if self.interruption.take_time_up(now) {
            self.stop(&CancelReason::TimeUp);
        }
        if self.interruption.take_end_of_grace(now) {
            self.calls
                .end_running(ForcedCalls::IfCancelled, &mut self.session);
        }
        if self.next_heartbeat.is_some_and(|due| due <= now) {
            for (call, elapsed) in self.calls.running_calls() {
                self.output.emitter.write_progress(call, elapsed, None)?;
            }
            self.next_heartbeat = Some(now + HEARTBEAT_INTERVAL);
        }
        Ok(())
    }

    fn show_progress(&mut self) {
        let counts = self.calls.counts();
        if counts.executing == 0 {
            self.next_heartbeat = None;
        } else if self.next_heartbeat.is_none() {
            self.next_heartbeat = Some(Instant::now() + HEARTBEAT_INTERVAL);
        }
        if self.last_counts != counts {
            self.last_counts = counts;
            self.observer.update(&self.calls.progress());
        }
    }

    /// Returns the cause of the end of the run; `None` if it continues.
    fn end_cause(&mut self) -> Result<Option<EndCause>, WriteError> {
        if self.has_open_calls() {
            return Ok(None);
        }
        let stage = if self.calls.started_count() > 0 {
            StageKind::Active
        } else if self.stream.runs_calls() {
            StageKind::Untouched
        } else {
            StageKind::History
        };
        if let Some(cause) = self.interruption.end_of_run(stage, Instant::now()) {
            // Input that was read is copied first.
            match self.events.try_recv() {
                Ok(event) => self.handle(event)?,
                Err(_) if self.backlog.is_empty() => return Ok(Some(cause)),
                Err(_) => {}
            }
        }
        let is_over = self.backlog.is_done();
        Ok(is_over.then(|| self.interruption.final_cause(stage)))
    }

    fn close(&mut self) {
        self.stream.report_unanswered();
        if self.session.has_unsaved_changes() && !self.session.has_name() {
            self.messages.warn(
                "the working directory and to-do list of this run are not saved: the session has no id",
            );
            self.messages
                .hint("`--session-id ID` gives the session an id");
        }
        if let Err(error) = self.session.save() {
            self.messages
                .error(&format!("cannot save session state: {error}"));
        }
    }
}
