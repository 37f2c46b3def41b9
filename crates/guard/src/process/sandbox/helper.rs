//! The helper of a sandbox: a second process of this binary that enters namespaces with masks. The first half of this
//! file runs in the process that creates a sandbox, the second half in the helper.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::fs::MemfdFlags;
use rustix::thread::LinkNameSpaceType;

use super::descriptors::close_all_but;
use super::handover::{receive, send};
use super::init::{InitCommand, Processes, check_pid_namespace, run_in_pid_namespace};
use super::mask::{FileId, Mask};
use super::namespace::{SandboxPolicy, enter_sandbox};
use super::policy_bytes::{encode_policy, read_policy};
use super::privilege::Privilege;
use super::program::{SANDBOX_FAILED, exec_or_report, report};
use super::restrictions::Restrictions;
use super::sandbox_error::SandboxError;
use super::workspace::{keep_outermost, new_file_message, unmount_temporary};
use crate::process::network::{Network, ProxyStarter, RunningProxy};
use crate::process::{ScratchDirectory, forbid_inspection};

/// First argument of a helper that becomes a command.
const EXEC_ARGUMENT: &str = "__sandbox-exec";

/// First argument of a helper that waits until its parent has opened its namespaces.
const HOLD_ARGUMENT: &str = "__sandbox-hold";

/// First argument of a helper that runs a command in its workspace.
pub(super) const RUN_ARGUMENT: &str = "__sandbox-run";

/// First argument of a helper that runs the proxy of a command in a workspace.
const PROXY_ARGUMENT: &str = "__sandbox-proxy";

/// The gap in a workspace without a pid namespace.
pub(super) const PROCESSES_GAP: &str =
    "the command sees processes outside of the workspace, and may leave processes running";

/// The binary of this process.
pub(super) const PROGRAM: &str = "/proc/self/exe";

/// A command that a sandbox runs in place of this process.
#[derive(Debug)]
pub struct SandboxedCommand<'a> {
    /// The program (a path, or a name that is looked up in `PATH`) and its arguments.
    pub words: &'a [OsString],
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The directory, which is entered after the masks are mounted.
    pub directory: &'a Path,
    /// The descriptors above 2 that it keeps.
    pub kept_descriptors: &'a [RawFd],
}

/// Replaces this process by a command in a sandbox. Returns only on failure.
///
/// # Errors
/// The helper cannot be started. Failures in it end the process with status 125, 126 or 127.
pub fn exec_in_sandbox(policy: &SandboxPolicy, command: &SandboxedCommand<'_>) -> SandboxError {
    let become_helper = || -> io::Result<io::Error> {
        let memory = rustix::fs::memfd_create("turnpipe-masks", MemfdFlags::empty())?;
        let mut plan = File::from(memory);
        plan.write_all(&encode_policy(policy))?;
        plan.rewind()?;
        let kept = command.kept_descriptors.iter();
        let numbers: Vec<String> = kept.map(RawFd::to_string).collect();
        let mut helper = Command::new(PROGRAM);
        helper
            .arg0("turnpipe")
            .arg(EXEC_ARGUMENT)
            .arg(plan.as_raw_fd().to_string())
            .arg(numbers.join(","))
            .arg(command.directory)
            .args(command.words)
            .env_clear()
            .envs(command.environment.iter().cloned());
        Ok(helper.exec())
    };
    let error = become_helper().unwrap_or_else(|error| error);
    SandboxError::new("start the sandbox", error)
}

/// The namespaces of a sandbox. They exist as long as this value or a process in them.
#[derive(Debug)]
pub(super) struct MaskedNamespace {
    /// The namespaces, in the order in which they are entered.
    pub(super) namespaces: Vec<(LinkNameSpaceType, OwnedFd)>,
    /// The reason why commands in a workspace see processes outside it, if they do.
    pub(super) sees_processes: Option<String>,
    _proxy: Option<RunningProxy>,
}

impl MaskedNamespace {
    /// Creates namespaces by a helper of `program`, a binary of turnpipe, and starts a proxy if the policy has one.
    /// Must not be called on the first thread of a process that adopts orphans.
    ///
    /// # Errors
    /// The kernel refuses a namespace or a mount, or the helper or the proxy cannot be started.
    pub(super) fn new(program: &Path, policy: &SandboxPolicy) -> Result<Self, SandboxError> {
        let mut helper = start_helper(program, HOLD_ARGUMENT, policy).map_err(start_error)?;
        let opened = Self::open(helper.process.id(), &helper.socket, policy);
        // The helper ends when the socket is closed.
        drop(helper.socket);
        helper.process.wait().map_err(start_error)?;
        opened
    }

