//! The threads that start children. The calling threads read and wait, so that a spawner thread can be
//! restricted.
//!
//! Without restrictions the calling thread starts the child itself, which saves two wake-ups. The first
//! thread never starts children: its children count as orphans (see `orphans`).

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::process::Pid;
use tempfile::TempDir;

use super::confinement::{Confinement, Enforcement, LaneOptions, enter_lane};
use super::posix_spawn::spawn;
use super::start::Start;
use super::thread_pool::ThreadPool;

/// A few threads that start children.
#[derive(Debug)]
pub(super) struct SpawnerPool {
    /// Each thread keeps the confinement of its children: `None` outside a lane.
    threads: ThreadPool<Result<Option<Confinement>, String>>,
    starter: Starter,
    /// Whether the kernel confines the children, once that was asked.
    enforced: OnceLock<bool>,
    /// The directory where children may write; each gets a subdirectory.
    temporary: Option<PathBuf>,
    /// Empty directories of children that have ended.
    empty_directories: Mutex<Vec<TempDir>>,
}

/// The threads that may start children.
#[derive(Debug)]
enum Starter {
    SpawnerThread,
    /// Any, with the confinement of the children.
    AnyThread(Option<Confinement>),
}

/// A child that was started.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) leader: Pid,
    /// Its confinement; `None` outside a lane.
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
            Enforcement::Off => Starter::AnyThread(Some(Confinement::switched_off())),
            Enforcement::Auto | Enforcement::Require => Starter::SpawnerThread,
        };
        let temporary = options.temporary.clone();
        let restrict =
            move || enter_lane(options.enforcement, options.temporary.as_deref()).map(Some);
        Self {
            threads: ThreadPool::new("spawner", threads, restrict),
            starter,
            temporary,
            empty_directories: Mutex::default(),
            enforced: OnceLock::new(),
        }
    }

    /// A directory for the temporary files of one child; `None` outside a lane, or if it cannot be created.
    pub(super) fn temporary_directory(&self) -> Option<TempDir> {
        let parent = self.temporary.as_ref()?;
        let empty = lock(&self.empty_directories).pop();
        empty.or_else(|| tempfile::tempdir_in(parent).ok())
    }

    /// Recycles the directory of a child that has ended, or removes it if it is not empty. Most children leave
    /// nothing, and creating a directory takes a tenth of the time of a short call.
    pub(super) fn recycle(&self, directory: TempDir) {
        let entries = std::fs::read_dir(directory.path());
        if entries.is_ok_and(|mut entries| entries.next().is_none()) {
            lock(&self.empty_directories).push(directory);
        }
    }

    /// Starts a child, and closes its descriptors in this process.
    ///
    /// # Errors
    /// The system cannot start it, has no thread for it, or does not support the required enforcement.
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

    /// Checks that a thread can restrict itself as required, without starting a child.
    ///
    /// # Errors
    /// As for [`SpawnerPool::start`].
    pub(super) fn check(&self) -> io::Result<()> {
        self.ask(|_| Ok(()))
    }

    /// Whether the kernel keeps children from writing. The first call starts a thread.
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
            // The calling thread always waits for the reply.
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

/// Without adopted orphans, no thread is special.
#[cfg(not(target_os = "linux"))]
fn is_first_thread() -> bool {
    false
}
