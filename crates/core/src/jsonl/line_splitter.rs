//! Splits streams into lines of bounded length.
//!
//! [`Reader`](super::Reader) is for records: it passes on every byte and keeps objects together that span
//! several lines.

use std::cell::RefCell;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use memchr::{memchr, memchr2};

/// The characters that end a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnding {
    /// LF or CRLF.
    Newline,
    /// LF, CRLF or CR, as in server-sent events.
    Any,
}

/// A line that is longer than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a line is longer than {limit} bytes")]
pub struct LineTooLong {
    /// The limit, in bytes.
    pub limit: usize,
}

/// Splits chunks of a stream into lines. Holds at most one line in memory.
#[derive(Debug)]
pub struct LineSplitter {
    limit: usize,
    ending: LineEnding,
    /// The current line: of a line that is too long, the beginning.
    line: Vec<u8>,
    is_complete: bool,
    /// Whether the last byte was a CR: an LF after it belongs to the same line ending.
    is_after_return: bool,
}

impl LineSplitter {
    /// Creates a splitter for lines of at most `limit` bytes.
    pub fn new(limit: usize, ending: LineEnding) -> Self {
        Self {
            limit,
            ending,
            line: Vec::new(),
            is_complete: false,
            is_after_return: false,
        }
    }

    /// Takes bytes from a non-empty chunk up to the end of the current line. Returns the number of bytes taken, and
    /// whether the line is complete. If so, [`LineSplitter::line`] returns it until the next call.
    pub fn push(&mut self, chunk: &[u8]) -> (usize, bool) {
        if std::mem::take(&mut self.is_complete) {
            self.line.clear();
        }
        let starts_with_line_feed =
            std::mem::take(&mut self.is_after_return) && chunk.starts_with(b"\n");
        let start = usize::from(starts_with_line_feed);
        let rest = &chunk[start..];
        let end = match self.ending {
            LineEnding::Newline => memchr(b'\n', rest),
            LineEnding::Any => memchr2(b'\n', b'\r', rest),
        };
        let text = &rest[..end.unwrap_or(rest.len())];
        // Two bytes more show that a line is too long, even if it ends with a CR.
        let kept = text.len().min(self.limit + 2 - self.line.len());
        self.line.extend_from_slice(&text[..kept]);
        let Some(end) = end else {
            return (chunk.len(), false);
        };
        self.is_after_return = rest[end] == b'\r';
        self.is_complete = true;
        (start + end + 1, true)
    }

    /// Returns the current line without its line ending.
    ///
    /// # Errors
    /// The line is too long.
    pub fn line(&self) -> Result<&[u8], LineTooLong> {
        let line = match self.ending {
            LineEnding::Newline => self.line.strip_suffix(b"\r").unwrap_or(&self.line),
            LineEnding::Any => &self.line,
        };
        let limit = self.limit;
        (line.len() <= limit)
            .then_some(line)
            .ok_or(LineTooLong { limit })
    }

    /// Completes the last line at the end of the stream. Returns whether there is one.
    pub fn finish(&mut self) -> bool {
        !std::mem::replace(&mut self.is_complete, true) && !self.line.is_empty()
    }
}

/// Reads lines from a source.
pub struct LineReader<Source> {
    source: BufReader<Source>,
    lines: LineSplitter,
}

impl<Source: Read> LineReader<Source> {
    /// Creates a reader of lines of at most `limit` bytes, which end with LF or CRLF.
    pub fn new(source: Source, limit: usize) -> Self {
        Self {
            source: BufReader::new(source),
            lines: LineSplitter::new(limit, LineEnding::Newline),
        }
    }

    /// Whether the next call of [`LineReader::next_line`] may have to wait for input.
    pub fn may_wait(&self) -> bool {
        memchr(b'\n', self.source.buffer()).is_none()
    }

    /// Returns the next line without its line ending, or `None` at the end. The last line may lack its ending.
    /// A line that is too long is returned as an error; the next call continues after it.
    ///
    /// # Errors
    /// Reading failed.
    pub fn next_line(&mut self) -> io::Result<Option<Result<&[u8], LineTooLong>>> {
        loop {
            let chunk = match self.source.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let (length, is_complete) = match chunk {
                [] if !self.lines.finish() => return Ok(None),
                [] => (0, true),
                chunk => self.lines.push(chunk),
            };
            self.source.consume(length);
            if is_complete {
                return Ok(Some(self.lines.line()));
            }
        }
    }
}

/// Maximum number of idle buffers per thread.
const MAX_IDLE: usize = 4;

/// Maximum size of an idle buffer, in bytes. Larger ones are freed.
const MAX_IDLE_BYTES: usize = 1024 * 1024;

thread_local! {
    static IDLE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// A read buffer. Dropping it makes its memory available to the next one.
#[derive(Debug)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
}

impl Buffer {
    /// Returns the largest idle buffer, or a new one.
    pub(super) fn from_pool() -> Self {
        let idle = IDLE.try_with(|idle| {
            let mut idle = idle.try_borrow_mut().ok()?;
            let sizes = idle.iter().map(Vec::len).enumerate();
            let (largest, _) = sizes.max_by_key(|(_, size)| *size)?;
            Some(idle.swap_remove(largest))
        });
        Self {
            bytes: idle.ok().flatten().unwrap_or_default(),
        }
    }

