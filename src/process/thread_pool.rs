//! Threads that are started when there is work for them, and kept.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::{fmt, io, thread};

/// A piece of work, which sees what its thread made for itself.
pub type Job<Local> = Box<dyn FnOnce(&Local) + Send>;

/// At most a given number of threads, each started when no other is idle. When this is dropped,
/// waiting jobs are still done, then the threads end. Dropping does not wait for them.
pub struct ThreadPool<Local = ()> {
    name: &'static str,
    most: usize,
    shared: Arc<Shared<Local>>,
}

struct Shared<Local> {
    /// What each thread does first.
    enter: Box<dyn Fn() -> Local + Send + Sync>,
    state: Mutex<State<Local>>,
    work: Condvar,
}

struct State<Local> {
    jobs: VecDeque<Job<Local>>,
    threads: usize,
    idle: usize,
    closed: bool,
}

/// The system grants no first thread.
pub struct NoThread<Local> {
    /// What the system said.
    pub error: io::Error,
    /// The job, which was not done.
    pub job: Job<Local>,
}

impl<Local: 'static> ThreadPool<Local> {
    /// A pool without a thread. It will have at most `most` of them, at least one; each begins with
    /// `enter`.
    pub fn new(
        name: &'static str,
        most: usize,
        enter: impl Fn() -> Local + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            most: most.max(1),
            shared: Arc::new(Shared {
                enter: Box::new(enter),
                state: Mutex::new(State {
                    jobs: VecDeque::new(),
                    threads: 0,
                    idle: 0,
                    closed: false,
                }),
                work: Condvar::new(),
            }),
        }
    }

    /// Has a job done soon.
    ///
    /// # Errors
    /// There is no thread, and none can be had.
    pub fn run(&self, job: Job<Local>) -> Result<(), NoThread<Local>> {
        let mut state = self.shared.lock();
        if state.jobs.len() >= state.idle && state.threads < self.most {
            let shared = Arc::clone(&self.shared);
            let thread = thread::Builder::new()
                .name(self.name.to_owned())
                .spawn(move || shared.serve());
            match thread {
                Ok(_) => state.threads += 1,
                // Those that there are do it.
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
        self.shared.lock().closed = true;
        self.shared.work.notify_all();
    }
}

impl<Local> Shared<Local> {
    fn lock(&self) -> MutexGuard<'_, State<Local>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self) {
        let local = (self.enter)();
        while let Some(job) = self.next_job() {
            job(&local);
        }
    }

    fn next_job(&self) -> Option<Job<Local>> {
        let mut state = self.lock();
        if state.jobs.is_empty() && !state.closed {
            // Where all processors are busy, the next job is there when it is this thread's turn
            // again, and no thread has to sleep and be woken.
            state.idle += 1;
            drop(state);
            thread::yield_now();
            state = self.lock();
            state.idle -= 1;
        }
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            if state.closed {
                return None;
            }
            state.idle += 1;
            state = self
                .work
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }
}

impl<Local> fmt::Debug for ThreadPool<Local> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ThreadPool")
            .field("name", &self.name)
            .field("most", &self.most)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn there_are_as_many_threads_as_there_is_work_and_never_more_than_allowed() {
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
        // Those that waited when the pool was dropped are done, too.
        let mut numbers: Vec<i32> = done.iter().collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..20).collect::<Vec<_>>());
        assert!((1..=3).contains(&begun.load(Ordering::Relaxed)));
    }
}
