//! The way of a call: prepared and supervised by the calling thread, started by a spawner thread.

use std::path::PathBuf;

use super::{CancelToken, Command, Finished, SpawnError};
#[cfg(unix)]
use super::{
    group::Group, live_groups, live_groups::Registration, pipes::PipeMaker,
    spawner_pool::SpawnerPool, start, start::Start, supervise::supervise,
};

/// A few long-lived threads that start children with `posix_spawn`. The next room up never forks.
/// The threads end when this is dropped; a child never outlives the call that runs it.
#[derive(Debug)]
pub struct Spawners {
    #[cfg(unix)]
    pool: SpawnerPool,
    #[cfg(unix)]
    pipes: PipeMaker,
    spill_directory: PathBuf,
}

impl Spawners {
    /// A pool of at most `threads` spawner threads (at least one), each started when first needed.
    /// Each is busy from a child's start to its exec; two for each processor keep up with any
    /// number of calling threads.
    /// Long outputs spill to the system's directory for temporary files.
    pub fn new(threads: usize) -> Self {
        #[cfg(not(unix))]
        let _ = threads;
        Self {
            #[cfg(unix)]
            pool: SpawnerPool::new(threads),
            #[cfg(unix)]
            pipes: PipeMaker::default(),
            spill_directory: std::env::temp_dir(),
        }
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

    /// Runs a program to its end on behalf of the calling thread: starts it on a spawner thread,
    /// captures its output, ends it (TERM to the group, grace, KILL) on timeout or when `cancel`
    /// fires.
    ///
    /// What the program leaves behind when it ends by itself, holding a pipe or not, has `drain`
    /// to finish; then it is ended in the same way. So no member of its group outlives the call,
    /// nor does a descendant with a session of its own whose parents still lived when the group
    /// was ended. (Before Linux 6.9 and elsewhere a rest that holds no pipe is killed at once.)
    ///
    /// If `cancel` has fired already, nothing is run, and the child counts as ended by TERM.
    ///
    /// Input bytes go through a pipe: this process must ignore SIGPIPE, as Rust programs do.
    ///
    /// # Errors
    /// The program could not be started; nothing has run.
    #[cfg(unix)]
    pub fn run(&self, command: &Command, cancel: &CancelToken) -> Result<Finished, SpawnError> {
        if cancel.is_cancelled() {
            return Ok(Finished::never_started());
        }
        let (theirs, ours) = self
            .pipes
            .make(&command.stdin)
            .map_err(|source| start::system_error(command, source))?;
        let start = Start::prepare(command, theirs)?;
        let registration = Registration::before_start();
        let pid = self
            .pool
            .start(start)
            .map_err(|source| start::start_error(command, source))?;
        let group = Group::of(pid);
        let spill = &self.spill_directory;
        Ok(supervise(group, registration, ours, command, cancel, spill))
    }

    /// Children cannot be run on this system.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(unix))]
    pub fn run(&self, command: &Command, _: &CancelToken) -> Result<Finished, SpawnError> {
        let _ = &self.spill_directory;
        Err(SpawnError::System {
            program: command.program.clone(),
            source: std::io::Error::new(std::io::ErrorKind::Unsupported, "not supported"),
        })
    }

    /// Kills every child of this process that any `Spawners` runs, and those being started, with
    /// their groups. For our own exit: the calls return as soon as their children are gone, and
    /// report that these were ended by KILL.
    pub fn kill_all() {
        #[cfg(unix)]
        live_groups::kill_all();
    }
}
