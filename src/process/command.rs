//! What to run, and how it ended.

use std::ffi::OsString;
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::Captured;

/// Environment variables, shared by the children that get the same ones.
pub type Variables = Arc<[(OsString, OsString)]>;

/// A program to run. It inherits only what is listed here: the child gets its own session and
/// process group, default signal dispositions, an empty signal mask and only the descriptors 0-2,
/// and one for a report if that is asked for.
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
    /// What the child reads.
    pub stdin: Stdin,
    /// A descriptor above 2 on which the child may write a short report, apart from what it prints.
    pub report: Option<RawFd>,
    /// How its output is kept.
    pub capture: Capture,
    /// How long it may take.
    pub limits: Limits,
}

/// What a child reads on its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// `/dev/null`.
    Null,
    /// These bytes, then end of file. A child that does not read them is not an error.
    Bytes(Vec<u8>),
}

/// How much of each output stream is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capture {
    /// Bytes of a stream kept in memory; what is more spills to an unlinked temporary file.
    pub memory_bytes: usize,
    /// Bytes of a stream kept in all; past that only the head and the tail survive, with a count
    /// of the bytes dropped between them. The tail has half of this, at most 1 MiB, and is kept in
    /// memory besides `memory_bytes`. The child is never blocked.
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
    /// When it is asked to end (TERM to its group).
    pub timeout: Duration,
    /// How long after TERM it is killed.
    pub grace: Duration,
    /// How long its pipes are read after it ended, while a grandchild holds them open.
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

/// How a child ended, as the kernel reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// It exited with this code; -1 if other code of this process waited for it.
    Code(i32),
    /// It was ended by this signal.
    Signal(i32),
}

impl ExitStatus {
    /// The number a shell would show: the code, or 128 plus the signal.
    pub fn shell_code(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
        }
    }
}

/// Why a child is no longer running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Exited,
    /// We ended it when its time was up.
    TimedOut,
    /// We ended it because its [`super::CancelToken`] fired. If that was before the start, nothing
    /// was run.
    Cancelled,
}

/// What became of processes that outlived the child that started them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftovers {
    /// There were none, or they ended in time.
    None,
    /// They were ended after the child had ended by itself.
    Ended,
    /// They could not be found or ended: one still held a pipe or was seen alive.
    Running,
}

/// A child that has ended and was waited for.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// Who ended it.
    pub ended: Ended,
    /// What it printed on stdout.
    pub stdout: Captured,
    /// What it printed on stderr.
    pub stderr: Captured,
    /// What it reported: at most 64 KiB.
    pub report: Vec<u8>,
    /// What it had started and did not wait for.
    pub leftovers: Leftovers,
}

impl Finished {
    /// For a call that was cancelled before anything was started.
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

/// Why a child could not be started. Nothing has run.
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
        /// What the system said.
        source: std::io::Error,
    },
    /// Any other failure.
    #[error("{}: cannot start: {source}", program.display())]
    System {
        /// The program.
        program: OsString,
        /// What the system said.
        source: std::io::Error,
    },
}
