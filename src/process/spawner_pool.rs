//! The threads that start children, and nothing else: waiting and reading is the calling threads'
//! business. So a spawner thread can be restricted.
//!
//! Without restrictions the calling thread starts its child itself, which saves waking another
//! thread and being woken by it. Only children of the first thread are not started there: what that
//! thread has as a child counts as an orphan (see `orphans`).

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::process::Pid;
use tempfile::TempDir;

use super::posix_spawn::spawn;
use super::start::Start;
use super::thread_pool::ThreadPool;
use super::{Confinement, Enforcement, LaneOptions, lane};

/// A few threads that start children.
#[derive(Debug)]
pub(super) struct SpawnerPool {
    /// Each knows how its children are confined: `None` outside of a lane.
    threads: ThreadPool<Result<Option<Confinement>, String>>,
    starter: Starter,
    /// Whether the kernel confines its children, once somebody has asked.
    enforced: OnceLock<bool>,
    /// Where children may write; each gets a directory of its own there.
    temporary: Option<PathBuf>,
    /// Directories of children that have ended.
    empty_directories: Mutex<Vec<TempDir>>,
}

/// Which threads may start the children.
#[derive(Debug)]
enum Starter {
    SpawnerThread,
    /// Any; with what is known of the children's confinement.
    AnyThread(Option<Confinement>),
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
        Self {
            threads: ThreadPool::new("spawner", threads, || Ok(None)),
            starter: Starter::AnyThread(None),
            enforced: OnceLock::new(),
            temporary: None,
            empty_directories: Mutex::default(),
        }
    }

    /// A pool whose threads restrict themselves as they start.
    pub(super) fn lane(threads: usize, options: LaneOptions) -> Self {
        let starter = match options.enforcement {
            Enforcement::Off => Starter::AnyThread(Some(lane::switched_off())),
            Enforcement::Auto | Enforcement::Require => Starter::SpawnerThread,
        };
        let temporary = options.temporary.clone();
        let restrict =
            move || lane::enter(options.enforcement, options.temporary.as_deref()).map(Some);
        Self {
            threads: ThreadPool::new("spawner", threads, restrict),
            starter,
            temporary,
            empty_directories: Mutex::default(),
            enforced: OnceLock::new(),
        }
    }

    /// A directory for the temporary files of one child; none outside of a lane, or if none can be
    /// made.
    pub(super) fn temporary_directory(&self) -> Option<TempDir> {
        let parent = self.temporary.as_ref()?;
        let empty = lock(&self.empty_directories).pop();
        empty.or_else(|| tempfile::tempdir_in(parent).ok())
    }

    /// Takes the directory of a child that has ended, and removes what the child left in it. Nearly
    /// none leaves anything, and making a directory for each call would take a tenth of a short one.
    pub(super) fn give_back(&self, directory: TempDir) {
        let entries = std::fs::read_dir(directory.path());
        if entries.is_ok_and(|mut entries| entries.next().is_none()) {
            lock(&self.empty_directories).push(directory);
        }
    }

    /// Has a child started. The child's descriptors are closed here by then.
    ///
    /// # Errors
    /// The system could not start it, or has no thread for it, or the thread could not restrict
    /// itself as it must.
    pub(super) fn start(&self, start: Start) -> io::Result<Started> {
        if let Starter::AnyThread(confinement) = &self.starter
            && !is_first_thread()
        {
            return Ok(Started {
                leader: spawn(&start)?,
                confinement: confinement.clone(),
            });
        }
        self.ask(move |confinement| {
            Ok(Started {
                leader: spawn(&start)?,
                confinement: confinement.clone(),
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
            let is_complete = |confinement: &Option<Confinement>| {
                Ok(confinement.as_ref().is_some_and(Confinement::is_complete))
            };
            self.ask(is_complete).unwrap_or(false)
        })
    }

    fn ask<Answer: Send + 'static>(
        &self,
        question: impl FnOnce(&Option<Confinement>) -> io::Result<Answer> + Send + 'static,
    ) -> io::Result<Answer> {
        let (reply, answer) = sync_channel(1);
        let job = move |entered: &Result<Option<Confinement>, String>| {
            let result = match entered {
                Ok(confinement) => question(confinement),
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

fn lock(directories: &Mutex<Vec<TempDir>>) -> MutexGuard<'_, Vec<TempDir>> {
    directories.lock().unwrap_or_else(PoisonError::into_inner)
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
