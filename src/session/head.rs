//! The first lines of a file, read once.

use std::io;

use memchr::memrchr;

use super::open::SessionFile;
use crate::jsonl::read_at;

/// How much is read, in bytes: it tells whose file it is and how the session began, as a rule.
const SIZE: usize = 8 * 1024;

/// The whole lines at the start of a file, as far as a few kilobytes go.
#[derive(Debug, Default)]
pub(super) struct Head {
    bytes: Vec<u8>,
}

impl Head {
    /// Reads it. If that is the whole file, its last line needs no newline.
    pub(super) fn read(file: &SessionFile) -> io::Result<Self> {
        let size = usize::try_from(file.size).unwrap_or(usize::MAX).min(SIZE);
        let mut bytes = vec![0; size];
        let filled = read_at(&file.file, &mut bytes, 0)?;
        bytes.truncate(filled);
        if filled as u64 != file.size {
            bytes.truncate(memrchr(b'\n', &bytes).map_or(0, |newline| newline + 1));
        }
        if bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.splice(..3, *b"   ");
        }
        Ok(Self { bytes })
    }

    /// How far the lines go, in bytes.
    pub(super) fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The lines, with their newlines.
    pub(super) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.split_inclusive(|byte| *byte == b'\n')
    }
}
