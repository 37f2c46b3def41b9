//! The first process of a pid namespace: it runs a command, and all processes that the command leaves running end with
//! it.
//!
//! Two processes of this binary run beside the command. The outer one represents the command for other processes: it
//! forwards signals, stops when the command stops, and ends as the command ends. The inner one, the first of the
//! namespace, waits for the command and for orphans. All are in one process group, so that signals of a terminal reach
//! the command itself.

use std::ffi::{OsStr, OsString, c_int};
use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::thread::UnshareFlags;

use super::mask_mounts::mount_proc;
use super::namespace::unshare;
use super::privilege::Privilege;
use super::program::{SANDBOX_FAILED, exec_or_report, report};
use super::restrictions::Restrictions;
use super::sandbox_error::SandboxError;

/// A command to run in a pid namespace.
pub(super) struct InitCommand<'a> {
    pub(super) program: &'a OsString,
    /// The first argument of the program, its own name.
    pub(super) name: &'a OsString,
    pub(super) arguments: &'a [OsString],
    pub(super) directory: &'a Path,
    /// The privilege of the process that created the namespaces.
    pub(super) privilege: Privilege,
    pub(super) processes: Processes,
}

/// The processes that a command sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Processes {
    /// The processes of its pid namespace.
    Own,
    /// All processes of the system, since the kernel refuses another `/proc`.
    All,
}

impl Processes {
    /// Names of the values in arguments of a helper.
    const NAMES: [(&str, Self); 2] = [("own", Self::Own), ("all", Self::All)];

    pub(super) fn name(self) -> &'static str {
        let row = Self::NAMES.iter().find(|(_, processes)| *processes == self);
        row.map_or("", |(name, _)| name)
    }

    pub(super) fn from_name(name: &OsStr) -> Option<Self> {
        let row = Self::NAMES.iter().find(|(known, _)| name == *known);
        row.map(|(_, processes)| *processes)
    }
}

/// Checks that the kernel permits a pid namespace with a `/proc` of its own. It refuses if parts of `/proc` are hidden,
/// as in containers. This process must have one thread.
///
/// # Errors
/// The kernel refuses.
pub(super) fn check_pid_namespace(privilege: Privilege) -> Result<(), SandboxError> {
    // Only hidden parts of `/proc` forbid another one, and an attempt takes a millisecond.
    let hides_parts = match std::fs::read("/proc/self/mountinfo") {
        Ok(mounts) => memchr::memmem::find(&mounts, b" /proc/").is_some(),
        Err(_) => true,
    };
    if privilege == Privilege::Root || !hides_parts {
        return Ok(());
    }
    // SAFETY: this process has one thread, so the child can do anything that this process can.
    let start = || match unsafe { libc::fork() } {
        0 => exit(try_mounting_proc()),
        child => child,
    };
    // A child tries, since all further children of a process that unshares are in the namespace.
    // SAFETY: as above.
    let child = match unsafe { libc::fork() } {
        0 => exit(unshare(Privilege::Root, UnshareFlags::NEWPID).map_or(1, |()| wait_for(start()))),
        child => child,
    };
    match wait_for(child) {
        0 => Ok(()),
        _ => Err(SandboxError::from_message(
            "the kernel refuses a /proc of its own",
        )),
    }
}

/// Tries to mount `/proc` as the first process of a pid namespace. Returns 0 on success, else 1.
fn try_mounting_proc() -> u8 {
    let is_mounted = unshare(Privilege::Root, UnshareFlags::NEWNS)
        .is_ok_and(|()| mount_proc(Privilege::User).is_ok());
    u8::from(!is_mounted)
}

/// Waits for a child. Returns its exit status, or 1 if a signal ended it.
fn wait_for(child: libc::pid_t) -> u8 {
    let mut status = 0;
    // SAFETY: the status is a number of this function.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    match StatusChange::from_status(status) {
        Some(StatusChange::Exited(code)) if ended > 0 => code,
        _ => 1,
    }
}

/// A change of the command that the inner process reports to the outer one: its exit status, or the signal that stopped
/// or ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StatusChange {
    Exited(u8),
    Stopped(u8),
    Killed(u8),
}

impl StatusChange {
    /// Converts the status of a child as `waitpid` returns it.
    fn from_status(status: c_int) -> Option<Self> {
        let byte = |value| u8::try_from(value).unwrap_or(u8::MAX);
        if libc::WIFEXITED(status) {
            Some(Self::Exited(byte(libc::WEXITSTATUS(status))))
        } else if libc::WIFSIGNALED(status) {
            Some(Self::Killed(byte(libc::WTERMSIG(status))))
        } else if libc::WIFSTOPPED(status) {
            Some(Self::Stopped(byte(libc::WSTOPSIG(status))))
        } else {
            None
        }
    }

