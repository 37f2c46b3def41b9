//! The output of a child on one stream, after its end.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt as _;

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

/// A captured stream: a head, and for a long stream also a gap and a tail. A part of the head may be in an unlinked
/// file, so that a long output takes a descriptor instead of memory.
#[derive(Debug, Default)]
pub struct Captured {
    /// Number of bytes that the child wrote, including dropped ones.
    pub total_bytes: u64,
    /// Number of bytes dropped between the head and the tail; 0 if everything was kept.
    pub dropped_bytes: u64,
    /// The start of the head.
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

    /// Writes the kept bytes with the line that marks a gap, as in [`Captured::text`], with at most 64 KiB of a spill
    /// file in memory. Returns the number of bytes written.
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
            let more = clamp_length(max_bytes - from_head, self.tail.len());
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
        let from_tail = clamp_length(max_bytes, self.tail.len());
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

    /// Returns the length of the head, in bytes.
    fn head_bytes(&self) -> u64 {
        self.kept_bytes() - self.tail.len() as u64
    }

    /// Copies the bytes `start..end` of the head.
    fn copy_head(&self, start: u64, end: u64, writer: &mut impl Write) -> io::Result<()> {
        let in_memory = self.head.len();
        let from = clamp_length(start, in_memory);
        let to = clamp_length(end, in_memory);
        writer.write_all(&self.head[from..to])?;
        let Some(spill) = &self.spill else {
            return Ok(());
        };
        let mut offset = start.saturating_sub(in_memory as u64);
        let spill_end = end.saturating_sub(in_memory as u64);
        let mut chunk = vec![0; clamp_length(spill_end - offset, COPY_BYTES)];
        while offset < spill_end {
            let part = &mut chunk[..clamp_length(spill_end - offset, COPY_BYTES)];
            spill.read_exact_at(part, offset)?;
            writer.write_all(part)?;
            offset += part.len() as u64;
        }
        Ok(())
    }
}

/// Converts a length to `usize`, at most `limit`.
pub(super) fn clamp_length(length: u64, limit: usize) -> usize {
    usize::try_from(length).map_or(limit, |length| length.min(limit))
}

/// Converts bytes to text. Valid UTF-8 is not copied.
fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Returns the bytes of the last character, which may be incomplete.
fn last_character(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().rposition(|byte| byte & 0xC0 != 0x80);
    &bytes[start.unwrap_or(0)..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::capture_buffer::CaptureBuffer;

    fn capture(text: &[u8], memory_bytes: usize, total_bytes: u64) -> Captured {
        let directory = std::env::temp_dir();
        let limits = Capture {
            memory_bytes,
            total_bytes,
        };
        let mut buffer = CaptureBuffer::new(limits, &directory);
        buffer.push(text);
        buffer.finish()
    }

    #[test]
    fn prefixes_and_suffixes_are_right_in_memory_and_in_files() {
        let text = b"0123456789";
        for memory in 0..=10 {
            let captured = capture(text, memory, 10);
            for length in 0..=12 {
                let short = length.min(10);
                let wanted = length as u64;
                assert_eq!(captured.prefix(wanted).unwrap(), &text[..short]);
                assert_eq!(captured.suffix(wanted).unwrap(), &text[10 - short..]);
            }
        }
    }

    #[test]
    fn a_gap_ends_prefix_and_suffix() {
        let captured = capture(b"0123456789", 1, 4);
        assert_eq!(captured.text().unwrap(), "01\n[6 bytes dropped]\n89");
        assert_eq!(captured.prefix(100).unwrap(), b"01");
        assert_eq!(captured.suffix(100).unwrap(), b"89");
        assert_eq!((captured.total_bytes, captured.kept_bytes()), (10, 4));
    }

    #[test]
    fn a_long_spill_is_streamed_whole() {
        let text: Vec<u8> = (0..300_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        let captured = capture(&text, 1000, 1_000_000);
        let mut copy = Vec::new();
        assert_eq!(captured.write_to(&mut copy).unwrap(), 300_000);
        assert_eq!(copy, text);
    }

    #[test]
    fn a_split_character_is_omitted_and_a_broken_one_is_replaced() {
        let captured = capture("aé€😀".as_bytes(), 3, 100);
        let texts: Vec<String> = (0..=10)
            .map(|max| captured.prefix_text(max).unwrap())
            .collect();
        let expected = ["", "a", "a", "aé", "aé", "aé", "aé€", "aé€", "aé€", "aé€"];
        assert_eq!(texts[..10], expected);
        assert_eq!(texts[10], "aé€😀");
        let broken = capture(b"a\xE2\x82", 100, 100);
        assert_eq!(broken.prefix_text(100).unwrap(), "a\u{FFFD}");
        assert_eq!(broken.text().unwrap(), "a\u{FFFD}");
    }

    #[test]
    fn a_silent_child_has_an_empty_output() {
        assert!(Captured::default().is_empty());
        assert_eq!(Captured::default().text().unwrap(), "");
    }
}
