//! The one writer of a command's records.

use std::io::{self, Write};

use serde::Serialize;

/// Why writing stopped.
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
    /// A record could not be serialised.
    #[error("cannot serialise a record: {0}")]
    Serialise(#[from] serde_json::Error),
}

/// Buffers what is echoed, and what is our own; remembers whether the last byte was a newline.
pub struct Writer<Sink: Write> {
    sink: Sink,
    buffer: Vec<u8>,
    written: u64,
    at_line_start: bool,
}

impl<Sink: Write> Writer<Sink> {
    /// Writes to `sink`.
    pub fn new(sink: Sink) -> Self {
        Self {
            sink,
            buffer: Vec::new(),
            written: 0,
            at_line_start: true,
        }
    }

    /// Copies input bytes as they are.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn echo(&mut self, raw: &[u8]) -> Result<(), WriteError> {
        if let Some(last) = raw.last() {
            self.at_line_start = *last == b'\n';
        }
        self.buffer.extend_from_slice(raw);
        if self.buffer.len() >= 256 * 1024 {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Writes one of our own records on a line of its own: if the echo stopped inside of a torn
    /// last line, that line gets its newline first.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn record(&mut self, record: &impl Serialize) -> Result<(), WriteError> {
        if !self.at_line_start {
            self.buffer.push(b'\n');
        }
        serde_json::to_writer(&mut self.buffer, record)?;
        self.buffer.push(b'\n');
        self.at_line_start = true;
        Ok(())
    }

    /// Hands everything to the system.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn flush(&mut self) -> Result<(), WriteError> {
        let result = self
            .sink
            .write_all(&self.buffer)
            .and_then(|()| self.sink.flush());
        let length = self.buffer.len() as u64;
        self.buffer.clear();
        match result {
            Ok(()) => {
                self.written += length;
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(WriteError::BrokenPipe),
            Err(source) => Err(WriteError::Failed {
                written: self.written,
                source,
            }),
        }
    }
}
