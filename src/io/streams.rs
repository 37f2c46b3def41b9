//! Streams and context of a command.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{Clock, Environment, Ids, Messages, TerminalFacts};

/// The input of a command.
pub enum InputStream {
    /// A descriptor: a pipe, a file, a terminal.
    Descriptor(File),
    /// Standard input was closed at the start; reads as empty.
    Closed,
}

impl InputStream {
    /// Returns a function that checks whether input is waiting. Always false for files.
    pub fn readiness(&self) -> impl Fn() -> bool + use<> {
        let pipe = match self {
            Self::Descriptor(file) => file
                .metadata()
                .ok()
                .filter(|metadata| !metadata.is_file())
                .and_then(|_| file.try_clone().ok()),
            Self::Closed => None,
        };
        move || pipe.as_ref().is_some_and(is_readable)
    }
}

fn is_readable(file: &File) -> bool {
    let mut asked = [PollFd::new(file, PollFlags::IN)];
    poll(&mut asked, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

impl Read for InputStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Descriptor(file) => file.read(buffer),
            Self::Closed => Ok(0),
        }
    }
}

/// The output of a command. Unbuffered: `jsonl::Writer` buffers.
pub enum OutputStream {
    /// An open sink.
    Sink(Box<dyn Write + Send>),
    /// Standard output was closed at the start: nothing runs (exit status 74).
    Closed,
}

/// The streams and context of a command.
pub struct Io {
    /// Standard input.
    pub stdin: InputStream,
    /// Standard output: records only.
    pub stdout: OutputStream,
    /// A second handle on standard output, to detect that its other end is closed.
    pub stdout_watch: Option<OwnedFd>,
    /// Standard error: messages.
    pub messages: Messages,
    /// Facts about the terminal.
    pub terminal: TerminalFacts,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// New ids.
    pub ids: Arc<dyn Ids>,
    /// Environment variables.
    pub environment: Environment,
}
