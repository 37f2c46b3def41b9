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

use super::namespace::{Mask, MaskKind, Privilege, SandboxError, enter};
use super::restrictions::Restrictions;
use crate::io::{Messages, Screen};

/// First arguments of a helper that becomes a command, and of one that waits for its parent.
const BECOMES: &str = "__sandbox-exec";
const WAITS: &str = "__sandbox-hold";

/// Exit statuses of a sandbox, as of `env` and `timeout`: its own failure, a command that cannot be executed, and one
/// that does not exist.
const SANDBOX_FAILED: u8 = 125;
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;

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

/// Replaces this process by a command for which files are masked. Returns only on failure.
///
/// # Errors
/// The helper cannot be started. Failures in it end the process with status 125, 126 or 127.
pub fn exec_in_sandbox(masks: &[Mask], command: &SandboxedCommand<'_>) -> SandboxError {
    let become_helper = || -> io::Result<io::Error> {
        let memory = rustix::fs::memfd_create("turnpipe-masks", MemfdFlags::empty())?;
        let mut plan = File::from(memory);
        plan.write_all(&encoded(masks))?;
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

/// Namespaces in which files are masked. They exist as long as this value, or a process in them.
#[derive(Debug)]
pub(super) struct MaskedNamespace {
    /// `None` for root.
    pub(super) user: Option<OwnedFd>,
    pub(super) mount: OwnedFd,
}

impl MaskedNamespace {
    /// Creates namespaces with these masks by a helper of `program`, a binary of turnpipe. Not on the first thread of a process that adopts orphans.
    ///
    /// # Errors
    /// The kernel refuses a namespace or a mount, or the helper cannot be started.
    pub(super) fn new(program: &Path, masks: &[Mask]) -> Result<Self, SandboxError> {
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
        let opened = Self::of_helper(&mut helper, masks, privilege);
        // Its standard input is closed, so it ends.
        helper.wait().map_err(failed)?;
        opened
    }

    fn of_helper(
        helper: &mut Child,
        masks: &[Mask],
        privilege: Privilege,
    ) -> Result<Self, SandboxError> {
        let failed = |error| SandboxError::new("start the sandbox", error);
        let (Some(mut input), Some(output)) = (helper.stdin.take(), helper.stdout.take()) else {
            return Err(failed(io::ErrorKind::BrokenPipe.into()));
        };
        let mut answer = String::new();
        input.write_all(&encoded(masks)).map_err(failed)?;
        BufReader::new(output)
            .read_line(&mut answer)
            .map_err(failed)?;
        let answer = answer.trim_end();
        if answer != READY {
            return Err(SandboxError::reported(answer));
        }
        let open = |name: &str| -> Result<OwnedFd, SandboxError> {
            let file = File::open(format!("/proc/{}/ns/{name}", helper.id()));
            Ok(file.map_err(failed)?.into())
        };
        Ok(Self {
            user: match privilege {
                Privilege::User => Some(open("user")?),
                Privilege::Root => None,
            },
            mount: open("mnt")?,
        })
    }
}

/// The answer of a helper whose namespaces can be opened.
const READY: &str = "ready";

/// Returns masks as a helper reads them: the number of bytes, and for each mask a letter, the path and a NUL byte.
fn encoded(masks: &[Mask]) -> Vec<u8> {
    let mut list = Vec::new();
    for mask in masks {
        list.push(mask.kind.letter());
        list.extend(mask.path.as_os_str().as_bytes());
        list.push(0);
    }
    [&list.len().to_ne_bytes()[..], &list].concat()
}

fn read_masks(input: &mut impl io::Read) -> io::Result<Vec<Mask>> {
    let mut length = [0; size_of::<usize>()];
    input.read_exact(&mut length)?;
    let mut list = vec![0; usize::from_ne_bytes(length)];
    input.read_exact(&mut list)?;
    let entries = list.split(|byte| *byte == 0);
    let masks = entries.filter_map(|entry| {
        let (letter, path) = entry.split_first()?;
        Some(Mask {
            kind: MaskKind::of_letter(*letter)?,
            path: PathBuf::from(OsStr::from_bytes(path)),
        })
    });
    Ok(masks.collect())
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
        _ => None,
    }
}

/// Enters the namespaces, reports it, and waits until the parent has opened them.
fn wait_for_parent() -> u8 {
    let mut input = io::stdin().lock();
    let entered = read_masks(&mut input)
        .map_err(|error| SandboxError::new("read the masks", error))
        .and_then(|masks| enter(Privilege::of_process(), &masks));
    let answer = entered.map_or_else(|error| error.to_string(), |()| READY.to_owned());
    // If the parent has ended, nobody needs the namespaces.
    let _ = writeln!(io::stdout(), "{answer}").and_then(|()| io::copy(&mut input, &mut io::sink()));
    0
}

/// Enters the namespaces and becomes the command. Returns the exit status of a failure.
fn become_command(mut plan: File, kept: &[RawFd], directory: &Path, words: &[OsString]) -> u8 {
    let privilege = Privilege::of_process();
    let masks = read_masks(&mut plan);
    drop(plan);
    close_all_but(kept);
    let entered = || -> Result<(), SandboxError> {
        let masks = masks.map_err(|error| SandboxError::new("read the masks", error))?;
        enter(privilege, &masks)?;
        std::env::set_current_dir(directory)
            .map_err(|error| SandboxError::new(format!("enter {}", directory.display()), error))?;
        let restricted = Restrictions::of_sandbox(privilege).take();
        restricted.map_err(|error| SandboxError::new("restrict the command", error))
    };
    if let Err(error) = entered() {
        report(&error.to_string());
        return SANDBOX_FAILED;
    }
    let [program, arguments @ ..] = words else {
        return SANDBOX_FAILED;
    };
    let error = Command::new(program).args(arguments).exec();
    let status = if error.kind() == io::ErrorKind::NotFound {
        NOT_FOUND
    } else {
        NOT_EXECUTABLE
    };
    report(&format!("{}: {error}", program.display()));
    status
}

fn report(problem: &str) {
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
