//! The threads that start children, and nothing else: waiting and reading is the calling threads'
//! business. So a spawner thread can be restricted.
//!
//! Without restrictions the calling thread starts its child itself, which saves waking another
//! thread and being woken by it. Only children of the first thread are not started there: what that
//! thread has as a child counts as an orphan (see `orphans`).

use std::ffi::{CString, OsStr};
use std::io;
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustix::process::Pid;
use tempfile::TempDir;

use super::posix_spawn::spawn;
use super::start::{Start, variable};
use super::thread_pool::ThreadPool;
use super::{Confinement, Enforcement, LaneOptions, lane};

/// A few threads that start children.
#[derive(Debug)]
pub(super) struct SpawnerPool {
    threads: ThreadPool<Result<Restricted, String>>,
    starter: Starter,
    /// Whether the kernel confines its children, once somebody has asked.
    enforced: OnceLock<bool>,
    /// The private directories of the threads, which cannot remove them themselves.
    temporaries: Arc<Mutex<Vec<TempDir>>>,
}

/// Which threads may start the children.
#[derive(Debug)]
enum Starter {
    SpawnerThread,
    /// Any; with what is known of the children's confinement.
    AnyThread(Option<Confinement>),
}

/// What a spawner thread knows of itself.
#[derive(Debug, Clone)]
struct Restricted {
    /// `None` outside of a lane.
    confinement: Option<Confinement>,
    /// `TMPDIR` for its children, the only place where they can write.
    temporary: Option<CString>,
}

/// A child that runs.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) leader: Pid,
    /// What is enforced on it; `None` outside of a lane.
    pub(super) confinement: Option<Confinement>,
}

impl SpawnerPool {
    /// A pool without restrictions.
    pub(super) fn unrestricted(threads: usize) -> Self {
        let unrestricted = Restricted {
            confinement: None,
            temporary: None,
        };
        Self {
            threads: ThreadPool::new("spawner", threads, move || Ok(unrestricted.clone())),
            starter: Starter::AnyThread(None),
            enforced: OnceLock::new(),
            temporaries: Arc::default(),
        }
    }

    /// A pool whose threads restrict themselves as they start.
    pub(super) fn lane(threads: usize, options: LaneOptions) -> Self {
        let is_free = options.enforcement == Enforcement::Off && options.temporary.is_none();
        let temporaries: Arc<Mutex<Vec<TempDir>>> = Arc::default();
        let made = Arc::clone(&temporaries);
        Self {
            threads: ThreadPool::new("spawner", threads, move || restrict(&options, &made)),
            starter: if is_free {
                Starter::AnyThread(Some(lane::switched_off()))
            } else {
                Starter::SpawnerThread
            },
            enforced: OnceLock::new(),
            temporaries,
        }
    }

    /// Has a child started. The child's descriptors are closed here by then.
    ///
    /// # Errors
    /// The system could not start it, or has no thread for it, or the thread could not restrict
    /// itself as it must.
    pub(super) fn start(&self, mut start: Start) -> io::Result<Started> {
        if let Starter::AnyThread(confinement) = &self.starter
            && !is_first_thread()
        {
            return Ok(Started {
                leader: spawn(&start)?,
                confinement: confinement.clone(),
            });
        }
        self.ask(move |restricted| {
            if let Some(temporary) = &restricted.temporary {
                start.set_variable(temporary);
            }
            Ok(Started {
                leader: spawn(&start)?,
                confinement: restricted.confinement.clone(),
            })
        })
    }

    /// Makes sure that a thread can restrict itself as it must, without starting a child.
    ///
    /// # Errors
    /// As for [`SpawnerPool::start`].
    pub(super) fn check(&self) -> io::Result<()> {
        self.ask(|_| Ok(()))
    }

    /// Whether a thread could restrict itself as far as it has to, so that no child can write.
    pub(super) fn is_enforced(&self) -> bool {
        *self.enforced.get_or_init(|| {
            let is_complete = |restricted: &Restricted| {
                let confinement = restricted.confinement.as_ref();
                Ok(confinement.is_some_and(Confinement::is_complete))
            };
            self.ask(is_complete).unwrap_or(false)
        })
    }

    fn ask<Answer: Send + 'static>(
        &self,
        question: impl FnOnce(&Restricted) -> io::Result<Answer> + Send + 'static,
    ) -> io::Result<Answer> {
        let (reply, answer) = sync_channel(1);
        let job = move |restricted: &Result<Restricted, String>| {
            let result = match restricted {
                Ok(restricted) => question(restricted),
                Err(reason) => Err(io::Error::other(reason.clone())),
            };
            // The calling thread always waits for it.
            let _ = reply.send(result);
        };
        self.threads
            .run(Box::new(job))
            .map_err(|no_thread| no_thread.error)?;
        answer
            .recv()
            .map_err(|_| io::Error::other("the spawner thread ended"))?
    }
}

impl Drop for SpawnerPool {
    fn drop(&mut self) {
        let mut temporaries = self
            .temporaries
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        temporaries.clear();
    }
}

fn restrict(options: &LaneOptions, made: &Mutex<Vec<TempDir>>) -> Result<Restricted, String> {
    let directory = options.temporary.as_deref().map(private_directory);
    let directory = directory.transpose().map_err(|error| error.to_string())?;
    let temporary = directory
        .as_ref()
        .map(|directory| variable(OsStr::new("TMPDIR"), directory.path().as_os_str()))
        .transpose()
        .map_err(|error| error.to_string())?;
    let writable = directory.as_ref().map(TempDir::path);
    let confinement = lane::enter(options.enforcement, writable)?;
    made.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .extend(directory);
    Ok(Restricted {
        confinement: Some(confinement),
        temporary,
    })
}

fn private_directory(parent: &Path) -> io::Result<TempDir> {
    tempfile::Builder::new().prefix("lane-").tempdir_in(parent)
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
