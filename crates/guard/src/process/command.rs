//! A program to run, the result, and the pipes of its standard streams.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::captured::{Capture, Captured};

/// Environment variables, shared by children with the same environment.
pub type Variables = Arc<[(OsString, OsString)]>;

/// A program to run. The child inherits only what is listed here. It gets its own session and process group, default
/// signal actions, an empty signal mask, and only the descriptors 0-2 and the descriptor of its report.
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

/// The deadlines of one child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time after which the process group of the child gets SIGTERM.
    pub timeout: Duration,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// Time that processes which survive the child have to end by themselves.
    pub drain: Duration,
}

impl Limits {
    /// Creates limits with a timeout, 2 s grace and 250 ms drain.
    pub fn with_timeout(timeout: Duration) -> Self {
        Self {
            timeout,
            grace: Duration::from_secs(2),
            drain: Duration::from_millis(250),
        }
    }
}

/// The exit status of a child, as reported by the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// The exit code; -1 if other code of this process waited for the child, so that the code is lost.
    Code(i32),
    /// The signal that ended the child.
    Signal(i32),
}

impl ExitStatus {
    /// Returns the status as a shell shows it: the code, or 128 plus the signal.
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
    /// The child ended by itself.
    Exited,
    /// The child reached its timeout.
    TimedOut,
    /// The cancellation token fired. If it fired before the start, nothing has run.
    Cancelled,
}

/// The fate of processes that outlived the child that started them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftovers {
    /// There were none, or they ended in time.
    None,
    /// They were killed after the child had ended by itself.
    Ended,
    /// One could not be killed: it held a pipe or was seen alive.
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
    /// The fate of processes that it left.
    pub leftovers: Leftovers,
}

impl Finished {
    /// Returns the result of a command that was cancelled before its start.
    pub(super) fn cancelled_before_start() -> Self {
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

/// The ends that become the child's descriptors.
#[derive(Debug)]
pub(super) struct ChildEnds {
    pub(super) stdin: Arc<OwnedFd>,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
    /// The descriptor number in the child, and the end. Nonblocking, so that a long report cannot block the child.
    pub(super) report: Option<(RawFd, OwnedFd)>,
}

/// The standard input and output of a child that the caller talks to.
#[derive(Debug)]
pub struct StdioPipes {
    /// The end that the child reads.
    pub stdin: OwnedFd,
    /// The end that the child writes.
    pub stdout: OwnedFd,
}

impl ChildEnds {
    /// Returns the ends with other standard input and output.
    pub(super) fn with_stdio(self, stdio: StdioPipes) -> io::Result<Self> {
        Ok(Self {
            stdin: Arc::new(raise_descriptor(stdio.stdin)?),
            stdout: raise_descriptor(stdio.stdout)?,
            ..self
        })
    }

    /// Returns the ends with their numbers in the child, in ascending order.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = (RawFd, &OwnedFd)> {
        let report = self.report.as_ref().map(|(number, end)| (*number, end));
        let standard = [&*self.stdin, &self.stdout, &self.stderr];
        (0..).zip(standard).chain(report)
    }
}

/// Our ends of a child's pipes.
#[derive(Debug)]
pub(super) struct OurEnds {
    /// Nonblocking; `None` if the child reads `/dev/null`.
    pub(super) stdin: Option<OwnedFd>,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
    /// Nonblocking.
    pub(super) report: Option<OwnedFd>,
}

/// Creates the pipes of children. `/dev/null` is opened once for all.
#[derive(Debug, Default)]
pub(super) struct PipeMaker {
    null: OnceLock<Arc<OwnedFd>>,
}

impl PipeMaker {
    /// Creates the pipes of one child.
    ///
    /// # Errors
    /// No descriptor is available.
    pub(super) fn create_pipes(&self, command: &Command) -> io::Result<(ChildEnds, OurEnds)> {
        let (stdout, their_stdout) = io::pipe()?;
        let (stderr, their_stderr) = io::pipe()?;
        let (their_stdin, stdin) = match &command.stdin {
            Stdin::Null => (self.open_null()?, None),
            Stdin::Bytes(_) => {
                let (reader, writer) = io::pipe()?;
                rustix::io::ioctl_fionbio(&writer, true)?;
                let end = raise_descriptor(reader.into())?;
                (Arc::new(end), Some(writer.into()))
            }
        };
        let (their_report, report) = match command.report {
            None => (None, None),
            Some(number) => {
                let (reader, writer) = io::pipe()?;
                rustix::io::ioctl_fionbio(&reader, true)?;
                rustix::io::ioctl_fionbio(&writer, true)?;
                let end = raise_descriptor(writer.into())?;
                (Some((number, end)), Some(reader.into()))
            }
        };
        let theirs = ChildEnds {
            stdin: their_stdin,
            stdout: raise_descriptor(their_stdout.into())?,
            stderr: raise_descriptor(their_stderr.into())?,
            report: their_report,
        };
        let ours = OurEnds {
            stdin,
            stdout: stdout.into(),
            stderr: stderr.into(),
            report,
        };
        Ok((theirs, ours))
    }

    /// Returns the descriptor of `/dev/null`.
    fn open_null(&self) -> io::Result<Arc<OwnedFd>> {
        if let Some(null) = self.null.get() {
            return Ok(Arc::clone(null));
        }
        let null = raise_descriptor(File::open("/dev/null")?.into())?;
        Ok(Arc::clone(self.null.get_or_init(|| Arc::new(null))))
    }
}

/// Moves a descriptor to a number above 2. Smaller numbers occur if standard streams of this process are closed.
pub(super) fn raise_descriptor(descriptor: OwnedFd) -> io::Result<OwnedFd> {
    if descriptor.as_raw_fd() > 2 {
        return Ok(descriptor);
    }
    Ok(rustix::io::fcntl_dupfd_cloexec(&descriptor, 3)?)
}
