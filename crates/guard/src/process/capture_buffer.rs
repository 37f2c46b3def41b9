//! A buffer for one output stream in bounded memory. The head is kept in memory and then in a spill file, the tail in a
//! ring.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use super::captured::{Capture, Captured, clamp_length};
use turnpipe_core::io::retry_interrupted;

/// Maximum size of a tail, in bytes. It is kept in memory, since endless output would overwrite a file again and again.
const MAX_TAIL: u64 = 1024 * 1024;

/// A stream while it is read. Up to [`Capture::total_bytes`], everything is kept. Of a longer stream, the tail (half of
/// that, at most 1 MiB) and the head (the rest) are kept.
#[derive(Debug)]
pub(super) struct CaptureBuffer<'a> {
    memory_bytes: usize,
    /// Maximum size of the head, in bytes. Lowered when the spill file cannot be written.
    head_bytes: u64,
    tail_bytes: usize,
    spill_directory: &'a Path,
    /// Number of bytes read.
    total: u64,
    memory: Vec<u8>,
    /// The rest of the head: an unlinked temporary file.
    spill: Option<File>,
    /// Length of the spill file, in bytes.
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
        let in_head = self.push_head(bytes);
        self.push_tail(&bytes[in_head..]);
    }

    /// Ends the stream, and returns what was kept.
    pub(super) fn finish(self) -> Captured {
        let kept = self.head_length() + self.tail.len() as u64;
        Captured {
            total_bytes: self.total,
            dropped_bytes: self.total - kept,
            head: self.memory,
            spill: self.spill,
            tail: self.tail.into(),
        }
    }

    /// Returns the length of the head, in bytes.
    fn head_length(&self) -> u64 {
        self.memory.len() as u64 + self.spilled
    }

    /// Adds bytes to the head. Returns the number of bytes that belong to it.
    fn push_head(&mut self, bytes: &[u8]) -> usize {
        let free = self.head_bytes - self.head_length();
        let head = &bytes[..clamp_length(free, bytes.len())];
        let in_memory = head.len().min(self.memory_bytes - self.memory.len());
        let (to_memory, to_spill) = head.split_at(in_memory);
        self.reserve_memory(in_memory);
        self.memory.extend_from_slice(to_memory);
        in_memory + self.push_spill(to_spill)
    }

    /// Grows the memory by doubling, up to the limit.
    fn reserve_memory(&mut self, more: usize) {
        let needed = self.memory.len() + more;
        if needed > self.memory.capacity() {
            let doubled = needed.max(2 * self.memory.capacity());
            let capacity = doubled.min(self.memory_bytes);
            self.memory.reserve_exact(capacity - self.memory.len());
        }
    }

    /// Appends bytes to the spill file. Returns the number of bytes written.
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
            self.head_bytes = self.head_length();
        }
        count
    }

    /// Adds bytes to the tail, and removes the oldest ones beyond its maximum size.
    fn push_tail(&mut self, bytes: &[u8]) {
        let newest = &bytes[bytes.len() - bytes.len().min(self.tail_bytes)..];
        let excess = (self.tail.len() + newest.len()).saturating_sub(self.tail_bytes);
        self.tail.drain(..excess);
        self.tail.extend(newest);
    }
}

