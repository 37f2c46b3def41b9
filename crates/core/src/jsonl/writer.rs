//! The writer of a command's records.
//!
//! It buffers, counts, and tracks whether the output is at the start of a line. The caller decides when to flush.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Write};
use std::sync::Arc;

use serde::Serialize;

use crate::io::retry_interrupted;

/// Size of the buffer, in bytes. Longer echoes are written directly.
const BUFFER_SIZE: usize = 64 * 1024;

/// The outcome of writing.
pub type WriteResult = Result<(), WriteError>;

/// The writer of a command.
pub type RecordWriter = Writer<Box<dyn Write + Send>>;

/// A write failure. After [`Self::BrokenPipe`] and [`Self::Failed`], every later call returns the same error.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The reader of the output closed it.
    #[error("broken pipe")]
    BrokenPipe,
    /// Disk full, I/O error: exit 74.
    #[error("cannot write output after {written} bytes: {source}")]
    Failed {
        /// Bytes written before the failure.
        written: u64,
        /// The system's error.
        source: Arc<io::Error>,
    },
    /// A record could not be serialized. Nothing of it was written; later calls can succeed.
    #[error("cannot serialize a record: {0}")]
    Serialize(#[from] serde_json::Error),
}

/// Keeps [`io::ErrorKind::BrokenPipe`] distinct from other failures.
impl From<WriteError> for io::Error {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::BrokenPipe => Self::from(io::ErrorKind::BrokenPipe),
            other => Self::other(other),
        }
    }
}

/// Writes echoed input and records. Buffered bytes are lost on drop: call [`Writer::flush`] first.
pub struct Writer<Sink: Write> {
    sink: Sink,
    buffer: Vec<u8>,
    written: u64,
    is_at_line_start: bool,
    failure: Option<Arc<io::Error>>,
}

/// Appends a record and a newline.
///
/// # Errors
/// The record cannot be serialized. A part of it may have been appended.
pub fn append_record(text: &mut Vec<u8>, record: &impl Serialize) -> WriteResult {
    let start = text.len();
    serde_json::to_writer(&mut *text, record)?;
    let escaped_text = std::str::from_utf8(&text[start..]).map(escape_separators);
    if let Ok(Cow::Owned(escaped)) = escaped_text {
        text.truncate(start);
        text.extend_from_slice(escaped.as_bytes());
    }
    text.push(b'\n');
    Ok(())
}

/// Escapes line separators beyond ASCII in a record, at which many readers split lines. Only strings contain them.
pub fn escape_separators(record: &str) -> Cow<'_, str> {
    let is_separator = |character: char| matches!(character, '\u{85}' | '\u{2028}' | '\u{2029}');
    if !record.contains(is_separator) {
        return Cow::Borrowed(record);
    }
    let mut escaped = String::with_capacity(record.len() + 32);
    for part in record.split_inclusive(is_separator) {
        let separator = part
            .chars()
            .next_back()
            .filter(|character| is_separator(*character));
        escaped.push_str(part.trim_end_matches(is_separator));
        escaped.extend(separator.map(|character| format!("\\u{:04x}", u32::from(character))));
    }
    Cow::Owned(escaped)
}

impl<Sink: Write> Writer<Sink> {
    /// Creates a writer to `sink`, which need not buffer.
    pub fn new(sink: Sink) -> Self {
        Self {
            sink,
            buffer: Vec::new(),
            written: 0,
            is_at_line_start: true,
            failure: None,
        }
    }

    /// Copies input bytes unchanged.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn echo(&mut self, raw: &[u8]) -> WriteResult {
        self.check()?;
        let Some(last) = raw.last() else {
            return Ok(());
        };
        self.is_at_line_start = *last == b'\n';
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

    /// Writes a record on its own line. If the echo stopped in the middle of a line, writes a newline first. The
    /// record must serialize to a single line, as does every value without a `RawValue` that contains a newline.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn record(&mut self, record: &impl Serialize) -> WriteResult {
        self.check()?;
        let start = self.buffer.len();
        if !self.is_at_line_start {
            self.buffer.push(b'\n');
        }
        if let Err(error) = append_record(&mut self.buffer, record) {
            self.buffer.truncate(start);
            return Err(error);
        }
        self.is_at_line_start = true;
        if self.buffer.len() > BUFFER_SIZE {
            self.empty_buffer()
        } else {
            Ok(())
        }
    }

    /// Writes all buffered bytes.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn flush(&mut self) -> WriteResult {
        self.check()?;
        self.empty_buffer()?;
        retry_interrupted(|| self.sink.flush()).map_err(|error| self.fail(error))
    }

    /// Whether there are buffered bytes.
    pub fn has_buffered(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// Returns the number of bytes written so far, without buffered ones.
    pub fn bytes_written(&self) -> u64 {
        self.written
    }

    fn check(&self) -> WriteResult {
        match &self.failure {
            None => Ok(()),
            Some(failure) => Err(write_error(failure, self.written)),
        }
    }

    fn empty_buffer(&mut self) -> WriteResult {
        let mut buffer = std::mem::take(&mut self.buffer);
        let result = self.write(&buffer);
        buffer.clear();
        // Frees the memory of a single long record.
        buffer.shrink_to(2 * BUFFER_SIZE);
        self.buffer = buffer;
        result
    }

    fn write(&mut self, mut bytes: &[u8]) -> WriteResult {
        while !bytes.is_empty() {
            match retry_interrupted(|| self.sink.write(bytes)) {
                Ok(0) => return Err(self.fail(ErrorKind::WriteZero.into())),
                Ok(length) => {
                    self.written += length as u64;
                    bytes = &bytes[length..];
                }
                Err(error) => return Err(self.fail(error)),
            }
        }
        Ok(())
    }

    fn fail(&mut self, error: io::Error) -> WriteError {
        let failure = self.failure.insert(Arc::new(error));
        write_error(failure, self.written)
    }
}

fn write_error(failure: &Arc<io::Error>, written: u64) -> WriteError {
    if failure.kind() == ErrorKind::BrokenPipe {
        return WriteError::BrokenPipe;
    }
    WriteError::Failed {
        written,
        source: Arc::clone(failure),
    }
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