    fn to_bytes(self) -> [u8; 2] {
        match self {
            Self::Exited(code) => [b'e', code],
            Self::Stopped(signal) => [b's', signal],
            Self::Killed(signal) => [b'k', signal],
        }
    }

    fn from_bytes(bytes: [u8; 2]) -> Option<Self> {
        match bytes {
            [b'e', code] => Some(Self::Exited(code)),
            [b's', signal] => Some(Self::Stopped(signal)),
            [b'k', signal] => Some(Self::Killed(signal)),
            _ => None,
        }
    }
}

/// The end of a command, and the signals that are still blocked.
pub(super) struct CommandEnd {
    change: StatusChange,
    signals: Signals,
}

impl CommandEnd {
    /// Ends this process by the signal that ended the command, or returns the exit status.
    pub(super) fn reproduce(self) -> u8 {
        match self.change {
            StatusChange::Exited(code) => code,
            StatusChange::Killed(signal) | StatusChange::Stopped(signal) => {
                end_by_signal(signal, &self.signals)
            }
        }
    }
}

/// Runs a command in a pid namespace of its own. This process must have one thread and the capabilities for a
/// namespace. All signals stay blocked.
///
/// # Errors
/// The kernel refuses the namespace, or `/proc` for it.
pub(super) fn run_in_pid_namespace(command: &InitCommand<'_>) -> Result<CommandEnd, SandboxError> {
    let start_error = |error: io::Error| SandboxError::new("start the command", error);
    let signals = Signals::block().map_err(start_error)?;
    let (reports, reporter) = io::pipe().map_err(start_error)?;
    if command.processes == Processes::Own {
        unshare(Privilege::Root, UnshareFlags::NEWPID)?;
    }
    // SAFETY: this process has one thread, so the child can do anything that this process can.
    match unsafe { libc::fork() } {
        -1 => Err(start_error(io::Error::last_os_error())),
        0 => {
            drop(reports);
            exit(run_inner(command, &signals, reporter))
        }
        inner => {
            drop(reporter);
            let change = follow_command(inner, &signals, reports).map_err(start_error)?;
            Ok(CommandEnd { change, signals })
        }
    }
}

/// All signals, which are blocked.
struct Signals {
    blocked: libc::sigset_t,
    before: libc::sigset_t,
}

impl Signals {
    /// Blocks all signals.
    fn block() -> io::Result<Self> {
        // SAFETY: the sets are plain data, filled before their use.
        unsafe {
            let (mut blocked, mut before) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigfillset(&raw mut blocked);
            if libc::sigprocmask(libc::SIG_BLOCK, &raw const blocked, &raw mut before) != 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self { blocked, before })
        }
    }

    /// Restores the signal mask from before.
    fn restore(&self) {
        // SAFETY: the set is plain data.
        unsafe {
            libc::sigprocmask(
                libc::SIG_SETMASK,
                &raw const self.before,
                std::ptr::null_mut(),
            )
        };
    }

    /// Returns a descriptor from which signals are read.
    fn descriptor(&self) -> io::Result<OwnedFd> {
        // SAFETY: the set is plain data; the descriptor is new.
        unsafe {
            match libc::signalfd(-1, &raw const self.blocked, libc::SFD_CLOEXEC) {
                -1 => Err(io::Error::last_os_error()),
                descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
            }
        }
    }

    /// Waits for a signal.
    fn wait(&self) -> Option<ReceivedSignal> {
        // SAFETY: the result is plain data.
        let (signal, facts) = unsafe {
            let mut facts: libc::siginfo_t = std::mem::zeroed();
            (
                libc::sigwaitinfo(&raw const self.blocked, &raw mut facts),
                facts,
            )
        };
        let is_from_process = facts.si_code <= 0;
        (signal > 0).then_some(ReceivedSignal {
            signal,
            is_from_process,
        })
    }
}

/// A signal to the inner process.
struct ReceivedSignal {
    signal: c_int,
    /// Whether a process sent it. The kernel sends signals for a terminal and for the end of a child.
    is_from_process: bool,
}

/// Forwards signals of processes to the inner process, and stops with the command, until the command has ended.
fn follow_command(
    inner: libc::pid_t,
    signals: &Signals,
    mut reports: PipeReader,
) -> io::Result<StatusChange> {
    let arrived = signals.descriptor()?;
    loop {
        let mut watched = [
            PollFd::new(&reports, PollFlags::IN),
            PollFd::new(&arrived, PollFlags::IN),
        ];
        match poll(&mut watched, None) {
            Err(rustix::io::Errno::INTR) => continue,
            polled => polled?,
        };
        let [reported, signalled] = watched.map(|watched| !watched.revents().is_empty());
        if signalled {
            // SAFETY: the descriptor gives whole structures, which are plain data.
            let facts = unsafe {
                let mut facts: libc::signalfd_siginfo = std::mem::zeroed();
                let size = size_of_val(&facts);
                libc::read(arrived.as_raw_fd(), (&raw mut facts).cast(), size);
                facts
            };
            if facts.ssi_code <= 0 {
                kill(inner, facts.ssi_signo.cast_signed());
            }
        }
        if !reported {
            continue;
        }
        let mut bytes = [0; 2];
        let change = reports.read_exact(&mut bytes).ok();
        match change.and_then(|()| StatusChange::from_bytes(bytes)) {
            Some(StatusChange::Stopped(_)) => kill(std::process::id().cast_signed(), libc::SIGSTOP),
            Some(end) => {
                // All processes that the command has left running end with the inner process.
                wait_for(inner);
                return Ok(end);
            }
            // The inner process was killed, and the command with it.
            None => return Ok(StatusChange::Killed(SIGKILL)),
        }
    }
}

