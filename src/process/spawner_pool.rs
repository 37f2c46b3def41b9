//! The spawner threads: each takes one prepared child after the other and starts it, nothing else.
//! Waiting and reading is the calling threads' business, so a spawner thread can be restricted.
//!
//! A pool without restrictions has the calling thread start its child itself, which saves waking
//! another thread and being woken by it; only children of the first thread are not started there,
//! for what that thread has as a child counts as an orphan (see `orphans`).

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

use super::Confinement;
use super::lane::{Restricted, Restrictions, Starter, Temporary};
use super::start::{Spawned, Start};
use super::system_spawn::{Attributes, spawn};

/// A few threads, each started when there is work that no other takes.
#[derive(Debug)]
pub(super) struct SpawnerPool {
    most: usize,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    restrictions: Restrictions,
    /// For the calling threads of a pool without restrictions.
    attributes: OnceLock<io::Result<Attributes>>,
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Job>,
    idle: usize,
    threads: Vec<JoinHandle<Option<Temporary>>>,
    closing: bool,
}

#[derive(Debug)]
enum Job {
    Start {
        start: Start,
        reply: SyncSender<io::Result<Started>>,
    },
    /// Only to say what the thread may still do.
    Ask {
        reply: SyncSender<io::Result<Option<Confinement>>>,
    },
}

/// A child that runs.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) child: Spawned,
    /// What is enforced on it; `None` in a pool without restrictions.
    pub(super) confinement: Option<Confinement>,
}

impl SpawnerPool {
    /// A pool of at most `threads` threads, at least one, which restrict themselves as they start.
    pub(super) fn new(threads: usize, restrictions: Restrictions) -> Self {
        Self {
            most: threads.max(1),
            shared: Arc::new(Shared {
                restrictions,
                attributes: OnceLock::new(),
                state: Mutex::default(),
                work: Condvar::new(),
            }),
        }
    }

    /// Has a child started. The child's descriptors are closed here by then.
    ///
    /// # Errors
    /// The system could not start it, or could not give us a first thread, or the thread could not
    /// restrict itself as it must.
    pub(super) fn start(&self, start: Start) -> io::Result<Started> {
        if let Starter::AnyThread(confinement) = self.shared.restrictions.starter()
            && !is_first_thread()
        {
            let attributes = self.shared.attributes.get_or_init(Attributes::new);
            return Ok(Started {
                child: spawn(attributes.as_ref().map_err(again)?, &start)?,
                confinement,
            });
        }
        let (reply, answer) = sync_channel(1);
        self.submit(Job::Start { start, reply })?;
        answer.recv().map_err(|_| thread_ended())?
    }

    /// What is enforced on children, without starting one.
    ///
    /// # Errors
    /// As for [`SpawnerPool::start`].
    pub(super) fn confinement(&self) -> io::Result<Option<Confinement>> {
        let (reply, answer) = sync_channel(1);
        self.submit(Job::Ask { reply })?;
        answer.recv().map_err(|_| thread_ended())?
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
            // A spawner thread that panicked has nothing to tell any more. Its directory for
            // temporary files goes here, since it could not remove it itself.
            drop(thread.join());
        }
    }
}

#[cfg(target_os = "linux")]
fn is_first_thread() -> bool {
    rustix::thread::gettid() == rustix::process::getpid()
}

/// Without orphans that come to us, no thread is special.
#[cfg(not(target_os = "linux"))]
fn is_first_thread() -> bool {
    false
}

fn thread_ended() -> io::Error {
    io::Error::other("the spawner thread ended")
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A spawner thread's life.
    fn serve(&self) -> Option<Temporary> {
        let attributes = Attributes::new();
        let restricted = self.restrictions.enter();
        while let Some(job) = self.next_job() {
            match job {
                Job::Start { start, reply } => {
                    let result = start_one(&attributes, &restricted, start);
                    // The calling thread always waits for the answer.
                    let _ = reply.send(result);
                }
                Job::Ask { reply } => {
                    let confinement = restricted
                        .as_ref()
                        .map(|restricted| restricted.confinement.clone())
                        .map_err(again);
                    let _ = reply.send(confinement);
                }
            }
        }
        restricted.ok()?.temporary
    }

    fn next_job(&self) -> Option<Job> {
        let mut state = self.lock();
        if state.waiting.is_empty() && !state.closing {
            // Where all processors are busy, the next child is there when it is this thread's turn
            // again, and it need not sleep and be woken.
            state.idle += 1;
            drop(state);
            thread::yield_now();
            state = self.lock();
            state.idle -= 1;
        }
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

/// Takes the description with it: the child has copies of its descriptors, and its pipes would
/// never be at their end if ours stayed open.
fn start_one(
    attributes: &io::Result<Attributes>,
    restricted: &io::Result<Restricted>,
    mut start: Start,
) -> io::Result<Started> {
    let attributes = attributes.as_ref().map_err(again)?;
    let restricted = restricted.as_ref().map_err(again)?;
    if let Some(temporary) = &restricted.temporary {
        start.environment.set(c"TMPDIR", &temporary.variable);
    }
    Ok(Started {
        child: spawn(attributes, &start)?,
        confinement: restricted.confinement.clone(),
    })
}

/// The same error once more.
fn again(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}
