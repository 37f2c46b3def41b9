//! Runs programs. The calling thread prepares and supervises a program, and a spawner thread starts it.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, OnceLock};

use rustix::process::Pid;

use super::Sandbox;
use super::command::{PipeMaker, StdioPipes};
use super::confinement::{
    Confinement, ConfinementReport, Enforcement, FileRulesEnforced, LaneOptions, NotEnforced,
    enter_lane, looks_denied,
};
#[cfg(not(sandbox))]
use super::no_sandbox::{SandboxSpawner, start_in_lane};
use super::posix_spawn::spawn;
use super::process_tree::ProcessTree;
#[cfg(sandbox)]
use super::sandbox::{SandboxSpawner, start_in_lane};
use super::scratch_directory::ScratchDirectory;
use super::start::{self, Start};
use super::supervise::supervise;
use super::supervisor::Supervisor;
use super::thread_pool::ThreadPool;
use super::{Command, Finished, SpawnError};
use turnpipe_core::io::{CancelToken, Lock};

/// A few long-lived threads that start children. Clones share the threads, which end with the last clone. A
/// child never outlives the call that runs it.
#[derive(Debug, Clone)]
pub struct Spawners {
    supervisor: Supervisor,
    pool: Arc<SpawnerPool>,
    pipes: Arc<PipeMaker>,
    spill_directory: PathBuf,
    /// The report about the children of one call; `None` without [`Spawners::for_one_call`].
    report: Option<Arc<Mutex<Option<ConfinementReport>>>>,
}

impl Supervisor {
    /// Creates at most `threads` spawner threads (at least one), each started when needed. A thread is busy
    /// from the start of a child to its exec, so two for each processor are enough for any number of calling
    /// threads. Long outputs spill to `/tmp`.
    pub fn spawners(&self, threads: usize) -> Spawners {
        Spawners::new(self, SpawnerPool::unrestricted(threads))
    }

    /// Creates spawner threads for the parallel lane. They restrict themselves before they start a child, so that no
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

