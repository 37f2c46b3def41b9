//! The pipes of one child: its ends, and ours. All are close-on-exec.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Arc, OnceLock};

use super::{Command, Stdin};

/// The ends that become the child's descriptors.
#[derive(Debug)]
pub(super) struct ChildEnds {
    pub(super) stdin: Arc<OwnedFd>,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
    /// The number in the child and the end. Nonblocking, so that a long report cannot block the child.
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
    /// Replaces the standard input and output.
    pub(super) fn with(self, conversation: StdioPipes) -> io::Result<Self> {
        Ok(Self {
            stdin: Arc::new(above_standard_streams(conversation.stdin)?),
            stdout: above_standard_streams(conversation.stdout)?,
            ..self
        })
    }

    /// The ends with their numbers in the child, in ascending order.
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
    /// The system has no descriptor left.
    pub(super) fn make(&self, command: &Command) -> io::Result<(ChildEnds, OurEnds)> {
        let (stdout, their_stdout) = io::pipe()?;
        let (stderr, their_stderr) = io::pipe()?;
        let (their_stdin, stdin) = match &command.stdin {
            Stdin::Null => (self.null()?, None),
            Stdin::Bytes(_) => {
                let (theirs, ours) = io::pipe()?;
                rustix::io::ioctl_fionbio(&ours, true)?;
                let theirs = above_standard_streams(theirs.into())?;
                (Arc::new(theirs), Some(ours.into()))
            }
        };
        let (their_report, report) = match command.report {
            None => (None, None),
            Some(number) => {
                let (ours, theirs) = io::pipe()?;
                rustix::io::ioctl_fionbio(&ours, true)?;
                rustix::io::ioctl_fionbio(&theirs, true)?;
                let theirs = above_standard_streams(theirs.into())?;
                (Some((number, theirs)), Some(ours.into()))
            }
        };
        let theirs = ChildEnds {
            stdin: their_stdin,
            stdout: above_standard_streams(their_stdout.into())?,
            stderr: above_standard_streams(their_stderr.into())?,
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

    fn null(&self) -> io::Result<Arc<OwnedFd>> {
        if let Some(null) = self.null.get() {
            return Ok(Arc::clone(null));
        }
        let null = above_standard_streams(File::open("/dev/null")?.into())?;
        Ok(Arc::clone(self.null.get_or_init(|| Arc::new(null))))
    }
}

/// Moves a descriptor above the numbers 0-2, which it may have if standard streams of this process are closed.
pub(super) fn above_standard_streams(descriptor: OwnedFd) -> io::Result<OwnedFd> {
    if descriptor.as_raw_fd() > 2 {
        return Ok(descriptor);
    }
    Ok(rustix::io::fcntl_dupfd_cloexec(&descriptor, 3)?)
}
