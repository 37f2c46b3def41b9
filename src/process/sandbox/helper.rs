//! The helper of a sandbox: a second process of this binary that enters namespaces with masks. The first half of this
//! file runs in the process that wants a sandbox, the second half in the helper.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::fs::MemfdFlags;
use rustix::thread::LinkNameSpaceType;

use super::init::{
    InitCommand, Processes, become_program, check_pid_namespace, run_in_pid_namespace,
};
use super::namespace::{Mask, MaskKind, Policy, Privilege, SandboxError, enter};
use super::restrictions::Restrictions;
use super::workspace::{Workspace, unmount_temporary};
use crate::io::{Messages, Screen};
use crate::process::ScratchDirectory;

/// First arguments of a helper that becomes a command, of one that waits for its parent, and of one that runs a command
/// in a workspace that it is in.
const BECOMES: &str = "__sandbox-exec";
const WAITS: &str = "__sandbox-hold";
pub(super) const RUNS: &str = "__sandbox-run";

/// Exit statuses of a sandbox, as of `env` and `timeout`: its own failure, a command that cannot be executed, and one
/// that does not exist.
pub(super) const SANDBOX_FAILED: u8 = 125;
pub(super) const NOT_EXECUTABLE: u8 = 126;
pub(super) const NOT_FOUND: u8 = 127;

/// What a workspace does not hold without a pid namespace.
pub(super) const SEES_PROCESSES: &str =
    "the command sees processes outside of the workspace, and may leave processes running";

/// The binary of this process.
pub(super) const PROGRAM: &str = "/proc/self/exe";

/// A command that a sandbox runs in place of this process.
#[derive(Debug)]
pub struct SandboxedCommand<'a> {
    /// The program, a path or a name that is looked up in `PATH`, and its arguments.
    pub words: &'a [OsString],
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The directory, entered after the masks.
    pub directory: &'a Path,
    /// The descriptors above 2 that it keeps.
    pub kept_descriptors: &'a [RawFd],
}

/// Replaces this process by a command in a sandbox. Returns only on failure.
///
/// # Errors
/// The helper cannot be started. Failures in it end the process with status 125, 126 or 127.
pub fn exec_in_sandbox(policy: &Policy, command: &SandboxedCommand<'_>) -> SandboxError {
    let become_helper = || -> io::Result<io::Error> {
        let memory = rustix::fs::memfd_create("turnpipe-masks", MemfdFlags::empty())?;
        let mut plan = File::from(memory);
        plan.write_all(&encoded(policy))?;
        plan.rewind()?;
        let kept: Vec<String> = command
            .kept_descriptors
            .iter()
            .map(RawFd::to_string)
            .collect();
        let mut helper = Command::new(PROGRAM);
        helper
            .arg0("turnpipe")
            .arg(BECOMES)
            .arg(plan.as_raw_fd().to_string())
            .arg(kept.join(","))
            .arg(command.directory)
            .args(command.words)
            .env_clear()
            .envs(
                command
                    .environment
                    .iter()
                    .map(|(name, value)| (name, value)),
            );
        Ok(helper.exec())
    };
    let error = become_helper().unwrap_or_else(|error| error);
    SandboxError::new("start the sandbox", error)
}

/// Namespaces of a sandbox. They exist as long as this value, or a process in them.
#[derive(Debug)]
pub(super) struct MaskedNamespace {
    /// In the order in which they are entered.
    pub(super) namespaces: Vec<(LinkNameSpaceType, OwnedFd)>,
    /// Why commands in a workspace see processes outside of it.
    pub(super) sees_processes: Option<String>,
}

impl MaskedNamespace {
    /// Creates namespaces by a helper of `program`, a binary of turnpipe. Not on the first thread of a process that
    /// adopts orphans.
    ///
    /// # Errors
    /// The kernel refuses a namespace or a mount, or the helper cannot be started.
    pub(super) fn new(program: &Path, policy: &Policy) -> Result<Self, SandboxError> {
        let privilege = Privilege::of_process();
        let failed = |error| SandboxError::new("start the sandbox", error);
        let mut helper = Command::new(program)
            .arg0("turnpipe")
            .arg(WAITS)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let opened = Self::of_helper(&mut helper, policy, privilege);
        // Its standard input is closed, so it ends.
        helper.wait().map_err(failed)?;
        opened
    }

