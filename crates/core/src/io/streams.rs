//! The streams and the context of a command: its terminal and environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::messages::Messages;
use super::screen::Screen;
use super::{Clock, Ids};
use crate::text::{Utf8Decoder, escape_hidden};

/// The input of a command.
pub enum InputStream {
    /// A descriptor: a pipe, a file, a terminal.
    Descriptor(File),
    /// Standard input was closed at the start; reads as empty.
    Closed,
}

impl InputStream {
    /// Whether it is a file with content, at its start. In a shell's loop over the lines of a file, it is not.
    pub fn is_whole_file(&self) -> bool {
        let Self::Descriptor(file) = self else {
            return false;
        };
        let mut position = file;
        let is_file = |metadata: Metadata| metadata.is_file() && metadata.len() > 0;
        file.metadata().is_ok_and(is_file) && position.stream_position().is_ok_and(|at| at == 0)
    }

    /// Returns a function that checks whether input is waiting. Always false for files.
    pub fn readiness_check(&self) -> impl Fn() -> bool + use<> {
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
    let mut descriptors = [PollFd::new(file, PollFlags::IN)];
    poll(&mut descriptors, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
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
    /// The terminal of the standard streams.
    pub screen: Screen,
    /// Facts about the terminal.
    pub terminal: TerminalFacts,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// New ids.
    pub ids: Arc<dyn Ids>,
    /// Environment variables.
    pub environment: Environment,
}

/// The source of timestamps and ids.
#[derive(Clone)]
pub struct Moment {
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of ids.
    pub ids: Arc<dyn Ids>,
}

impl Moment {
    /// Returns the clock and ids of a run.
    pub fn from_io(io: &Io) -> Self {
        Self {
            clock: Arc::clone(&io.clock),
            ids: Arc::clone(&io.ids),
        }
    }

    /// Returns the current time, RFC 3339.
    pub fn now(&self) -> String {
        format!("{:.3}", self.clock.now())
    }

    /// Returns a new id.
    pub fn uuid(&self) -> String {
        self.ids.uuid().to_string()
    }
}

/// Facts about the terminal, read once at the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TerminalFacts {
    /// Whether standard input is a terminal.
    pub stdin: bool,
    /// Whether standard output is a terminal.
    pub stdout: bool,
    /// Whether standard error is a terminal.
    pub stderr: bool,
    /// The width of the terminal on standard output, in columns, if known.
    pub columns: Option<usize>,
}

/// Writes records to a terminal with control and invisible characters escaped as in JSON (`\u009b`), so
/// that the records stay the same.
pub struct TerminalRecords<Sink> {
    sink: Sink,
    pieces: Utf8Decoder,
}

impl<Sink: Write> TerminalRecords<Sink> {
    /// Writes records to `sink`.
    pub fn new(sink: Sink) -> Self {
        Self {
            sink,
            pieces: Utf8Decoder::default(),
        }
    }
}

impl<Sink: Write> Write for TerminalRecords<Sink> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = self.pieces.push(bytes);
        self.sink.write_all(escape_hidden(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// The environment variables of this process as they were at its start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// Returns the raw value of a variable.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
    }

    /// Returns the value of a variable that is set, not empty and valid UTF-8.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)
            .and_then(OsStr::to_str)
            .filter(|value| !value.is_empty())
    }

    /// Returns a copy with these variables set.
    #[must_use]
    pub fn with<Name, Value>(&self, set: impl IntoIterator<Item = (Name, Value)>) -> Self
    where
        Name: Into<OsString>,
        Value: Into<OsString>,
    {
        let mut variables = self.variables.clone();
        variables.extend(
            set.into_iter()
                .map(|(name, value)| (name.into(), value.into())),
        );
        Self { variables }
    }

    /// Returns all variables, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

impl<Name: Into<OsString>, Value: Into<OsString>> FromIterator<(Name, Value)> for Environment {
    fn from_iter<Pairs: IntoIterator<Item = (Name, Value)>>(pairs: Pairs) -> Self {
        let variables = pairs
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        Self { variables }
    }
}

/// Repeats an operation that a signal interrupted.
///
/// # Errors
/// The operation failed for another reason.
pub fn retry_interrupted<Output>(
    mut operation: impl FnMut() -> io::Result<Output>,
) -> io::Result<Output> {
    loop {
        match operation() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

#[cfg(test)]
mod terminal_tests {
    use proptest::prelude::*;

    use super::*;

    fn write_chunks(chunks: &[&[u8]]) -> String {
        let mut shown = Vec::new();
        let mut terminal = TerminalRecords::new(&mut shown);
        for chunk in chunks {
            terminal.write_all(chunk).unwrap();
        }
        String::from_utf8(shown).unwrap()
    }

    #[test]
    fn invalid_utf_8_is_replaced() {
        assert_eq!(
            write_chunks(&[b"a\x9b31mb\n", b"\xff\n"]),
            "a\u{fffd}31mb\n\u{fffd}\n"
        );
    }

    proptest! {
        #[test]
        fn records_stay_the_same_wherever_they_are_cut(
            text in "[a\u{9b}\u{9d}\u{202e}\u{7f}\u{e0041}\u{1b}\\\\\"é字😀\u{200d}\n]{0,30}",
            cut in 0_usize..200
        ) {
            let record = serde_json::to_string(&text).unwrap();
            let (start, end) = record.as_bytes().split_at(cut.min(record.len()));
            let shown = write_chunks(&[start, end]);
            prop_assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
            let harms = ['\u{9b}', '\u{9d}', '\u{202e}', '\u{7f}', '\u{e0041}', '\u{1b}'];
            prop_assert!(!shown.contains(harms), "{}", shown);
        }
    }
}
