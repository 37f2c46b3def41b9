//! Running a program. The calling thread prepares and supervises it, a spawner thread starts it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::confinement::{
    Confinement, ConfinementReport, Enforcement, LaneOptions, NotEnforced, looks_denied,
};
use super::pipes::{PipeMaker, StdioPipes};
use super::process_tree::ProcessTree;
use super::spawner_pool::SpawnerPool;
use super::start::{self, Start};
use super::supervise::supervise;
use super::supervisor::Supervisor;
use super::{Command, Finished, SpawnError};
use crate::io::CancelToken;

/// A few long-lived threads that start children. Clones share the threads, which end with the last clone. A
/// child never outlives the call that runs it.
#[derive(Debug, Clone)]
pub struct Spawners {
    supervisor: Supervisor,
    pool: Arc<SpawnerPool>,
    pipes: Arc<PipeMaker>,
    spill_directory: PathBuf,
    report: Option<Arc<Mutex<Option<ConfinementReport>>>>,
}

impl Supervisor {
    /// At most `threads` spawner threads (at least one), each started when it is needed. A thread is busy
    /// from the start of a child to its exec, so two for each processor are enough for any number of calling
    /// threads. Long outputs spill to `/tmp`.
    pub fn spawners(&self, threads: usize) -> Spawners {
        Spawners::new(self, SpawnerPool::unrestricted(threads))
    }

    /// Spawner threads for the parallel lane. They restrict themselves before they start a child, so that no
    /// child can change a file, use a socket, or signal other processes. With [`Enforcement::Auto`] that
    /// depends on the kernel, see [`Spawners::confinement_report`].
    ///
    /// # Errors
    /// Enforcement is required, and the kernel does not support it.
    pub fn lane(&self, threads: usize, options: LaneOptions) -> Result<Spawners, NotEnforced> {
        let is_required = options.enforcement == Enforcement::Require;
        let pool = SpawnerPool::lane(threads, options);
        if is_required {
            pool.check().map_err(|error| NotEnforced {
                reason: error.to_string(),
            })?;
        }
        Ok(Spawners::new(self, pool))
    }
}

impl Spawners {
    fn new(supervisor: &Supervisor, pool: SpawnerPool) -> Self {
        Self {
            supervisor: supervisor.clone(),
            pool: Arc::new(pool),
            pipes: Arc::default(),
            spill_directory: PathBuf::from("/tmp"),
            report: None,
        }
    }

    /// The supervisor of all children.
    pub fn supervisor(&self) -> &Supervisor {
        &self.supervisor
    }

    /// Whether the kernel keeps the children from writing; always `false` outside a lane. The first call
    /// starts a thread.
    pub fn is_enforced(&self) -> bool {
        self.pool.is_enforced()
    }

    /// The same threads, with long outputs spilling to unlinked files in `directory`. If no file can be
    /// created there, the head and the tail of an output are kept in memory.
    #[must_use]
    pub fn with_spill_directory(self, directory: PathBuf) -> Self {
        Self {
            spill_directory: directory,
            ..self
        }
    }

    /// The same threads for the children of one call, with a separate [`Spawners::confinement_report`].
    #[must_use]
    pub fn for_one_call(&self) -> Self {
        Self {
            report: Some(Arc::default()),
            ..self.clone()
        }
    }

    /// The confinement of the children that ran through this [`Spawners::for_one_call`]; `None` if there were
    /// none, or outside a lane.
    pub fn confinement_report(&self) -> Option<ConfinementReport> {
        let report = self.report.as_ref()?;
        let report = report.lock().unwrap_or_else(PoisonError::into_inner);
        report.clone()
    }

    fn add_to_report(&self, confinement: Confinement, denied: bool) {
        let Some(report) = &self.report else { return };
        let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
        *report = Some(match report.take() {
            None => ConfinementReport {
                confinement,
                looks_denied: denied,
            },
            Some(before) => ConfinementReport {
                confinement: before.confinement.weaker(confinement),
                looks_denied: before.looks_denied | denied,
            },
        });
    }

    /// Runs a program to its end: starts it, captures its output, and ends it (SIGTERM to the group, SIGKILL
    /// after the grace period) on timeout or when `cancel` fires.
    ///
    /// Processes that survive the program's own end have `drain` to finish and are then ended in the same
    /// way. So no member of its group outlives the call, nor a descendant with its own session whose parents
    /// lived when the group was ended. (On other systems than Linux, processes that hold no pipe are killed
    /// at once.)
    ///
    /// If `cancel` has fired already, nothing runs, and the child counts as ended by SIGTERM.
    ///
    /// Input is written to a pipe, so this process must ignore SIGPIPE, as Rust programs do.
    ///
    /// # Errors
    /// The program could not be started; nothing has run.
    pub fn run(&self, command: &Command, cancel: &CancelToken) -> Result<Finished, SpawnError> {
        self.run_with(command, None, cancel)
    }

    /// Runs a command whose standard input and output are the given descriptors. Only its standard error is
    /// captured.
    ///
    /// # Errors
    /// The program could not be started; nothing has run.
    pub fn run_with(
        &self,
        command: &Command,
        conversation: Option<StdioPipes>,
        cancel: &CancelToken,
    ) -> Result<Finished, SpawnError> {
        if cancel.is_cancelled() {
            return Ok(Finished::never_started());
        }
        let (theirs, ours) = self
            .pipes
            .make(command)
            .and_then(|(theirs, ours)| match conversation {
                Some(conversation) => Ok((theirs.with(conversation)?, ours)),
                None => Ok((theirs, ours)),
            })
            .map_err(|source| start::system_error(command, source))?;
        let mut start = Start::prepare(command, theirs)?;
        let temporary = self.pool.temporary_directory();
        if let Some(directory) = &temporary {
            start
                .set_variable("TMPDIR", directory.path().as_os_str())
                .map_err(|source| start::system_error(command, source))?;
        }
        let registration = self.supervisor.register();
        let started = self
            .pool
            .start(start)
            .map_err(|source| start::start_error(command, source))?;
        let tree = ProcessTree::new(started.leader, self.adopts_orphans());
        let spill = &self.spill_directory;
        let finished = supervise(tree, registration, ours, command, cancel, spill);
        if let Some(directory) = temporary {
            self.pool.recycle(directory);
        }
        if let Some(confinement) = started.confinement {
            let enforces = confinement.landlock_abi.is_some() || confinement.seccomp;
            self.add_to_report(confinement, enforces && looks_denied(&finished));
        }
        Ok(finished)
    }

    #[cfg(target_os = "linux")]
    fn adopts_orphans(&self) -> bool {
        self.supervisor.adopts_orphans()
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, reason = "like the one for Linux")]
    fn adopts_orphans(&self) -> bool {
        false
    }
}
