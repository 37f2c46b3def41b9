//! The threads of a run: they resolve, check and run calls, and report to the main loop
//! through channels.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::Value;

use super::call::{CallState, ReadyCall, RunCall, UnresolvedCall};
use super::call_result::{CallResult, HookFeedback};
use super::intake::{Credit, InputEvent, ReadAhead, read_all};
use super::lifecycle::Lifecycle;
use super::prompting::{ControlPrompter, ControlRecord, OpenQuestions, Prompter};
use super::session::RunSession;
use super::turn_tracker::{CallIndex, TurnNumber};
use crate::assemble::Decoder;
use crate::io::{Ids, InputStream};
use crate::jsonl::{Prefilter, Reader, UnwantedLines};
use crate::process::{EndSignal, Job, ThreadPool};
use crate::records::SideExtension;
use crate::run::tools::CallContext;

/// Maximum number of calls that wait for a server, a hook or the user at the same time.
const MAX_WAITING: usize = 32;

/// The work of a thread on a call.
pub(super) enum Work {
    /// Wait for the server that may have its tool.
    Resolve(Arc<UnresolvedCall>),
    /// Check whether it may run.
    Check(Arc<ReadyCall>),
    Run(Arc<ReadyCall>),
}

/// The thread pools of a run.
pub(super) struct Workers {
    lifecycle: Arc<Lifecycle>,
    events: Sender<RunnerEvent>,
    resolving: ThreadPool,
    checking: ThreadPool,
    running: ThreadPool,
}

impl Workers {
    /// Creates pools that run at most `cap` tools at once.
    pub(super) fn new(lifecycle: Arc<Lifecycle>, cap: usize, events: Sender<RunnerEvent>) -> Self {
        // A call that waits for post-hooks occupies a thread, but no slot of the schedule.
        let waiting = if lifecycle.has_post_hooks() {
            MAX_WAITING
        } else {
            0
        };
        Self {
            lifecycle,
            events,
            resolving: ThreadPool::new("resolve", MAX_WAITING, || ()),
            checking: ThreadPool::new("check", MAX_WAITING, || ()),
            running: ThreadPool::new("call", cap + waiting, || ()),
        }
    }

    /// Starts work on a call. Its end is reported as an event.
    pub(super) fn start(&self, index: CallIndex, call: &RunCall, work: Work, session: &RunSession) {
        let (id, cancel) = (call.id.clone(), call.cancel.clone());
        let (threads, ready) = match &work {
            Work::Resolve(_) => (&self.resolving, None),
            Work::Check(ready) => (&self.checking, Some(ready)),
            Work::Run(ready) => (&self.running, Some(ready)),
        };
        let context = match ready {
            Some(ready) => session.context_of_call(ready),
            None => Arc::clone(&session.context),
        };
        let (lifecycle, events) = (Arc::clone(&self.lifecycle), self.events.clone());
        let session = session.key.clone();
        let job = move |(): &()| {
            let progress = |note| {
                send(&events, RunnerEvent::Progress { call: index, note });
            };
            let context = CallContext {
                id: &id,
                session: &context,
                cancel: &cancel,
                progress: &progress,
            };
            let event = match work {
                Work::Resolve(unresolved) => RunnerEvent::Prepared {
                    call: index,
                    state: Box::new(lifecycle.resolve(&unresolved, context.session)),
                },
                Work::Check(ready) => RunnerEvent::Prepared {
                    call: index,
                    state: Box::new(lifecycle.check(&ready, &context, &session.id)),
                },
                Work::Run(ready) => {
                    let on_tool_done = || {
                        send(&events, RunnerEvent::ToolDone { call: index });
                    };
                    let result = lifecycle.execute(&ready, &context, &session, on_tool_done);
                    RunnerEvent::Finished {
                        call: index,
                        result: Box::new(result),
                    }
                }
            };
            send(&events, event);
        };
        run(threads, Box::new(job));
    }

    /// Runs the hooks after a turn with these calls.
    pub(super) fn run_turn_hooks(&self, turn: TurnNumber, calls: Vec<Value>, session: &RunSession) {
        let (lifecycle, events) = (Arc::clone(&self.lifecycle), self.events.clone());
        let (context, id) = (Arc::clone(&session.context), session.key.id.clone());
        let job = move |(): &()| {
            let feedback = lifecycle.hooks.run_after_turn(&calls, &context, &id);
            send(&events, RunnerEvent::TurnHooksDone { turn, feedback });
        };
        run(&self.checking, Box::new(job));
    }
}

