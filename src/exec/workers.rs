//! Threads that run calls: started when first needed, kept, never more than the cap.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// One piece of work.
pub(super) type Job = Box<dyn FnOnce() + Send>;

/// A growing pool. Dropping it lets running jobs finish on their own; nobody waits for them.
#[derive(Debug)]
pub(super) struct Workers {
    queue: Arc<Queue>,
    started: usize,
    cap: NonZeroUsize,
}

/// Waiting threads wait for work, not for each other: a job wakes one of them.
#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Threads that sleep until they are woken.
    asleep: usize,
    closed: bool,
}

impl Workers {
    pub(super) fn new(cap: NonZeroUsize) -> Self {
        Self {
            queue: Arc::default(),
            started: 0,
            cap,
        }
    }

    /// Runs a job soon. `busy` is how many jobs run already: as many threads as are needed for one
    /// more exist afterwards, if the system grants them.
    pub(super) fn run(&mut self, job: Job, busy: usize) {
        if self.started <= busy && self.started < self.cap.get() {
            let queue = Arc::clone(&self.queue);
            let spawned = thread::Builder::new()
                .name("call".to_owned())
                .spawn(move || {
                    while let Some(job) = queue.next() {
                        job();
                    }
                });
            if spawned.is_ok() {
                self.started += 1;
            } else if self.started == 0 {
                // No thread to be had at all: better late than never.
                job();
                return;
            }
        }
        let mut state = self.queue.lock();
        state.jobs.push_back(job);
        let wakes = state.asleep > 0;
        drop(state);
        if wakes {
            self.queue.work.notify_one();
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.queue.lock().closed = true;
        self.queue.work.notify_all();
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job, `None` when there will be none any more.
    fn next(&self) -> Option<Job> {
        let mut state = self.lock();
        if state.jobs.is_empty() && !state.closed {
            // Where all processors are busy, the next job is there when it is this thread's turn
            // again, and nobody has to sleep and be woken.
            drop(state);
            thread::yield_now();
            state = self.lock();
        }
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            if state.closed {
                return None;
            }
            state.asleep += 1;
            state = self
                .work
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.asleep -= 1;
        }
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("State")
            .field("jobs", &self.jobs.len())
            .field("asleep", &self.asleep)
            .field("closed", &self.closed)
            .finish()
    }
}
