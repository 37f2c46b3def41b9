//! The bundle of everything a command may touch.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{Clock, Environment, Ids, Messages, TerminalFacts};

/// Where a command's input comes from.
pub enum Input {
    /// A descriptor: a pipe, a file, a terminal.
    Descriptor(File),
    /// stdin was closed before we started: read as empty.
    Closed,
}

impl Input {
    /// A function that returns whether input is waiting. Only pipes, sockets and terminals can
    /// have input waiting; for anything else it returns false.
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

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Descriptor(file) => file.read(buffer),
            Self::Closed => Ok(0),
        }
    }
}

/// Where a command's records go. Unbuffered: `jsonl::Writer` does the buffering.
pub enum Output {
    /// A working sink.
    Sink(Box<dyn Write + Send>),
    /// stdout was closed before we started: nothing may run (exit 74).
    Closed,
}

/// Everything a command may touch of the world.
pub struct Io {
    /// Standard input.
    pub stdin: Input,
    /// Standard output: records only.
    pub stdout: Output,
    /// Another handle on standard output, to notice that its reader went away.
    pub stdout_watch: Option<OwnedFd>,
    /// Standard error: messages for people.
    pub messages: Messages,
    /// Which streams are terminals.
    pub terminal: TerminalFacts,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Fresh ids.
    pub ids: Arc<dyn Ids>,
    /// Environment variables.
    pub environment: Environment,
}