/// Sends an event to the run, unless that has ended.
fn send(events: &Sender<RunnerEvent>, event: RunnerEvent) {
    let _ = events.send(event);
}

/// Runs a job on a thread of the pool, or on this one if no thread can be created.
fn run(threads: &ThreadPool, job: Job<()>) {
    if let Err(no_thread) = threads.run(job) {
        (no_thread.job)(&());
    }
}

/// An event that the main loop handles.
pub(super) enum RunnerEvent {
    Input(InputEvent),
    /// A call was resolved or checked: it is queued, or it has its result.
    Prepared {
        call: CallIndex,
        state: Box<CallState>,
    },
    /// A question to the user, or its withdrawal, is to be written.
    Control(ControlRecord),
    /// The cost of a request to another model.
    ModelCost(Box<SideExtension>),
    /// A call describes its progress.
    Progress {
        call: CallIndex,
        note: String,
    },
    /// The tool of a call has ended, and hooks follow.
    ToolDone {
        call: CallIndex,
    },
    /// The hooks after a turn have ended.
    TurnHooksDone {
        turn: TurnNumber,
        feedback: HookFeedback,
    },
    /// A call has ended.
    Finished {
        call: CallIndex,
        result: Box<CallResult>,
    },
    /// A signal asks this process to end.
    Signal(EndSignal),
    /// The reader of the output is gone.
    OutputClosed,
}

/// The receiving end of a run's channels.
pub struct Channels {
    pub(super) sender: Sender<RunnerEvent>,
    pub(super) events: Receiver<RunnerEvent>,
    pub(super) credit: Credit,
    pub(super) questions: OpenQuestions,
}

impl Channels {
    /// Creates channels.
    pub fn new() -> Self {
        let (sender, events) = channel();
        Self {
            sender,
            events,
            credit: Credit::new(),
            questions: OpenQuestions::default(),
        }
    }

    /// Returns a prompter that writes questions among the records and reads responses from the input.
    pub fn prompter(&self, ids: Arc<dyn Ids>) -> impl Prompter + use<> {
        let sender = self.sender.clone();
        let write = move |record| {
            send(&sender, RunnerEvent::Control(record));
        };
        ControlPrompter {
            open: self.questions.clone(),
            write,
            ids,
        }
    }

    /// Returns a function that reports the cost of a request to another model.
    pub fn cost_reporter(&self) -> impl Fn(SideExtension) + Send + Sync + use<> {
        let sender = self.sender.clone();
        move |cost| {
            send(&sender, RunnerEvent::ModelCost(Box::new(cost)));
        }
    }

    /// Returns a function that reports signals.
    pub fn signal_reporter(&self) -> impl Fn(EndSignal) + Send + use<> {
        let sender = self.sender.clone();
        move |signal| {
            send(&sender, RunnerEvent::Signal(signal));
        }
    }

    /// Returns a function that reports that the reader of the output is gone.
    pub fn output_reporter(&self) -> impl FnOnce() + Send + use<> {
        let sender = self.sender.clone();
        move || {
            send(&sender, RunnerEvent::OutputClosed);
        }
    }

    /// Starts the thread that reads the input. A file is read twice, with separate prefilters and decoders.
    ///
    /// # Errors
    /// No thread can be created, or the type of the input cannot be determined.
    pub fn start_reading(
        &self,
        source: InputStream,
        needles: impl Fn() -> Prefilter + Send + 'static,
        unwanted: UnwantedLines,
        decoder: impl Fn() -> Decoder + Send + 'static,
    ) -> std::io::Result<()> {
        let (credit, sender) = (self.credit.clone(), self.sender.clone());
        let file = match &source {
            InputStream::Descriptor(file) => ReadAhead::open(file)?,
            InputStream::Closed => None,
        };
        std::thread::Builder::new()
            .name("input".to_owned())
            .spawn(move || {
                let has_input = source.readiness_check();
                let reader = Reader::new(source, needles()).with_unwanted(unwanted);
                let (first, again) = (decoder(), || decoder());
                let read_ahead = file.map(|file| move || file.read_ledger(needles(), again()));
                let deliver = |event| sender.send(RunnerEvent::Input(event)).is_ok();
                read_all(reader, has_input, read_ahead, first, &credit, deliver);
            })?;
        Ok(())
    }
}

impl Default for Channels {
    fn default() -> Self {
        Self::new()
    }
}
