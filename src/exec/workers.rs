//! Threads that run calls: started when first needed, kept, never more than the cap.

use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// One piece of work.
pub(super) type Job = Box<dyn FnOnce() + Send>;

/// A growing pool. Dropping it lets running jobs finish on their own; nobody waits for them.
#[derive(Debug)]
pub(super) struct Workers {
    jobs: Sender<Job>,
    queue: Arc<Mutex<Receiver<Job>>>,
    started: usize,
    cap: NonZeroUsize,
}

impl Workers {
    pub(super) fn new(cap: NonZeroUsize) -> Self {
        let (jobs, queue) = channel();
        Self {
            jobs,
            queue: Arc::new(Mutex::new(queue)),
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
                    loop {
                        // The lock is held while waiting: whoever holds it is the next to work.
                        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                        match next {
                            Ok(job) => job(),
                            Err(_) => break,
                        }
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
        // The receiver lives in `self.queue`, so sending cannot fail.
        let _ = self.jobs.send(job);
    }
}