    /// Returns the first `size` bytes. Their contents are unspecified.
    pub(super) fn resize_to(&mut self, size: usize) -> &mut [u8] {
        if self.bytes.is_empty() {
            // Resizing would write each byte.
            self.bytes = vec![0; size];
        } else if self.bytes.len() < size {
            self.bytes.resize(size, 0);
        }
        &mut self.bytes[..size]
    }

    /// Returns the first `size` bytes, or all of them if the buffer was never that large.
    pub(super) fn prefix(&self, size: usize) -> &[u8] {
        &self.bytes[..size.min(self.bytes.len())]
    }
}

/// Returns `size` bytes to read into, from an idle buffer if there is one. Their contents are unspecified.
pub fn take_buffer(size: usize) -> Vec<u8> {
    let mut buffer = Buffer::from_pool();
    buffer.resize_to(size);
    let mut bytes = std::mem::take(&mut buffer.bytes);
    bytes.truncate(size);
    bytes
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        if bytes.is_empty() || bytes.len() > MAX_IDLE_BYTES {
            return;
        }
        // Fails on a thread that is ending.
        let _ = IDLE.try_with(|idle| {
            if let Ok(mut idle) = idle.try_borrow_mut()
                && idle.len() < MAX_IDLE
            {
                idle.push(bytes);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    /// Returns its chunks one read at a time.
    struct Chunks(VecDeque<Vec<u8>>);

    impl Read for Chunks {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(mut chunk) = self.0.pop_front() else {
                return Ok(0);
            };
            let length = chunk.len().min(buffer.len());
            buffer[..length].copy_from_slice(&chunk[..length]);
            if length < chunk.len() {
                self.0.push_front(chunk.split_off(length));
            }
            Ok(length)
        }
    }

    fn lines(source: impl Read, limit: usize) -> Vec<Option<Vec<u8>>> {
        let mut reader = LineReader::new(source, limit);
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line().unwrap() {
            lines.push(line.ok().map(<[u8]>::to_vec));
        }
        lines
    }

    #[test]
    fn lines_lose_only_their_ending() {
        let some = |text: &str| Some(text.as_bytes().to_vec());
        assert_eq!(lines(&b""[..], 9), []);
        assert_eq!(lines(&b"\n"[..], 9), [some("")]);
        assert_eq!(lines(&b"a\r\n\nb"[..], 9), [some("a"), some(""), some("b")]);
        assert_eq!(
            lines(&b"12345\n123456\n12345\r\n1"[..], 5),
            [some("12345"), None, some("12345"), some("1")]
        );
    }

    #[test]
    fn a_long_line_is_skipped_in_bounded_memory() {
        let source = io::repeat(b'x').take(1 << 20).chain(&b"\nshort\n"[..]);
        let mut reader = LineReader::new(source, 100);
        let too_long = LineTooLong { limit: 100 };
        assert_eq!(reader.next_line().unwrap(), Some(Err(too_long)));
        assert_eq!(reader.next_line().unwrap(), Some(Ok(&b"short"[..])));
        assert!(reader.lines.line.capacity() < 1000);
    }

    #[test]
    fn any_line_ending_ends_one_line() {
        let text = b"a\nb\r\nc\rd\r\n\r\n\n\re";
        let expected = ["a", "b", "c", "d", "", "", "", "e"];
        for split in 0..=text.len() {
            let mut splitter = LineSplitter::new(9, LineEnding::Any);
            let mut lines = Vec::new();
            for mut chunk in [&text[..split], &text[split..]] {
                while !chunk.is_empty() {
                    let (length, is_complete) = splitter.push(chunk);
                    chunk = &chunk[length..];
                    if is_complete {
                        lines.push(String::from_utf8(splitter.line().unwrap().to_vec()).unwrap());
                    }
                }
            }
            assert!(splitter.finish());
            lines.push(String::from_utf8(splitter.line().unwrap().to_vec()).unwrap());
            assert_eq!(lines, expected, "{split}");
            assert!(!splitter.finish());
        }
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter(
            chunks in prop::collection::vec("[ab\n]{1,5}", 0..10), limit in 1_usize..6
        ) {
            let joined = chunks.concat();
            let chunks = chunks.into_iter().map(String::into_bytes).collect();
            let expected: Vec<_> = joined
                .split_terminator('\n')
                .map(|line| (line.len() <= limit).then(|| line.as_bytes().to_vec()))
                .collect();
            prop_assert_eq!(lines(Chunks(chunks), limit), expected);
        }
    }

    #[test]
    fn buffers_are_reused_up_to_a_limit() {
        let mut first = Buffer::from_pool();
        first.resize_to(100)[99] = 7;
        assert_eq!(first.prefix(200).len(), 100);
        drop(first);
        assert_eq!(Buffer::from_pool().prefix(100).last(), Some(&7));
        for _ in 0..2 * MAX_IDLE {
            let mut large = Buffer::from_pool();
            large.resize_to(MAX_IDLE_BYTES + 1);
        }
        assert!(Buffer::from_pool().prefix(1).is_empty());
    }
}
