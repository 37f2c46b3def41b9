//! A program to run, and its end.

use std::ffi::OsString;
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::Captured;

/// Environment variables, shared by children with the same environment.
pub type Variables = Arc<[(OsString, OsString)]>;

/// A program to run. It inherits only what is listed here: the child gets its own session and process group,
/// default signal actions, an empty signal mask, and only the descriptors 0-2 and the one of its report.
#[derive(Debug, Clone)]
pub struct Command {
    /// The program: a path, or a name that is looked up in the `PATH` of `environment`.
    pub program: OsString,
    /// Arguments after the program's name.
    pub arguments: Vec<OsString>,
    /// The whole environment of the child.
    pub environment: Variables,
    /// The child's working directory.
    pub directory: PathBuf,
    /// The child's standard input.
    pub stdin: Stdin,
    /// A descriptor above 2 for a short report of the child, separate from its output.
    pub report: Option<RawFd>,
    /// Limits on the captured output.
    pub capture: Capture,
    /// Deadlines.
    pub limits: Limits,
}

/// The standard input of a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// `/dev/null`.
    Null,
    /// These bytes. A child that does not read them is not an error.
    Bytes(Vec<u8>),
}

/// Limits on each captured output stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capture {
    /// Bytes of a stream kept in memory. Further bytes spill to an unlinked temporary file.
    pub memory_bytes: usize,
    /// Bytes of a stream kept in all. Of a longer stream the head and the tail are kept, with the number of
    /// bytes dropped between them. The tail has half of this, at most 1 MiB, and is kept in memory in addition
    /// to `memory_bytes`. The child is never blocked.
    pub total_bytes: u64,
}

impl Default for Capture {
    /// 256 KiB in memory, 64 MiB in all.
    fn default() -> Self {
        Self {
            memory_bytes: 256 * 1024,
            total_bytes: 64 * 1024 * 1024,
        }
    }
}

/// The deadlines of one child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The time after which its group gets SIGTERM.
    pub timeout: Duration,
    /// The time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// The time that processes which survive the child have to end by themselves.
    pub drain: Duration,
}

impl Limits {
    /// The given timeout, 2 s grace, 250 ms drain.
    pub fn with_timeout(timeout: Duration) -> Self {
        Self {
            timeout,
            grace: Duration::from_secs(2),
            drain: Duration::from_millis(250),
        }
    }
}

/// The exit status of a child, as the kernel reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// It exited with this code; -1 if other code of this process waited for it.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl ExitStatus {
    /// The status as a shell shows it: the code, or 128 plus the signal.
    pub fn shell_code(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
        }
    }
}

/// The cause of a child's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Exited,
    /// It reached its timeout.
    TimedOut,
    /// Its cancellation token fired. If that was before its start, nothing has run.
    Cancelled,
}

/// The fate of processes that outlived the child that started them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftovers {
    /// There were none, or they ended in time.
    None,
    /// They were ended after the child had ended by itself.
    Ended,
    /// One could not be ended: it held a pipe or was seen alive.
    Running,
}

/// A child that has ended.
#[derive(Debug)]
pub struct Finished {
    /// Its exit status.
    pub status: ExitStatus,
    /// The cause of its end.
    pub ended: Ended,
    /// Its standard output.
    pub stdout: Captured,
    /// Its standard error.
    pub stderr: Captured,
    /// Its report, at most 64 KiB.
    pub report: Vec<u8>,
    /// Whether it left processes.
    pub leftovers: Leftovers,
}

impl Finished {
    /// The result of a command that was cancelled before its start.
    pub(super) fn never_started() -> Self {
        Self {
            status: ExitStatus::Signal(libc::SIGTERM),
            ended: Ended::Cancelled,
            stdout: Captured::default(),
            stderr: Captured::default(),
            report: Vec::new(),
            leftovers: Leftovers::None,
        }
    }
}

/// An error of starting a child. Nothing has run.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The program is not in `PATH`, or the path does not exist.
    #[error("{}: command not found", program.display())]
    NotFound {
        /// The program.
        program: OsString,
    },
    /// The directory cannot be entered.
    #[error("{}: cannot enter directory: {source}", directory.display())]
    Directory {
        /// The directory.
        directory: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// Any other failure.
    #[error("{}: cannot start: {source}", program.display())]
    System {
        /// The program.
        program: OsString,
        /// The system's error.
        source: std::io::Error,
    },
}
