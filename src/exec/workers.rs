//! The threads of a run: they resolve, check and run calls, and report to the main loop.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use serde_json::Value;

use super::call::{Call, ReadyCall, UnresolvedCall};
use super::channels::RunnerEvent;
use super::lifecycle::Lifecycle;
use super::session::Session;
use super::turns::CallIndex;
use super::turns::TurnNumber;
use crate::process::{Job, ThreadPool};
use crate::tools::CallContext;

/// Calls that may wait for a server, a hook or the user at the same time.
const MAX_WAITING: usize = 32;

/// The work of a thread on a call.
pub(super) enum Work {
    /// Wait for the server that may have its tool.
    Resolve(Arc<UnresolvedCall>),
    /// Check whether it may run.
    Check(Arc<ReadyCall>),
    /// Run it.
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
    /// Pools that run at most `cap` tools at once.
    pub(super) fn new(lifecycle: Arc<Lifecycle>, cap: usize, events: Sender<RunnerEvent>) -> Self {
        // A call that waits for its post-hooks holds a thread, but no slot of the schedule.
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
    pub(super) fn start(&self, index: CallIndex, call: &Call, work: Work, session: &Session) {
        let (id, cancel) = (call.id.clone(), call.cancel.clone());
        let (threads, ready) = match &work {
            Work::Resolve(_) => (&self.resolving, None),
            Work::Check(ready) => (&self.checking, Some(ready)),
            Work::Run(ready) => (&self.running, Some(ready)),
        };
        let context = match ready {
            Some(ready) if ready.assessment.access.is_read_only() => session.confined_context(),
            Some(_) | None => Arc::clone(&session.context),
        };
        let (lifecycle, events) = (Arc::clone(&self.lifecycle), self.events.clone());
        let session = session.key.clone();
        let job = move |(): &()| {
            let context = CallContext {
                id: &id,
                session: &context,
                cancel: &cancel,
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
                    let tool_done = || {
                        let _ = events.send(RunnerEvent::ToolDone { call: index });
                    };
                    let result = lifecycle.execute(&ready, &context, &session, tool_done);
                    RunnerEvent::Finished {
                        call: index,
                        result: Box::new(result),
                    }
                }
            };
            let _ = events.send(event);
        };
        run(threads, Box::new(job));
    }

    /// Runs the hooks after a turn with these calls.
    pub(super) fn run_turn_hooks(&self, turn: TurnNumber, calls: Vec<Value>, session: &Session) {
        let (lifecycle, events) = (Arc::clone(&self.lifecycle), self.events.clone());
        let (context, id) = (Arc::clone(&session.context), session.key.id.clone());
        let job = move |(): &()| {
            let feedback = lifecycle.hooks.after_turn(&calls, &context, &id);
            let _ = events.send(RunnerEvent::TurnHooksDone { turn, feedback });
        };
        run(&self.checking, Box::new(job));
    }
}

/// Runs a job on a thread of the pool, or on this one if the system has no thread.
fn run(threads: &ThreadPool, job: Job<()>) {
    if let Err(no_thread) = threads.run(job) {
        (no_thread.job)(&());
    }
}