    fn of_helper(
        helper: &mut Child,
        policy: &Policy,
        privilege: Privilege,
    ) -> Result<Self, SandboxError> {
        let failed = |error| SandboxError::new("start the sandbox", error);
        let (Some(mut input), Some(output)) = (helper.stdin.take(), helper.stdout.take()) else {
            return Err(failed(io::ErrorKind::BrokenPipe.into()));
        };
        let mut answer = String::new();
        input.write_all(&encoded(policy)).map_err(failed)?;
        BufReader::new(output)
            .read_line(&mut answer)
            .map_err(failed)?;
        let answer = answer.trim_end();
        let Some(problem) = answer.strip_prefix(READY) else {
            return Err(SandboxError::reported(answer));
        };
        let open = |name: &str| -> Result<OwnedFd, SandboxError> {
            let file = File::open(format!("/proc/{}/ns/{name}", helper.id()));
            Ok(file.map_err(failed)?.into())
        };
        let workspace = policy.workspace.as_ref();
        let namespaces = [
            (privilege == Privilege::User).then_some(("user", LinkNameSpaceType::User)),
            Some(("mnt", LinkNameSpaceType::Mount)),
            workspace.map(|_| ("ipc", LinkNameSpaceType::InterProcessCommunication)),
            workspace
                .filter(|workspace| !workspace.has_network)
                .map(|_| ("net", LinkNameSpaceType::Network)),
        ];
        let namespaces = namespaces.into_iter().flatten();
        let namespaces = namespaces.map(|(name, kind)| Ok((kind, open(name)?)));
        Ok(Self {
            namespaces: namespaces.collect::<Result<_, SandboxError>>()?,
            sees_processes: (!problem.is_empty()).then(|| problem.to_owned()),
        })
    }
}

/// The answer of a helper whose namespaces can be opened. The reason follows why commands see processes outside.
const READY: &str = "ready:";

// The letters of the parts of a workspace. Masks have others.
const WRITABLE: u8 = b'w';
const TEMPORARY: u8 = b't';
const NETWORK: u8 = b'n';
const REQUIRED: u8 = b'r';

/// Returns a policy as a helper reads it: the number of bytes, and for each path a letter, the path and a NUL byte.
fn encoded(policy: &Policy) -> Vec<u8> {
    let mut list = Vec::new();
    let mut add = |letter: u8, path: &Path| {
        list.push(letter);
        list.extend(path.as_os_str().as_bytes());
        list.push(0);
    };
    for mask in &policy.masks {
        add(mask.kind.letter(), &mask.path);
    }
    if let Some(workspace) = &policy.workspace {
        add(TEMPORARY, &workspace.temporary);
        for path in &workspace.writable {
            add(WRITABLE, path);
        }
        if workspace.has_network {
            add(NETWORK, Path::new(""));
        }
        if workspace.is_required {
            add(REQUIRED, Path::new(""));
        }
    }
    [&list.len().to_ne_bytes()[..], &list].concat()
}

fn read_policy(input: &mut impl io::Read) -> io::Result<Policy> {
    let mut length = [0; size_of::<usize>()];
    input.read_exact(&mut length)?;
    let mut list = vec![0; usize::from_ne_bytes(length)];
    input.read_exact(&mut list)?;
    let mut policy = Policy::default();
    let mut workspace = Workspace {
        writable: Vec::new(),
        temporary: PathBuf::new(),
        has_network: false,
        is_required: false,
    };
    for entry in list.split(|byte| *byte == 0) {
        let Some((letter, path)) = entry.split_first() else {
            continue;
        };
        let path = PathBuf::from(OsStr::from_bytes(path));
        match *letter {
            WRITABLE => workspace.writable.push(path),
            TEMPORARY => workspace.temporary = path,
            NETWORK => workspace.has_network = true,
            REQUIRED => workspace.is_required = true,
            letter => {
                let kind = MaskKind::of_letter(letter).ok_or(io::ErrorKind::InvalidData)?;
                policy.masks.push(Mask { kind, path });
            }
        }
    }
    policy.workspace = (workspace.temporary != Path::new("")).then_some(workspace);
    Ok(policy)
}

/// Runs the helper of a sandbox if `arguments`, which include the program's name, say that this process is one. It
/// must have one thread. Returns the exit status with which the program must then exit.
pub fn run_as_sandbox_helper(arguments: &[OsString]) -> Option<u8> {
    match arguments {
        [_, first] if first == WAITS => Some(wait_for_parent()),
        [_, first, plan, kept, directory, words @ ..] if first == BECOMES => {
            let number = plan.to_str().and_then(|number| number.parse().ok())?;
            let kept = kept.to_str().unwrap_or_default().split(',');
            let kept: Vec<RawFd> = kept.filter_map(|number| number.parse().ok()).collect();
            // SAFETY: the process that became this one passed the descriptor, and nothing else uses it.
            let plan = File::from(unsafe { OwnedFd::from_raw_fd(number) });
            Some(become_command(plan, &kept, Path::new(directory), words))
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
        ] if first == RUNS => {
            close_all_but(&[]);
            let command = InitCommand {
                program,
                name,
                arguments,
                directory: Path::new(directory),
                privilege: Privilege::of_name(privilege)?,
                processes: Processes::of_name(processes)?,
            };
            Some(run_in_workspace(&command, None))
        }
        _ => None,
    }
}

