//! The output of a child on one stream: a buffer in bounded memory, and its content after the end of the stream.
//!
//! The head is kept in memory and then in a spill file, the tail in a ring.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Limits on each captured output stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capture {
    /// Bytes of a stream kept in memory. Further bytes spill to an unlinked temporary file.
    pub memory_bytes: usize,
    /// Bytes of a stream kept in total. A longer stream keeps its head and its tail, with the number of
    /// bytes dropped between them. The tail has half of this, at most 1 MiB, and is kept in memory in addition
    /// to `memory_bytes`. The child is never blocked.
    pub total_bytes: u64,
}

impl Default for Capture {
    /// Returns limits of 256 KiB in memory and 64 MiB in total.
    fn default() -> Self {
        Self {
            memory_bytes: 256 * 1024,
            total_bytes: 64 * 1024 * 1024,
        }
    }
}

/// Maximum number of bytes of a spill file in memory at once.
const COPY_BYTES: usize = 64 * 1024;

/// A captured stream: a head, and for a long stream also a gap and a tail. A part of the head may be in an
/// unlinked file, so that a long output takes a descriptor instead of memory.
#[derive(Debug, Default)]
pub struct Captured {
    /// All bytes that the child wrote, including the dropped ones.
    pub total_bytes: u64,
    /// Bytes dropped between the head and the tail; 0 if everything was kept.
    pub dropped_bytes: u64,
    /// The beginning of the head.
    pub(super) head: Vec<u8>,
    /// The rest of the head: an unlinked temporary file.
    pub(super) spill: Option<File>,
    /// The last bytes, after the gap if there is one.
    pub(super) tail: Vec<u8>,
}

impl Captured {
    /// Returns the kept text, with invalid UTF-8 replaced. A line `[N bytes dropped]` marks a gap. The whole
    /// text is in memory; see [`Captured::write_to`].
    ///
    /// # Errors
    /// The spill file could not be read back.
    pub fn text(&self) -> io::Result<String> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes)?;
        Ok(into_text(bytes))
    }

    /// Like [`Captured::text`], but writes the original bytes, with at most 64 KiB of a
    /// spill file in memory. Returns the number of bytes written.
    ///
    /// # Errors
    /// The spill file could not be read back, or `writer` failed.
    pub fn write_to(&self, writer: &mut impl Write) -> io::Result<u64> {
        let mut written = self.head_bytes();
        self.copy_head(0, written, writer)?;
        if self.dropped_bytes > 0 {
            let mark = format!("\n[{} bytes dropped]\n", self.dropped_bytes);
            writer.write_all(mark.as_bytes())?;
            written += mark.len() as u64;
        }
        writer.write_all(&self.tail)?;
        Ok(written + self.tail.len() as u64)
    }

    /// Returns the first `max_bytes` bytes, as the child wrote them, or all if the stream or its head is
    /// shorter.
    ///
    /// # Errors
    /// The spill file could not be read back.
    pub fn prefix(&self, max_bytes: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let from_head = max_bytes.min(self.head_bytes());
        self.copy_head(0, from_head, &mut bytes)?;
        if self.dropped_bytes == 0 {
            let more = length_within(max_bytes - from_head, self.tail.len());
            bytes.extend_from_slice(&self.tail[..more]);
        }
        Ok(bytes)
    }

    /// Returns [`Captured::prefix`] as text, with invalid UTF-8 replaced. A character that `max_bytes` splits is
    /// omitted.
    ///
    /// # Errors
    /// The spill file could not be read back.
    pub fn prefix_text(&self, max_bytes: u64) -> io::Result<String> {
        let mut bytes = self.prefix(max_bytes)?;
        if (bytes.len() as u64) < self.total_bytes
            && let Err(error) = std::str::from_utf8(last_character(&bytes))
            && error.error_len().is_none()
        {
            let whole = bytes.len() - last_character(&bytes).len() + error.valid_up_to();
            bytes.truncate(whole);
        }
        Ok(into_text(bytes))
    }

    /// Returns the last `max_bytes` bytes, as the child wrote them, or all if the stream or its tail is
    /// shorter.
    ///
    /// # Errors
    /// The spill file could not be read back.
    pub fn suffix(&self, max_bytes: u64) -> io::Result<Vec<u8>> {
        let from_tail = length_within(max_bytes, self.tail.len());
        let mut bytes = Vec::new();
        if self.dropped_bytes == 0 {
            let end = self.head_bytes();
            let start = end.saturating_sub(max_bytes - from_tail as u64);
            self.copy_head(start, end, &mut bytes)?;
        }
        bytes.extend_from_slice(&self.tail[self.tail.len() - from_tail..]);
        Ok(bytes)
    }

    /// Whether the child wrote nothing.
    pub fn is_empty(&self) -> bool {
        self.total_bytes == 0
    }

    /// Returns the number of kept bytes.
    pub fn kept_bytes(&self) -> u64 {
        self.total_bytes - self.dropped_bytes
    }

    fn head_bytes(&self) -> u64 {
        self.kept_bytes() - self.tail.len() as u64
    }

    /// Copies the bytes `start..end` of the head.
    fn copy_head(&self, start: u64, end: u64, writer: &mut impl Write) -> io::Result<()> {
        let in_memory = self.head.len();
        let from = length_within(start, in_memory);
        let to = length_within(end, in_memory);
        writer.write_all(&self.head[from..to])?;
        let Some(spill) = &self.spill else {
            return Ok(());
        };
        let mut offset = start.saturating_sub(in_memory as u64);
        let spill_end = end.saturating_sub(in_memory as u64);
        let mut chunk = vec![0; length_within(spill_end - offset, COPY_BYTES)];
        while offset < spill_end {
            let part = &mut chunk[..length_within(spill_end - offset, COPY_BYTES)];
            spill.read_exact_at(part, offset)?;
            writer.write_all(part)?;
            offset += part.len() as u64;
        }
        Ok(())
    }
}