/// The number of SIGKILL.
const SIGKILL: u8 = 9;

/// Ends this process by a signal. If the signal does not end it, returns the exit status that shells use for the
/// signal.
fn end_by_signal(signal: u8, signals: &Signals) -> u8 {
    // The command has written its core file, if any.
    let _ = crate::process::own_memory::prevent_core_files();
    // SAFETY: the action is the default one.
    unsafe { libc::signal(signal.into(), libc::SIG_DFL) };
    kill(std::process::id().cast_signed(), signal.into());
    signals.restore();
    signal.saturating_add(128)
}

/// Sends a signal to a child or to this process.
fn kill(process: libc::pid_t, signal: c_int) {
    // SAFETY: a system call on plain numbers. The process is a child that was not waited for, or this one.
    unsafe { libc::kill(process, signal) };
}

/// Runs the inner process until the command ends. Returns its exit status, which has no meaning.
fn run_inner(command: &InitCommand<'_>, signals: &Signals, mut reporter: PipeWriter) -> u8 {
    // SAFETY: system calls on plain numbers. The second one keeps the command from inspecting this process.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
    }
    // The process gets its own mounts, since several commands may share those of the outer process.
    let prepared = match command.processes {
        Processes::All => Ok(()),
        Processes::Own => unshare(Privilege::Root, UnshareFlags::NEWNS).and_then(|()| {
            let mounted = mount_proc(command.privilege);
            mounted.map_err(|error| SandboxError::new("mount /proc", error))
        }),
    };
    let started = prepared
        // SAFETY: this process has one thread.
        .and_then(|()| match unsafe { libc::fork() } {
            -1 => Err(SandboxError::new(
                "start the command",
                io::Error::last_os_error(),
            )),
            child => Ok(child),
        });
    let mut report_change = |change: StatusChange| reporter.write_all(&change.to_bytes());
    let child = match started {
        Ok(0) => {
            signals.restore();
            exit(exec_restricted(command))
        }
        Ok(child) => child,
        Err(error) => {
            report(&error.to_string());
            // Fails only if the outer process has ended.
            let _ = report_change(StatusChange::Exited(SANDBOX_FAILED));
            return 0;
        }
    };
    loop {
        match signals.wait() {
            Some(received) if received.signal == libc::SIGCHLD => {}
            Some(received) if received.is_from_process => kill(child, received.signal),
            _ => continue,
        }
        while let Some((process, change)) = poll_child() {
            let is_end = !matches!(change, Some(StatusChange::Stopped(_)));
            if process != child {
                continue;
            }
            if change.is_none_or(|change| report_change(change).is_err() || is_end) && is_end {
                return 0;
            }
        }
    }
}

/// Returns a child that has stopped or ended, without waiting.
fn poll_child() -> Option<(libc::pid_t, Option<StatusChange>)> {
    let mut status = 0;
    // SAFETY: the status is a number of this function.
    let process = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG | libc::WUNTRACED) };
    (process > 0).then(|| (process, StatusChange::from_status(status)))
}

/// Restricts this process, and becomes the command. On failure, reports it and returns the exit status.
fn exec_restricted(command: &InitCommand<'_>) -> u8 {
    // SAFETY: a system call on plain numbers. Without a pid namespace, the command would outlive the inner process.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    let prepared = std::env::set_current_dir(command.directory)
        .map_err(|error| SandboxError::new(format!("enter {}", command.directory.display()), error))
        .and_then(|()| {
            let restrictions = Restrictions::for_workspace(command.privilege);
            restrictions
                .apply()
                .map_err(|error| SandboxError::new("restrict the command", error))
        });
    if let Err(error) = prepared {
        report(&error.to_string());
        return SANDBOX_FAILED;
    }
    exec_or_report(
        Command::new(command.program)
            .arg0(command.name)
            .args(command.arguments),
    )
}

/// Ends a forked process without the exit handlers of its parent.
fn exit(status: u8) -> ! {
    // SAFETY: ends this process only.
    unsafe { libc::_exit(status.into()) }
}