/// Enters the namespaces, reports it, and waits until the parent has opened them.
fn wait_for_parent() -> u8 {
    let mut input = io::stdin().lock();
    let entered = read_policy(&mut input)
        .map_err(|error| SandboxError::new("read the policy", error))
        .and_then(|policy| {
            let privilege = Privilege::of_process();
            enter(privilege, &policy)?;
            let checked = policy
                .workspace
                .map_or(Ok(()), |_| check_pid_namespace(privilege));
            Ok(checked.map_or_else(|error| error.to_string(), |()| String::new()))
        });
    let answer = entered.map_or_else(
        |error| error.to_string(),
        |problem| READY.to_owned() + &problem,
    );
    // If the parent has ended, nobody needs the namespaces.
    let _ = writeln!(io::stdout(), "{answer}").and_then(|()| io::copy(&mut input, &mut io::sink()));
    0
}

/// Enters the namespaces and becomes the command, or runs it in a workspace. Returns the exit status.
fn become_command(mut plan: File, kept: &[RawFd], directory: &Path, words: &[OsString]) -> u8 {
    let privilege = Privilege::of_process();
    let policy = read_policy(&mut plan);
    drop(plan);
    close_all_but(kept);
    let [program, arguments @ ..] = words else {
        return SANDBOX_FAILED;
    };
    let entered = || -> Result<Option<(ScratchDirectory, Processes)>, SandboxError> {
        let policy = policy.map_err(|error| SandboxError::new("read the policy", error))?;
        let temporary = policy.workspace.as_ref().map(|workspace| {
            let taken = ScratchDirectory::take_over(&workspace.temporary);
            taken.map_err(|error| SandboxError::new("use the temporary directory", error))
        });
        let temporary = temporary.transpose()?;
        enter(privilege, &policy)?;
        if let Some(temporary) = temporary {
            let processes = match check_pid_namespace(privilege) {
                Ok(()) => Processes::Own,
                Err(error)
                    if policy
                        .workspace
                        .is_some_and(|workspace| workspace.is_required) =>
                {
                    return Err(error);
                }
                Err(error) => {
                    report(&format!("{SEES_PROCESSES}: {error}"));
                    Processes::All
                }
            };
            return Ok(Some((temporary, processes)));
        }
        std::env::set_current_dir(directory)
            .map_err(|error| SandboxError::new(format!("enter {}", directory.display()), error))?;
        let restricted = Restrictions::of_sandbox(privilege).take();
        restricted.map_err(|error| SandboxError::new("restrict the command", error))?;
        Ok(None)
    };
    match entered() {
        Ok(Some((temporary, processes))) => run_in_workspace(
            &InitCommand {
                program,
                name: program,
                arguments,
                directory,
                privilege,
                processes,
            },
            Some(temporary),
        ),
        Ok(None) => become_program(Command::new(program).args(arguments)),
        Err(error) => {
            report(&error.to_string());
            SANDBOX_FAILED
        }
    }
}

/// Runs a command in the workspace that this process is in, and then removes its temporary files. Returns its exit
/// status.
fn run_in_workspace(command: &InitCommand<'_>, temporary: Option<ScratchDirectory>) -> u8 {
    let ended = run_in_pid_namespace(command);
    if let Some(temporary) = temporary {
        unmount_temporary();
        drop(temporary);
    }
    match ended {
        Ok(ended) => ended.follow(),
        Err(error) => {
            report(&error.to_string());
            SANDBOX_FAILED
        }
    }
}

/// Prints why there is no command.
pub(super) fn report(problem: &str) {
    Messages::of_process(&Screen::of_process()).error(problem);
}

/// Closes all descriptors above 2 but these.
fn close_all_but(kept: &[RawFd]) {
    let mut kept: Vec<u32> = kept
        .iter()
        .filter_map(|number| u32::try_from(*number).ok())
        .collect();
    kept.sort_unstable();
    let mut first = 3;
    for number in kept.into_iter().chain([u32::MAX]) {
        if number > first {
            // SAFETY: a system call on plain numbers. The descriptors came through `exec`, so nothing in this process
            // owns one; a kernel without the call leaves them open, with the mark that closes them at the next one.
            unsafe { libc::syscall(libc::SYS_close_range, first, number - 1, 0) };
        }
        first = number.saturating_add(1);
    }
}
