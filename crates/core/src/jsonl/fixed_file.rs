//! A snapshot of a file: its first bytes up to a fixed length, read at any offset.
//!
//! Windows are read with `pread`, or mapped where that is allowed and faster. Bytes that other processes append
//! are not visible; if they truncate the file, windows that are
//! read become shorter, and access to a mapped one raises SIGBUS.

use std::borrow::Borrow;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use memmap2::{Mmap, MmapOptions};

use super::line_splitter::Buffer;
use crate::io::retry_interrupted;

/// Minimum size of a mapping, in bytes. Copying a smaller window costs less than its page faults.
const MIN_MAPPING_BYTES: u64 = 1024 * 1024;

/// Permission to map large windows into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mapping {
    /// Mapped if the system supports it.
    Allowed,
    /// Windows are always read.
    Refused,
}

/// The first bytes of a file, read once for all uses.
#[derive(Debug)]
pub struct Beginning {
    buffer: Buffer,
    length: usize,
}

impl Beginning {
    /// Reads up to `size` bytes.
    ///
    /// # Errors
    /// Reading failed (interrupted reads are repeated).
    pub fn read(file: &File, size: usize) -> io::Result<Self> {
        let mut buffer = Buffer::from_pool();
        let length = fill_at(file, buffer.resize_to(size), 0)?;
        Ok(Self { buffer, length })
    }

    /// Returns the contents.
    pub fn bytes(&self) -> &[u8] {
        self.buffer.prefix(self.length)
    }
}

/// The first bytes of a file, up to a fixed length.
#[derive(Debug)]
pub struct FixedFile<Source = File> {
    file: Source,
    length: u64,
    mapping: Mapping,
    /// The start of the file, if it was read before.
    beginning: Option<Arc<Beginning>>,
    buffer: Option<Buffer>,
    /// The range of the file in `buffer`.
    buffered: Range<u64>,
    map: Option<Mmap>,
}

impl<Source: Borrow<File>> FixedFile<Source> {
    /// Creates a snapshot of the first `length` bytes of `file`.
    pub fn new(file: Source, length: u64, mapping: Mapping) -> Self {
        Self {
            file,
            length,
            mapping,
            beginning: None,
            buffer: None,
            buffered: 0..0,
            map: None,
        }
    }

    /// Sets the start of the file, which is then not read again.
    #[must_use]
    pub fn with_beginning(mut self, beginning: Arc<Beginning>) -> Self {
        self.beginning = Some(beginning);
        self
    }

    /// Returns the length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the bytes at `range`, limited to the end of the file. A window inside the last one is not read
    /// again.
    ///
    /// # Errors
    /// Reading failed (interrupted reads are repeated).
    pub fn window(&mut self, range: Range<u64>) -> io::Result<&[u8]> {
        Ok(self.window_and_file(range)?.0)
    }

    /// Like [`FixedFile::window`], with the file.
    pub(super) fn window_and_file(&mut self, range: Range<u64>) -> io::Result<(&[u8], &File)> {
        let end = range.end.min(self.length);
        let range = range.start.min(end)..end;
        let size = range.end - range.start;
        self.map = None;
        let beginning_length = self
            .beginning
            .as_deref()
            .map_or(0, |beginning| beginning.bytes().len());
        if range.end <= beginning_length as u64 {
            let beginning = self.beginning.as_deref().map(Beginning::bytes);
            let window = slice_at(beginning.unwrap_or_default(), 0, &range);
            return Ok((window.unwrap_or_default(), self.file.borrow()));
        }
        if self.mapping == Mapping::Allowed && size >= MIN_MAPPING_BYTES {
            self.map = self.map_range(range.start, size);
        }
        let is_buffered = self.buffered.start <= range.start && range.end <= self.buffered.end;
        if self.map.is_none() && !is_buffered {
            self.fill(range.clone())?;
        }
        if let Some(map) = &self.map {
            return Ok((map, self.file.borrow()));
        }
        let buffered_size =
            usize::try_from(self.buffered.end - self.buffered.start).map_err(io::Error::other)?;
        let bytes = self
            .buffer
            .as_ref()
            .map_or(&[][..], |buffer| buffer.prefix(buffered_size));
        // A truncated file has fewer bytes.
        let available = range.start..range.end.min(self.buffered.end);
        let window = slice_at(bytes, self.buffered.start, &available).unwrap_or_default();
        Ok((window, self.file.borrow()))
    }

    /// Fills the buffer with the bytes at `range`, limited to the end of the file. Bytes at either end of the range
    /// that are already in memory are not read again.
    fn fill(&mut self, range: Range<u64>) -> io::Result<()> {
        let buffer = self.buffer.get_or_insert_with(Buffer::from_pool);
        let index = |at: u64| usize::try_from(at - range.start).map_err(io::Error::other);
        let size = index(range.end)?;
        let bytes = buffer.resize_to(size);
        let old = std::mem::replace(&mut self.buffered, 0..0);
        let mut from = 0;
        let mut to = size;
        if range.start < old.start && old.start < range.end && range.end <= old.end {
            to = index(old.start)?;
            bytes.copy_within(..size - to, to);
        }
        let beginning = self.beginning.as_deref().map(Beginning::bytes);
        let beginning_bytes = usize::try_from(range.start)
            .ok()
            .and_then(|start| beginning?.get(start..));
        if let Some(beginning_bytes) = beginning_bytes {
            from = beginning_bytes.len().min(to);
            bytes[..from].copy_from_slice(&beginning_bytes[..from]);
        }
        let missing = &mut bytes[from..to];
        let wanted = missing.len();
        let filled = fill_at(self.file.borrow(), missing, range.start + from as u64)?;
        // After a short read, the bytes at the end of the range do not follow those that were read.
        let end = if filled == wanted {
            size
        } else {
            from + filled
        };
        self.buffered = range.start..range.start + end as u64;
        Ok(())
    }