    /// Opens the namespaces of a helper when it reports that they are ready.
    fn open(
        helper: u32,
        socket: &UnixStream,
        policy: &SandboxPolicy,
    ) -> Result<Self, SandboxError> {
        let (answer, listener) = receive(socket).map_err(start_error)?;
        let Some(problem) = answer.strip_prefix(READY) else {
            return Err(SandboxError::from_message(&answer));
        };
        let open = |name: &str| -> Result<OwnedFd, SandboxError> {
            let file = File::open(format!("/proc/{helper}/ns/{name}"));
            Ok(file.map_err(start_error)?.into())
        };
        let workspace = policy.workspace.as_ref();
        let parts = [
            (Privilege::from_process() == Privilege::User)
                .then_some(("user", LinkNameSpaceType::User)),
            Some(("mnt", LinkNameSpaceType::Mount)),
            workspace.map(|_| ("ipc", LinkNameSpaceType::InterProcessCommunication)),
            (policy.network() != Network::On).then_some(("net", LinkNameSpaceType::Network)),
        ];
        let kinds = parts.into_iter().flatten();
        let namespaces = kinds.map(|(name, kind)| Ok((kind, open(name)?)));
        let start = |listener| {
            let workspace = workspace?;
            Some(workspace.start_proxy?(listener, &workspace.domains))
        };
        let proxy = listener.and_then(start).transpose();
        Ok(Self {
            namespaces: namespaces.collect::<Result<_, SandboxError>>()?,
            sees_processes: (!problem.is_empty()).then(|| problem.to_owned()),
            _proxy: proxy.map_err(start_error)?,
        })
    }
}

/// Describes an error while a helper is started.
fn start_error(error: io::Error) -> SandboxError {
    SandboxError::new("start the sandbox", error)
}

/// A helper, and a socket to it.
struct Helper {
    process: Child,
    socket: UnixStream,
}

/// Starts a helper of `program` with its first argument, and sends it a policy. Signals to the process group of this
/// process do not reach it.
///
/// # Errors
/// Resources are exhausted.
fn start_helper(program: &Path, argument: &str, policy: &SandboxPolicy) -> io::Result<Helper> {
    let (mut socket, theirs) = UnixStream::pair()?;
    let process = Command::new(program)
        .arg0("turnpipe")
        .arg(argument)
        .env_clear()
        .current_dir("/")
        .process_group(0)
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    socket.write_all(&encode_policy(policy))?;
    Ok(Helper { process, socket })
}

/// Prefix of the message of a helper whose namespaces can be opened. The reason why commands see processes outside
/// follows, if they do.
const READY: &str = "ready:";

/// Functions of other modules that a helper calls.
pub struct HelperCallbacks {
    /// Starts the proxy.
    pub start_proxy: ProxyStarter,
    /// Finds the files below directories that determine what programs run.
    pub find_protected: fn(&[PathBuf]) -> Vec<PathBuf>,
}

/// Runs the helper of a sandbox if `arguments`, which include the name of the program, say that this process is one.
/// The process must have one thread. Returns the status with which it must then exit.
pub fn run_as_sandbox_helper(arguments: &[OsString], callbacks: &HelperCallbacks) -> Option<u8> {
    match arguments {
        [_, first] if first == HOLD_ARGUMENT => Some(u8::from(wait_for_parent().is_err())),
        [_, first] if first == PROXY_ARGUMENT => {
            Some(u8::from(run_proxy(callbacks.start_proxy).is_err()))
        }
        [_, first, plan, kept, directory, words @ ..] if first == EXEC_ARGUMENT => {
            let number = plan.to_str().and_then(|number| number.parse().ok())?;
            let numbers = kept.to_str().unwrap_or_default().split(',');
            let kept: Vec<RawFd> = numbers.filter_map(|number| number.parse().ok()).collect();
            // SAFETY: the process that became this one passed the descriptor, and nothing else uses it.
            let plan = File::from(unsafe { OwnedFd::from_raw_fd(number) });
            let directory = Path::new(directory);
            Some(run_in_sandbox(plan, &kept, directory, words, callbacks))
        }
        [
            _,
            first,
            privilege,
            processes,
            directory,
            program,
            name,
            arguments @ ..,
        ] if first == RUN_ARGUMENT => {
            close_all_but(&[]);
            let command = InitCommand {
                program,
                name,
                arguments,
                directory: Path::new(directory),
                privilege: Privilege::from_name(privilege)?,
                processes: Processes::from_name(processes)?,
            };
            Some(run_in_workspace(&command, None))
        }
        _ => None,
    }
}

/// Enters the namespaces, reports that they are ready, and waits until the parent has opened them.
fn wait_for_parent() -> io::Result<()> {
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let entered = read_policy(&mut socket)
        .map_err(|error| SandboxError::new("read the policy", error))
        .and_then(|policy| {
            let privilege = Privilege::from_process();
            let listener = enter_sandbox(privilege, &policy)?;
            let workspace = policy.workspace.as_ref();
            let problem = workspace.and_then(|_| check_pid_namespace(privilege).err());
            let reason = problem.map_or(String::new(), |error| error.to_string());
            Ok((READY.to_owned() + &reason, listener))
        });
    let (answer, listener) = entered.unwrap_or_else(|error| (error.to_string(), None));
    send(&socket, &answer, listener.as_ref())?;
    receive(&socket).map(drop)
}

