//! The spawner threads: each takes one prepared child after the other and starts it, nothing else.
//! Waiting and reading is the calling threads' business, so a spawner thread can be restricted.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rustix::process::Pid;

use super::start::Start;
use super::system_spawn::{Attributes, spawn};

/// A few threads, each started when there is work that no other takes.
#[derive(Debug)]
pub(super) struct SpawnerPool {
    most: usize,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Job>,
    idle: usize,
    threads: Vec<JoinHandle<()>>,
    closing: bool,
}

#[derive(Debug)]
struct Job {
    start: Start,
    reply: SyncSender<io::Result<Pid>>,
}

impl SpawnerPool {
    /// A pool of at most `threads` threads, at least one.
    pub(super) fn new(threads: usize) -> Self {
        Self {
            most: threads.max(1),
            shared: Arc::default(),
        }
    }

    /// Has a child started and returns its process id. The child's descriptors are closed here by
    /// then.
    ///
    /// # Errors
    /// The system could not start it, or could not give us a first thread.
    pub(super) fn start(&self, start: Start) -> io::Result<Pid> {
        let (reply, answer) = sync_channel(1);
        self.submit(Job { start, reply })?;
        answer
            .recv()
            .map_err(|_| io::Error::other("the spawner thread ended"))?
    }

    fn submit(&self, job: Job) -> io::Result<()> {
        let mut state = self.shared.lock();
        let wanted = state.waiting.len() + 1;
        if wanted > state.idle && state.threads.len() < self.most {
            let shared = Arc::clone(&self.shared);
            let thread = thread::Builder::new()
                .name("spawner".into())
                .spawn(move || shared.serve());
            match thread {
                Ok(thread) => state.threads.push(thread),
                // The threads there are will do.
                Err(_) if !state.threads.is_empty() => {}
                Err(error) => return Err(error),
            }
        }
        state.waiting.push_back(job);
        drop(state);
        self.shared.work.notify_one();
        Ok(())
    }
}

impl Drop for SpawnerPool {
    fn drop(&mut self) {
        let threads = {
            let mut state = self.shared.lock();
            state.closing = true;
            std::mem::take(&mut state.threads)
        };
        self.shared.work.notify_all();
        for thread in threads {
            // A spawner thread that panicked has nothing to tell any more.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A spawner thread's life.
    fn serve(&self) {
        let attributes = Attributes::new();
        while let Some(Job { start, reply }) = self.next_job() {
            let result = match &attributes {
                Ok(attributes) => spawn(attributes, &start),
                Err(error) => Err(io::Error::from(error.kind())),
            };
            // The child has its own copies: without this, its pipes would never be at their end.
            drop(start);
            // The calling thread always waits for the answer.
            let _ = reply.send(result);
        }
    }

    fn next_job(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.waiting.pop_front() {
                return Some(job);
            }
            if state.closing {
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
