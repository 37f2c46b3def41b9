//! Running a program: prepared and supervised by the calling thread, started by a spawner thread.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::confinement::looks_denied;
use super::live_calls::{self, Registration};
use super::pipes::PipeMaker;
use super::process_tree::ProcessTree;
use super::spawner_pool::SpawnerPool;
use super::start::{self, Start};
use super::supervise::supervise;
use super::{
    Command, Confinement, Conversation, Enforcement, Finished, NotEnforced, SpawnError, Witnessed,
};
use crate::io::CancelToken;

/// A few long-lived threads that start children. They end when the last of the clones that share
/// them is dropped; a child never outlives the call that runs it.
#[derive(Debug, Clone)]
pub struct Spawners {
    pool: Arc<SpawnerPool>,
    pipes: Arc<PipeMaker>,
    spill_directory: PathBuf,
    witness: Option<Arc<Mutex<Option<Witnessed>>>>,
}

/// How the parallel lane's children are restricted.
#[derive(Debug, Clone)]
pub struct LaneOptions {
    /// What the kernel is asked for.
    pub enforcement: Enforcement,
    /// The only directory where they can write. Each finds a directory of its own in it as `TMPDIR`,
    /// which goes when it has ended.
    pub temporary: Option<PathBuf>,
}

impl Spawners {
    /// A pool of at most `threads` spawner threads (at least one), each started when first needed.
    /// Each is busy from a child's start to its exec; two for each processor keep up with any
    /// number of calling threads.
    /// Long outputs spill to `/tmp`.
    pub fn new(threads: usize) -> Self {
        Self::with_pool(SpawnerPool::unrestricted(threads))
    }

    fn with_pool(pool: SpawnerPool) -> Self {
        Self {
            pool: Arc::new(pool),
            pipes: Arc::default(),
            spill_directory: PathBuf::from("/tmp"),
            witness: None,
        }
    }

    /// A pool for the parallel lane: its threads restrict themselves before they start anything,
    /// so that no child can change a file, use a socket, or signal what is not its own. With
    /// [`Enforcement::Auto`] only if the kernel supports it, see [`Spawners::witnessed`].
    ///
    /// # Errors
    /// Enforcement is required, and the kernel does not do it.
    pub fn lane(threads: usize, options: LaneOptions) -> Result<Self, NotEnforced> {
        let is_required = options.enforcement == Enforcement::Require;
        let pool = SpawnerPool::lane(threads, options);
        if is_required {
            pool.check().map_err(|error| NotEnforced {
                reason: error.to_string(),
            })?;
        }
        Ok(Self::with_pool(pool))
    }

    /// Whether the kernel keeps the children from writing; what is not a lane keeps them from nothing.
    /// The first question starts a thread.
    pub fn is_enforced(&self) -> bool {
        self.pool.is_enforced()
    }

    /// The same, with long outputs spilling to unlinked files in `directory`. If none can be
    /// created there, head and tail of an output are kept in memory.
    #[must_use]
    pub fn with_spill_directory(self, directory: PathBuf) -> Self {
        Self {
            spill_directory: directory,
            ..self
        }
    }

    /// The same threads for the children of one call, with separate memory for
    /// [`Spawners::witnessed`].
    #[must_use]
    pub fn for_one_call(&self) -> Self {
        Self {
            witness: Some(Arc::default()),
            ..self.clone()
        }
    }

    /// What was enforced on the children that were run through this [`Spawners::for_one_call`];
    /// `None` if there were none, or if these are not a lane's threads.
    pub fn witnessed(&self) -> Option<Witnessed> {
        let witness = self.witness.as_ref()?;
        let witnessed = witness.lock().unwrap_or_else(PoisonError::into_inner);
        witnessed.clone()
    }

    fn witness(&self, confinement: Confinement, denied: bool) {
        let Some(witness) = &self.witness else { return };
        let mut witnessed = witness.lock().unwrap_or_else(PoisonError::into_inner);
        *witnessed = Some(match witnessed.take() {
            None => Witnessed {
                confinement,
                looks_denied: denied,
            },
            Some(before) => Witnessed {
                confinement: before.confinement.weaker(confinement),
                looks_denied: before.looks_denied | denied,
            },
        });
    }

    /// Runs a program to its end on behalf of the calling thread: starts it on a spawner thread,
    /// captures its output, ends it (TERM to the group, grace, KILL) on timeout or when `cancel`
    /// fires.
    ///
    /// What the program leaves behind when it ends by itself, holding a pipe or not, has `drain`
    /// to finish; then it is ended in the same way. So no member of its group outlives the call,
    /// nor does a descendant with its own session whose parents still lived when the group
    /// was ended. (Elsewhere than on Linux what holds no pipe is killed at once.)
    ///
    /// If `cancel` has fired already, nothing is run, and the child counts as ended by TERM.
    ///
    /// Input bytes go through a pipe: this process must ignore SIGPIPE, as Rust programs do.
    ///
    /// # Errors
    /// The program could not be started; nothing has run.
    pub fn run(&self, command: &Command, cancel: &CancelToken) -> Result<Finished, SpawnError> {
        self.run_with(command, None, cancel)
    }

    /// Runs a command whose input and output somebody else holds the other ends of; only its stderr
    /// is captured.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn run_with(
        &self,
        command: &Command,
        conversation: Option<Conversation>,
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
        let registration = Registration::before_start();
        let started = self
            .pool
            .start(start)
            .map_err(|source| start::start_error(command, source))?;
        let tree = ProcessTree::of(started.leader);
        let spill = &self.spill_directory;
        let finished = supervise(tree, registration, ours, command, cancel, spill);
        if let Some(directory) = temporary {
            self.pool.give_back(directory);
        }
        if let Some(confinement) = started.confinement {
            let enforces = confinement.landlock_abi.is_some() || confinement.seccomp;
            self.witness(confinement, enforces && looks_denied(&finished));
        }
        Ok(finished)
    }

    /// Kills every child of this process that any `Spawners` runs, and those being started, with
    /// their groups. For our own exit: the calls return as soon as their children are gone, and
    /// report that these were ended by KILL.
    pub fn kill_all() {
        live_calls::kill_all();
    }
}
