//! The one writer of a command's records.
//!
//! It buffers, counts, and remembers whether the last byte was a newline. When to flush is the
//! caller's business.

use std::io::{self, ErrorKind, Write};

use serde::Serialize;

/// Buffered bytes beyond this are handed to the system; longer echoes are not buffered at all.
const BUFFER_SIZE: usize = 64 * 1024;

/// Why writing stopped. Once it has, every later call says the same.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The reader of our output went away.
    #[error("broken pipe")]
    BrokenPipe,
    /// Disk full, I/O error: exit 74.
    #[error("cannot write output after {written} bytes: {source}")]
    Failed {
        /// Bytes that were written before it failed.
        written: u64,
        /// What the system said.
        source: io::Error,
    },
    /// A record could not be serialised. Nothing of it was written, and writing can go on.
    #[error("cannot serialise a record: {0}")]
    Serialise(#[from] serde_json::Error),
}

/// A broken pipe stays distinct from other failures.
impl From<WriteError> for io::Error {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::BrokenPipe => Self::from(io::ErrorKind::BrokenPipe),
            other => Self::other(other),
        }
    }
}

/// Buffers what is echoed, and what is our own; remembers whether the last byte was a newline.
/// What is still buffered when it is dropped is lost: flush first.
pub struct Writer<Sink: Write> {
    sink: Sink,
    buffer: Vec<u8>,
    written: u64,
    at_line_start: bool,
    failure: Option<Failure>,
}

/// Appends one of our own records, and a newline.
///
/// # Errors
/// It cannot be serialised; then a part of it may be there.
pub fn append_record(text: &mut Vec<u8>, record: &impl Serialize) -> Result<(), WriteError> {
    serde_json::to_writer(&mut *text, record)?;
    text.push(b'\n');
    Ok(())
}

impl<Sink: Write> Writer<Sink> {
    /// Writes to `sink`, which need not buffer.
    pub fn new(sink: Sink) -> Self {
        Self {
            sink,
            buffer: Vec::new(),
            written: 0,
            at_line_start: true,
            failure: None,
        }
    }

    /// Copies input bytes as they are.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn echo(&mut self, raw: &[u8]) -> Result<(), WriteError> {
        self.check()?;
        let Some(last) = raw.last() else {
            return Ok(());
        };
        self.at_line_start = *last == b'\n';
        if self.buffer.is_empty() && raw.len() >= BUFFER_SIZE / 2 {
            return self.write(raw);
        }
        if self.buffer.len() + raw.len() <= BUFFER_SIZE {
            self.buffer.extend_from_slice(raw);
            return Ok(());
        }
        self.empty_buffer()?;
        if raw.len() < BUFFER_SIZE {
            self.buffer.extend_from_slice(raw);
            Ok(())
        } else {
            self.write(raw)
        }
    }

    /// Writes one of our own records on its own line: if the echo stopped inside of a torn
    /// last line, that line gets its newline first. A record serialises to a single line, as
    /// every value does that holds no `RawValue` with a newline.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn record(&mut self, record: &impl Serialize) -> Result<(), WriteError> {
        self.check()?;
        let start = self.buffer.len();
        if !self.at_line_start {
            self.buffer.push(b'\n');
        }
        if let Err(error) = append_record(&mut self.buffer, record) {
            self.buffer.truncate(start);
            return Err(error);
        }
        self.at_line_start = true;
        if self.buffer.len() > BUFFER_SIZE {
            self.empty_buffer()
        } else {
            Ok(())
        }
    }

    /// Hands everything to the system.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.check()?;
        self.empty_buffer()?;
        loop {
            match self.sink.flush() {
                Ok(()) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.fail(&error)),
            }
        }
    }

    /// Whether there is anything that the system has not got yet.
    pub fn has_buffered(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// How many bytes the system has taken so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    fn check(&self) -> Result<(), WriteError> {
        match &self.failure {
            None => Ok(()),
            Some(failure) => Err(failure.to_error(self.written)),
        }
    }

    fn empty_buffer(&mut self) -> Result<(), WriteError> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let result = self.write(&buffer);
        buffer.clear();
        // A single long record must not hold its memory for ever.
        buffer.shrink_to(2 * BUFFER_SIZE);
        self.buffer = buffer;
        result
    }

    /// Writes all of `bytes`, in as many steps as the system likes.
    fn write(&mut self, mut bytes: &[u8]) -> Result<(), WriteError> {
        while !bytes.is_empty() {
            match self.sink.write(bytes) {
                Ok(0) => return Err(self.fail(&ErrorKind::WriteZero.into())),
                Ok(length) => {
                    self.written += length as u64;
                    bytes = &bytes[length..];
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.fail(&error)),
            }
        }
        Ok(())
    }

    fn fail(&mut self, error: &io::Error) -> WriteError {
        let failure = Failure::of(error);
        let error = failure.to_error(self.written);
        self.failure = Some(failure);
        error
    }
}

/// What is remembered of an error that cannot be cloned.
enum Failure {
    BrokenPipe,
    /// An error of the system.
    Code(i32),
    /// An error of a sink in this process.
    Other(ErrorKind, String),
}

impl Failure {
    fn of(error: &io::Error) -> Self {
        match error.raw_os_error() {
            _ if error.kind() == ErrorKind::BrokenPipe => Self::BrokenPipe,
            Some(code) => Self::Code(code),
            None => Self::Other(error.kind(), error.to_string()),
        }
    }

    fn to_error(&self, written: u64) -> WriteError {
        let source = match self {
            Self::BrokenPipe => return WriteError::BrokenPipe,
            Self::Code(code) => io::Error::from_raw_os_error(*code),
            Self::Other(kind, message) => io::Error::new(*kind, message.clone()),
        };
        WriteError::Failed { written, source }
    }
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
