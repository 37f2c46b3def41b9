//! A pool of threads that are started on demand and kept.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::{fmt, io, thread};
use turnpipe_core::io::Lock;

/// A job, which gets the value that its thread created when it started.
pub type Job<Local> = Box<dyn FnOnce(&Local) + Send>;

/// A limited number of threads, each started when no other is idle. When the pool is dropped, the threads run
/// the waiting jobs and end; dropping does not wait for them.
pub struct ThreadPool<Local = ()> {
    name: &'static str,
    max_threads: usize,
    shared: Arc<Shared<Local>>,
}

struct Shared<Local> {
    /// Creates the value of a thread when it starts.
    enter: Box<dyn Fn() -> Local + Send + Sync>,
    state: Mutex<State<Local>>,
    work: Condvar,
}

struct State<Local> {
    jobs: VecDeque<Job<Local>>,
    threads: usize,
    idle: usize,
    is_closed: bool,
}

/// The first thread cannot be created.
pub struct NoThread<Local> {
    /// The system's error.
    pub error: io::Error,
    /// The job, which has not run.
    pub job: Job<Local>,
}

impl<Local: 'static> ThreadPool<Local> {
    /// Creates a pool of at most `max_threads` threads (at least one). Each thread first calls `enter`.
    pub fn new(
        name: &'static str,
        max_threads: usize,
        enter: impl Fn() -> Local + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            max_threads: max_threads.max(1),
            shared: Arc::new(Shared {
                enter: Box::new(enter),
                state: Mutex::new(State {
                    jobs: VecDeque::new(),
                    threads: 0,
                    idle: 0,
                    is_closed: false,
                }),
                work: Condvar::new(),
            }),
        }
    }

    /// Queues a job.
    ///
    /// # Errors
    /// No thread is idle, and none can be created.
    pub fn run(&self, job: Job<Local>) -> Result<(), NoThread<Local>> {
        let mut state = self.shared.state.lock_anyway();
        if state.jobs.len() >= state.idle && state.threads < self.max_threads {
            let shared = Arc::clone(&self.shared);
            let builder = thread::Builder::new().name(self.name.to_owned());
            match builder.spawn(move || shared.serve()) {
                Ok(_) => state.threads += 1,
                // Another thread runs the job.
                Err(_) if state.threads > 0 => {}
                Err(error) => return Err(NoThread { error, job }),
            }
        }
        state.jobs.push_back(job);
        drop(state);
        self.shared.work.notify_one();
        Ok(())
    }
}

impl<Local> Drop for ThreadPool<Local> {
    fn drop(&mut self) {
        self.shared.state.lock_anyway().is_closed = true;
        self.shared.work.notify_all();
    }
}

impl<Local> Shared<Local> {
    /// Runs jobs until the pool is dropped.
    fn serve(&self) {
        let local = (self.enter)();
        while let Some(job) = self.next_job() {
            job(&local);
        }
    }

    /// Waits for a job; `None` if the pool was dropped and no job is left.
    fn next_job(&self) -> Option<Job<Local>> {
        let mut state = self.state.lock_anyway();
        if state.jobs.is_empty() && !state.is_closed {
            // On a busy machine the next job arrives while this thread yields, which saves a sleep and a
            // wake-up.
            state.idle += 1;
            drop(state);
            thread::yield_now();
            state = self.state.lock_anyway();
            state.idle -= 1;
        }
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            if state.is_closed {
                return None;
            }
            state.idle += 1;
            let woken = self.work.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }
}

impl<Local> fmt::Debug for ThreadPool<Local> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ThreadPool")
            .field("name", &self.name)
            .field("max_threads", &self.max_threads)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn every_job_runs_on_at_most_the_allowed_threads() {
        let begun = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&begun);
        let pool = ThreadPool::new("test", 3, move || {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        let (sender, done) = channel();
        for number in 0..20 {
            let sender = sender.clone();
            let job = pool.run(Box::new(move |()| sender.send(number).unwrap()));
            assert!(job.is_ok());
        }
        drop(pool);
        drop(sender);
        // Jobs that waited when the pool was dropped have also run.
        let mut numbers: Vec<i32> = done.iter().collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..20).collect::<Vec<_>>());
        assert!((1..=3).contains(&begun.load(Ordering::Relaxed)));
    }
}