/// Appends bytes to a file. Returns the number of bytes written, which is less than all if the disk is full or a limit
/// is reached.
fn append(file: &mut File, bytes: &[u8]) -> usize {
    let mut written = 0;
    while written < bytes.len() {
        match retry_interrupted(|| file.write(&bytes[written..])) {
            Ok(0) | Err(_) => break,
            Ok(count) => written += count,
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn captured(capture: Capture, directory: &Path, chunks: &[&[u8]]) -> Captured {
        let mut buffer = CaptureBuffer::new(capture, directory);
        for chunk in chunks {
            buffer.push(chunk);
        }
        buffer.finish()
    }

    fn kept(captured: &Captured) -> Vec<u8> {
        let mut bytes = captured.prefix(u64::MAX).unwrap();
        if captured.dropped_bytes > 0 {
            bytes.extend(&captured.tail);
        }
        bytes
    }

    #[test]
    fn a_head_beyond_memory_goes_to_a_file() {
        let capture = Capture {
            memory_bytes: 4,
            total_bytes: 100,
        };
        let captured = captured(capture, &std::env::temp_dir(), &[b"abcdef", b"ghij"]);
        assert_eq!(captured.head, b"abcd");
        let spilled = captured.spill.as_ref().unwrap().metadata().unwrap();
        assert_eq!(spilled.len(), 6);
        assert_eq!(captured.text().unwrap(), "abcdefghij");
    }

    #[test]
    fn small_output_needs_no_file() {
        let nowhere = Path::new("/nonexistent/directory");
        let captured = captured(Capture::default(), nowhere, &[b"abc"]);
        assert!(captured.spill.is_none());
        assert_eq!(captured.text().unwrap(), "abc");
    }

    #[test]
    fn without_a_spill_file_head_and_tail_stay_in_memory() {
        let capture = Capture {
            memory_bytes: 3,
            total_bytes: 10,
        };
        let nowhere = Path::new("/nonexistent/directory");
        let captured = captured(capture, nowhere, &[b"abcdefghijkl", b"mn"]);
        assert_eq!(captured.total_bytes, 14);
        assert_eq!(captured.dropped_bytes, 6);
        assert_eq!(captured.text().unwrap(), "abc\n[6 bytes dropped]\njklmn");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_ends_the_head_without_losing_count() {
        let mut buffer = CaptureBuffer::new(
            Capture {
                memory_bytes: 2,
                total_bytes: 8,
            },
            Path::new("/"),
        );
        let full = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        buffer.spill = Some(full);
        buffer.push(b"abcdefghij");
        let captured = buffer.finish();
        assert_eq!(captured.dropped_bytes, 4);
        assert_eq!(
            (&*captured.head, &*captured.tail),
            (&b"ab"[..], &b"ghij"[..])
        );
    }

    #[test]
    fn memory_use_stays_within_the_limit() {
        let capture = Capture {
            memory_bytes: 1000,
            total_bytes: 2000,
        };
        let mut buffer = CaptureBuffer::new(capture, Path::new("/nonexistent/directory"));
        for _ in 0..100 {
            buffer.push(&[b'x'; 77]);
            assert!(buffer.memory.capacity() <= 1000);
            assert!(buffer.tail.len() <= 1000);
        }
    }

    proptest! {
        /// For all chunks, limits and disks: every lost byte is counted, the head is a prefix, the tail is a
        /// suffix, and nothing is dropped that fits.
        #[test]
        fn head_gap_and_tail_add_up(
            stream in proptest::collection::vec(any::<u8>(), 0..400),
            cuts in proptest::collection::vec(0..400_usize, 0..12),
            memory_bytes in 0..200_usize,
            total_bytes in 0..400_u64,
            disk in any::<bool>(),
        ) {
            let temporary = std::env::temp_dir();
            let directory = if disk { &*temporary } else { Path::new("/nonexistent/directory") };
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(stream.len())).collect();
            cuts.extend([0, stream.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &stream[pair[0]..pair[1]]).collect();
            let captured = captured(Capture { memory_bytes, total_bytes }, directory, &chunks);

            prop_assert_eq!(captured.total_bytes, stream.len() as u64);
            let kept = kept(&captured);
            prop_assert_eq!(kept.len() as u64 + captured.dropped_bytes, captured.total_bytes);
            prop_assert!(kept.len() as u64 <= total_bytes);
            let head = captured.prefix(u64::MAX).unwrap();
            prop_assert!(stream.starts_with(&head));
            prop_assert!(stream.ends_with(&captured.tail));
            prop_assert!(captured.head.len() <= memory_bytes);
            if disk || total_bytes <= memory_bytes as u64 {
                prop_assert_eq!(kept.len() as u64, captured.total_bytes.min(total_bytes));
            }
            if captured.dropped_bytes == 0 {
                prop_assert_eq!(kept, stream);
            }
        }
    }
}