    /// Maps bytes; `None` if the file no longer contains them, or cannot be mapped.
    fn map_range(&self, start: u64, size: u64) -> Option<Mmap> {
        let is_complete = self.file.borrow().metadata().ok()?.len() >= start + size;
        let size = usize::try_from(size).ok()?;
        if !is_complete {
            return None;
        }
        let mut options = MmapOptions::new();
        options.offset(start).len(size);
        // SAFETY: the mapping is owned by this struct and read-only, and the range was within the file when it was
        // checked above. Session files are written by appending. If a process truncates the file, a later access
        // raises SIGBUS, which is why `Mapping::Refused` exists.
        unsafe { options.map(self.file.borrow()) }.ok()
    }
}

/// Returns the bytes at `range` of the file, given `bytes` from offset `start`, if `bytes` contains all of them.
fn slice_at<'a>(bytes: &'a [u8], start: u64, range: &Range<u64>) -> Option<&'a [u8]> {
    let from = usize::try_from(range.start.checked_sub(start)?).ok()?;
    let to = usize::try_from(range.end.checked_sub(start)?).ok()?;
    bytes.get(from..to)
}

/// Reads until the buffer is full or the file ends. Returns the number of bytes.
///
/// # Errors
/// Reading failed (interrupted reads are repeated).
pub fn fill_at(file: &File, buffer: &mut [u8], start: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        let (room, at) = (&mut buffer[filled..], start + filled as u64);
        match retry_interrupted(|| file.read_at(room, at))? {
            0 => break,
            length => filled += length,
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn windows_are_the_same_read_or_mapped() {
        let mut file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = (0..=250).cycle().take(3 << 20).collect();
        file.write_all(&bytes).unwrap();
        let length = bytes.len() as u64 - 5;
        for mapping in [Mapping::Allowed, Mapping::Refused] {
            let mut fixed = FixedFile::new(file.try_clone().unwrap(), length, mapping);
            for range in [0..10, 7..2 * MIN_MAPPING_BYTES + 9, length - 3..length + 90] {
                let place = |at: u64| usize::try_from(at.min(length)).unwrap();
                let expected = &bytes[place(range.start)..place(range.end)];
                assert!(
                    fixed.window(range.clone()).unwrap() == expected,
                    "{range:?}"
                );
            }
        }
    }

    #[test]
    fn buffered_bytes_are_not_read_again() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let beginning = Arc::new(Beginning::read(&file, 4).unwrap());
        let mut fixed = FixedFile::new(file.try_clone().unwrap(), 9, Mapping::Allowed)
            .with_beginning(beginning);
        assert_eq!(fixed.window(4..90).unwrap(), b"45678");
        file.set_len(0).unwrap();
        assert_eq!(fixed.window(6..8).unwrap(), b"67");
        assert_eq!(fixed.window(0..4).unwrap(), b"0123");
        assert_eq!(fixed.window(4..9).unwrap(), b"45678");
        assert_eq!(fixed.window(3..9).unwrap(), b"345678");
    }

    #[test]
    fn a_window_that_grows_backwards_is_the_same() {
        let mut file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = (0..=250).cycle().take(1000).collect();
        file.write_all(&bytes).unwrap();
        let beginning = Arc::new(Beginning::read(&file, 100).unwrap());
        let mut fixed = FixedFile::new(file.try_clone().unwrap(), 1000, Mapping::Allowed)
            .with_beginning(beginning);
        for range in [
            900..1000,
            700..1000,
            640..705,
            50..640,
            20..660,
            0..1000,
            99..101,
        ] {
            let place = |at: u64| usize::try_from(at).unwrap();
            let expected = &bytes[place(range.start)..place(range.end)];
            assert!(
                fixed.window(range.clone()).unwrap() == expected,
                "{range:?}"
            );
        }
        // Bytes that were read before are still available.
        file.set_len(300).unwrap();
        assert_eq!(fixed.window(900..1000).unwrap(), &bytes[900..]);
        let mut cut = FixedFile::new(file, 1000, Mapping::Allowed);
        assert_eq!(cut.window(200..400).unwrap(), &bytes[200..300]);
        assert_eq!(cut.window(100..300).unwrap(), &bytes[100..300]);
    }

    #[test]
    fn a_truncated_file_has_shorter_windows() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![b'x'; 2 << 20]).unwrap();
        file.set_len(100).unwrap();
        let mut fixed = FixedFile::new(file, 2 * MIN_MAPPING_BYTES, Mapping::Allowed);
        assert_eq!(fixed.window(0..2 * MIN_MAPPING_BYTES).unwrap().len(), 100);
    }
}