/// Runs the proxy of a command in a workspace until the parent, which runs the command, ends. The command cannot
/// inspect the proxy.
fn run_proxy(start_proxy: ProxyStarter) -> io::Result<()> {
    // SAFETY: a system call on plain numbers.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    forbid_inspection();
    close_all_but(&[]);
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let policy = read_policy(&mut socket)?;
    let domains = policy.workspace.unwrap_or_default().domains;
    let (_, listener) = receive(&socket)?;
    let _proxy = start_proxy(listener.ok_or(io::ErrorKind::InvalidData)?, &domains)?;
    receive(&socket).map(drop)
}

/// Enters the namespaces and becomes the command, or runs it in a workspace. Returns the exit status.
fn run_in_sandbox(
    mut plan: File,
    kept: &[RawFd],
    directory: &Path,
    words: &[OsString],
    callbacks: &HelperCallbacks,
) -> u8 {
    let privilege = Privilege::from_process();
    let policy = read_policy(&mut plan);
    drop(plan);
    close_all_but(kept);
    let [program, arguments @ ..] = words else {
        return SANDBOX_FAILED;
    };
    let entered = || -> Result<Option<(WorkspaceResources, Processes)>, SandboxError> {
        let policy = policy.map_err(|error| SandboxError::new("read the policy", error))?;
        let workspace = policy.workspace.as_ref();
        let taken = workspace.map(|workspace| ScratchDirectory::take_over(&workspace.temporary));
        let temporary = taken
            .transpose()
            .map_err(|error| SandboxError::new("use the temporary directory", error))?;
        let is_required = workspace.is_some_and(|workspace| workspace.is_required);
        let needs_proxy = policy.network() == Network::Domains;
        let started = needs_proxy.then(|| start_helper(PROGRAM.as_ref(), PROXY_ARGUMENT, &policy));
        let proxy = started.transpose().map_err(start_error)?;
        let listener = enter_sandbox(privilege, &policy)?;
        if let Some(proxy) = &proxy {
            send(&proxy.socket, READY, listener.as_ref()).map_err(start_error)?;
        }
        if let Some(temporary) = temporary {
            let processes = match check_pid_namespace(privilege) {
                Ok(()) => Processes::Own,
                Err(error) if is_required => return Err(error),
                Err(error) => {
                    report(&format!("{PROCESSES_GAP}: {error}"));
                    Processes::All
                }
            };
            let resources = WorkspaceResources {
                temporary,
                proxy,
                policy,
                find_protected: callbacks.find_protected,
            };
            return Ok(Some((resources, processes)));
        }
        std::env::set_current_dir(directory)
            .map_err(|error| SandboxError::new(format!("enter {}", directory.display()), error))?;
        let applied = Restrictions::for_sandbox(privilege).apply();
        applied.map_err(|error| SandboxError::new("restrict the command", error))?;
        Ok(None)
    };
    match entered() {
        Ok(Some((resources, processes))) => run_in_workspace(
            &InitCommand {
                program,
                name: program,
                arguments,
                directory,
                privilege,
                processes,
            },
            Some(resources),
        ),
        Ok(None) => exec_or_report(Command::new(program).args(arguments)),
        Err(error) => {
            report(&error.to_string());
            SANDBOX_FAILED
        }
    }
}

/// The resources that a command in a workspace uses until its end.
struct WorkspaceResources {
    temporary: ScratchDirectory,
    proxy: Option<Helper>,
    policy: SandboxPolicy,
    find_protected: fn(&[PathBuf]) -> Vec<PathBuf>,
}

impl WorkspaceResources {
    /// Reports new files that determine what programs outside run, and removes the resources.
    fn release(self) {
        let writable = self.policy.workspace.map(|workspace| workspace.writable);
        let mut found = (self.find_protected)(&writable.unwrap_or_default());
        // A file at the path of a moved one is new too.
        let is_same =
            |mask: &Mask, path: &Path| mask.path == *path && mask.file == FileId::from_path(path);
        found.retain(|path| !self.policy.masks.iter().any(|mask| is_same(mask, path)));
        for path in keep_outermost(found) {
            report(&new_file_message(&path));
        }
        if let Some(Helper { mut process, .. }) = self.proxy {
            // The proxy may have ended.
            let _ = process.kill().and_then(|()| process.wait());
        }
        unmount_temporary();
        drop(self.temporary);
    }
}

/// Runs a command in the workspace of this process, and then releases its resources. Returns the exit status.
fn run_in_workspace(command: &InitCommand<'_>, resources: Option<WorkspaceResources>) -> u8 {
    let result = run_in_pid_namespace(command);
    if let Some(resources) = resources {
        resources.release();
    }
    match result {
        Ok(end) => end.reproduce(),
        Err(error) => {
            report(&error.to_string());
            SANDBOX_FAILED
        }
    }
}