fn length_within(length: u64, limit: usize) -> usize {
    usize::try_from(length).map_or(limit, |length| length.min(limit))
}

/// Converts bytes to text. Valid UTF-8 is not copied.
fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Returns the bytes of the last character, which may be incomplete.
fn last_character(bytes: &[u8]) -> &[u8] {
    let start = bytes
        .iter()
        .rposition(|byte| byte & 0xC0 != 0x80)
        .unwrap_or(0);
    &bytes[start..]
}

/// Maximum size of a tail, in bytes. It is kept in memory, since endless output would overwrite a file again
/// and again.
const MAX_TAIL: u64 = 1024 * 1024;

/// A stream while it is read. Up to `total_bytes` everything is kept; of a longer stream, the tail (half of
/// that, at most 1 MiB) and the head (the rest).
#[derive(Debug)]
pub(super) struct CaptureBuffer<'a> {
    memory_bytes: usize,
    /// Maximum size of the head, in bytes. Lowered without a spill file.
    head_bytes: u64,
    tail_bytes: usize,
    spill_directory: &'a Path,
    total: u64,
    memory: Vec<u8>,
    /// The rest of the head: an unlinked temporary file, and its length.
    spill: Option<File>,
    spilled: u64,
    tail: VecDeque<u8>,
}

impl<'a> CaptureBuffer<'a> {
    pub(super) fn new(capture: Capture, spill_directory: &'a Path) -> Self {
        let tail_bytes = (capture.total_bytes / 2).min(MAX_TAIL);
        Self {
            memory_bytes: capture.memory_bytes,
            head_bytes: capture.total_bytes - tail_bytes,
            tail_bytes: usize::try_from(tail_bytes).unwrap_or(usize::MAX),
            spill_directory,
            total: 0,
            memory: Vec::new(),
            spill: None,
            spilled: 0,
            tail: VecDeque::new(),
        }
    }

    /// Adds the next bytes of the stream.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let kept = self.push_head(bytes);
        self.push_tail(&bytes[kept..]);
    }

    /// Ends the stream.
    pub(super) fn finish(self) -> Captured {
        let kept = self.kept_in_head() + self.tail.len() as u64;
        Captured {
            total_bytes: self.total,
            dropped_bytes: self.total - kept,
            head: self.memory,
            spill: self.spill,
            tail: self.tail.into(),
        }
    }

    fn kept_in_head(&self) -> u64 {
        self.memory.len() as u64 + self.spilled
    }

    /// Adds bytes to the head. Returns the number of bytes that belong to it.
    fn push_head(&mut self, bytes: &[u8]) -> usize {
        let free = self.head_bytes - self.kept_in_head();
        let bytes = &bytes[..length_within(free, bytes.len())];
        let in_memory = bytes.len().min(self.memory_bytes - self.memory.len());
        let (to_memory, to_spill) = bytes.split_at(in_memory);
        self.reserve_memory(in_memory);
        self.memory.extend_from_slice(to_memory);
        in_memory + self.push_spill(to_spill)
    }

    /// Grows the memory by doubling, up to the limit.
    fn reserve_memory(&mut self, more: usize) {
        let needed = self.memory.len() + more;
        if needed > self.memory.capacity() {
            let doubled = needed.max(2 * self.memory.capacity());
            let aim = doubled.min(self.memory_bytes);
            self.memory.reserve_exact(aim - self.memory.len());
        }
    }

    fn push_spill(&mut self, bytes: &[u8]) -> usize {
        if bytes.is_empty() {
            return 0;
        }
        if self.spill.is_none() {
            self.spill = tempfile::tempfile_in(self.spill_directory).ok();
        }
        let count = self.spill.as_mut().map_or(0, |file| append(file, bytes));
        self.spilled += count as u64;
        if count < bytes.len() {
            // The disk is full: the head ends here, and the tail gets the rest.
            self.head_bytes = self.kept_in_head();
        }
        count
    }

    fn push_tail(&mut self, bytes: &[u8]) {
        let newest = &bytes[bytes.len() - bytes.len().min(self.tail_bytes)..];
        let excess = (self.tail.len() + newest.len()).saturating_sub(self.tail_bytes);
        self.tail.drain(..excess);
        self.tail.extend(newest);
    }
}

/// Returns the number of bytes that were written; not all if the disk is full or a limit is reached.
fn append(file: &mut File, bytes: &[u8]) -> usize {
    let mut done = 0;
    while done < bytes.len() {
        match file.write(&bytes[done..]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => break,
            Ok(count) => done += count,
        }
    }
    done
}

#[cfg(test)]
#[path = "captured_tests.rs"]
mod tests;