    /// Creates a lane whose children restrict themselves in a sandbox.
    ///
    /// # Errors
    /// As in [`Supervisor::lane`].
    pub fn lane_in(
        &self,
        sandbox: &Arc<Sandbox>,
        options: &LaneOptions,
    ) -> Result<Spawners, NotEnforced> {
        let spawner = SandboxSpawner::for_lane(sandbox, options);
        let confinement = spawner.confinement.clone();
        match confinement.and_then(|confinement| confinement.missing) {
            Some(reason) if options.enforcement == Enforcement::Require => {
                Err(NotEnforced { reason })
            }
            _ => {
                let pool = SpawnerPool::sandboxed(spawner, options.temporary.clone());
                Ok(Spawners::new(self, pool))
            }
        }
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

    /// Returns the supervisor of all children.
    pub fn supervisor(&self) -> &Supervisor {
        &self.supervisor
    }

    /// Returns spawners of children in a sandbox.
    #[must_use]
    pub fn in_sandbox(self, sandbox: &Arc<Sandbox>) -> Self {
        let spawner = SandboxSpawner::for_calls(sandbox);
        Self {
            pool: Arc::new(SpawnerPool::sandboxed(spawner, None)),
            ..self
        }
    }

    /// Whether the kernel prevents the children from writing; always `false` outside a lane. The first call
    /// starts a thread.
    pub fn is_enforced(&self) -> bool {
        self.pool.is_enforced()
    }

    /// Returns spawners whose children have long outputs in unlinked files in `directory`. If no file can be created
    /// there, the head and the tail of an output are kept in memory.
    #[must_use]
    pub fn with_spill_directory(self, directory: PathBuf) -> Self {
        Self {
            spill_directory: directory,
            ..self
        }
    }

    /// Returns spawners of the children of one call, with a separate [`Spawners::confinement_report`].
    #[must_use]
    pub fn for_one_call(&self) -> Self {
        Self {
            report: Some(Arc::default()),
            ..self.clone()
        }
    }

    /// Returns the confinement of the children that ran since [`Spawners::for_one_call`]; `None` if there were none, or
    /// outside a lane and a sandbox.
    pub fn confinement_report(&self) -> Option<ConfinementReport> {
        self.report.as_ref()?.lock_anyway().clone()
    }

    /// Adds the confinement of a child to the report.
    fn add_to_report(&self, of_child: ConfinementReport) {
        if let Some(report) = &self.report {
            let mut merged = report.lock_anyway();
            *merged = Some(match merged.take() {
                None => of_child,
                Some(before) => before.merge(of_child),
            });
        }
    }

    /// Runs a program to its end: starts it, captures its output, and ends it (SIGTERM to the group, SIGKILL
    /// after the grace period) on timeout or when `cancel` fires.
    ///
    /// Processes that survive the end of the program have the drain time to finish, and are then ended in the same way.
    /// So no member of its group outlives the call, nor a descendant in a session of its own whose parents were alive
    /// when the group was ended. On systems other than Linux, processes that hold no pipe are killed at once.
    ///
    /// If `cancel` has fired already, nothing runs, and the result is that of a child that SIGTERM ended.
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
        stdio: Option<StdioPipes>,
        cancel: &CancelToken,
    ) -> Result<Finished, SpawnError> {
        if cancel.is_cancelled() {
            return Ok(Finished::cancelled_before_start());
        }
        let (theirs, ours) = self
            .pipes
            .create_pipes(command)
            .and_then(|(theirs, ours)| match stdio {
                Some(stdio) => Ok((theirs.with_stdio(stdio)?, ours)),
                None => Ok((theirs, ours)),
            })
            .map_err(|source| start::system_error(command, source))?;
        let mut start = Start::prepare(command, theirs)?;
        let temporary = self.pool.temporary_directory();
        if let Some(directory) = &temporary {
            let set = start.set_variable("TMPDIR".as_ref(), directory.path().as_os_str());
            set.map_err(|source| start::system_error(command, source))?;
        }
        let registration = self.supervisor.register();
        let started = self.pool.start(start);
        let StartedChild {
            leader,
            confinement,
            file_rules,
        } = started.map_err(|source| start::start_error(command, source))?;
        let is_confined = confinement.as_ref().is_some_and(Confinement::is_effective);
        let tree = ProcessTree::new(leader, self.adopts_orphans());
        let spill = &self.spill_directory;
        let finished = supervise(tree, registration, ours, command, cancel, spill);
        if let Some(directory) = temporary {
            self.pool.recycle(directory);
        }
        if confinement.is_some() || file_rules.is_some() {
            let may_be_denied = is_confined || file_rules.is_some();
            self.add_to_report(ConfinementReport {
                confinement,
                file_rules,
                looks_denied: may_be_denied && looks_denied(&finished),
            });
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

/// A few threads that start children.
#[derive(Debug)]
pub(super) struct SpawnerPool {
    /// The threads, each with the confinement of its children (`None` outside a lane) or the reason for a failure.
    threads: ThreadPool<Result<Option<Confinement>, String>>,
    starter: Starter,
    /// Whether the kernel confines the children, once that was checked.
    enforced: OnceLock<bool>,
    /// The directory where children may write; each gets a subdirectory.
    temporary: Option<PathBuf>,
    /// Empty directories of children that have ended.
    empty_directories: Mutex<Vec<ScratchDirectory>>,
}

/// The threads that may start children, and the way in which they do.
#[derive(Debug)]
enum Starter {
    SpawnerThread,
    /// Any thread, with the confinement of the children.
    AnyThread(Option<Confinement>),
    /// Any thread; each child enters the sandbox and restricts itself.
    Sandbox(Arc<SandboxSpawner>),
}

/// A child that was started.
#[derive(Debug)]
pub(super) struct StartedChild {
    pub(super) leader: Pid,
    /// The confinement by a lane; `None` outside a lane.
    pub(super) confinement: Option<Confinement>,
    /// The enforcement of file rules; `None` outside a sandbox.
    pub(super) file_rules: Option<FileRulesEnforced>,
}

impl SpawnerPool {
    /// Creates a pool without restrictions.
    pub(super) fn unrestricted(threads: usize) -> Self {
        Self {
            threads: ThreadPool::new("spawner", threads, || Ok(None)),
            starter: Starter::AnyThread(None),
            enforced: OnceLock::new(),
            temporary: None,
            empty_directories: Mutex::default(),
        }
    }

    /// Creates a pool whose threads restrict themselves when they start.
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

    /// Creates a pool for children in a sandbox. Those of the lane may write only to `temporary`. The pool has one
    /// thread, which starts the children of the first thread.
    fn sandboxed(spawner: SandboxSpawner, temporary: Option<PathBuf>) -> Self {
        Self {
            starter: Starter::Sandbox(Arc::new(spawner)),
            temporary,
            ..Self::unrestricted(1)
        }
    }

    /// Returns a directory for the temporary files of one child; `None` outside a lane, or if it cannot be
    /// created.
    pub(super) fn temporary_directory(&self) -> Option<ScratchDirectory> {
        let parent = self.temporary.as_ref()?;
        let empty = self.empty_directories.lock_anyway().pop();
        empty.or_else(|| ScratchDirectory::new_in(parent).ok())
    }

    /// Keeps the directory of a child that has ended for another child, or removes it if it is not empty. Most children
    /// leave nothing, and creating a directory takes a tenth of the time of a short call.
    pub(super) fn recycle(&self, directory: ScratchDirectory) {
        let entries = std::fs::read_dir(directory.path());
        if entries.is_ok_and(|mut entries| entries.next().is_none()) {
            self.empty_directories.lock_anyway().push(directory);
        }
    }

    /// Starts a child, and closes its descriptors in this process.
    ///
    /// # Errors
    /// The child or a thread for it cannot be started, or the required enforcement is not supported.
    pub(super) fn start(&self, start: Start) -> io::Result<StartedChild> {
        if let Starter::Sandbox(spawner) = &self.starter {
            return self.start_inside(spawner, start);
        }
        let spawn_here = move |confinement: &Option<Confinement>| {
            let is_confined = confinement.as_ref().is_some_and(Confinement::is_effective);
            let leader = if is_confined {
                start_in_lane(&start)
            } else {
                spawn(&start)
            };
            Ok(StartedChild {
                leader: leader?,
                confinement: confinement.clone(),
                file_rules: None,
            })
        };
        match &self.starter {
            Starter::AnyThread(confinement) if !is_first_thread() => spawn_here(confinement),
            _ => self.run_on_thread(spawn_here),
        }
    }

    /// Starts a child in a sandbox.
    fn start_inside(
        &self,
        spawner: &Arc<SandboxSpawner>,
        start: Start,
    ) -> io::Result<StartedChild> {
        let in_thread = Arc::clone(spawner);
        let spawn_inside = move |_: &_| in_thread.start(start);
        let leader = if is_first_thread() {
            self.run_on_thread(spawn_inside)
        } else {
            spawn_inside(&None)
        };
        Ok(StartedChild {
            leader: leader?,
            confinement: spawner.confinement.clone(),
            file_rules: Some(spawner.file_rules()),
        })
    }

    /// Checks that a thread can restrict itself as required, without starting a child.
    ///
    /// # Errors
    /// As in [`SpawnerPool::start`].
    pub(super) fn check(&self) -> io::Result<()> {
        self.run_on_thread(|_| Ok(()))
    }

    /// Whether the kernel prevents children from writing. The first call starts a thread.
    pub(super) fn is_enforced(&self) -> bool {
        *self.enforced.get_or_init(|| {
            let is_complete = |confinement: &Option<Confinement>| {
                Ok(confinement.as_ref().is_some_and(Confinement::is_complete))
            };
            match &self.starter {
                Starter::Sandbox(spawner) => is_complete(&spawner.confinement),
                _ => self.run_on_thread(is_complete),
            }
            .unwrap_or(false)
        })
    }

    /// Runs a function on a spawner thread, and returns its result.
    ///
    /// # Errors
    /// No thread can be started or restricted, or the function failed.
    fn run_on_thread<Output: Send + 'static>(
        &self,
        function: impl FnOnce(&Option<Confinement>) -> io::Result<Output> + Send + 'static,
    ) -> io::Result<Output> {
        let (sender, receiver) = sync_channel(1);
        let job = move |restricted: &Result<Option<Confinement>, String>| {
            let result = match restricted {
                Ok(confinement) => function(confinement),
                Err(reason) => Err(io::Error::other(reason.clone())),
            };
            // The calling thread always waits for the result.
            let _ = sender.send(result);
        };
        let queued = self.threads.run(Box::new(job));
        queued.map_err(|no_thread| no_thread.error)?;
        let result = receiver.recv();
        result.map_err(|_| io::Error::other("the spawner thread ended"))?
    }
}

/// Whether this is the first thread of the process, whose children may be orphans.
#[cfg(target_os = "linux")]
fn is_first_thread() -> bool {
    rustix::thread::gettid() == rustix::process::getpid()
}

/// Returns `false`: without adopted orphans, all threads are alike.
#[cfg(not(target_os = "linux"))]
fn is_first_thread() -> bool {
    false
}
