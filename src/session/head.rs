//! The first lines of a file, read once.

use std::io;
use std::sync::Arc;

use memchr::{memchr_iter, memrchr};

use super::open::SessionFile;
use crate::jsonl::Beginning;

/// How far the lines go, in bytes: they tell whose file it is and how the session began, as a rule.
const SIZE: usize = 8 * 1024;

/// A file that is no larger is read as a whole at once, in bytes: its end is looked at, too, and
/// most titles are looked for in all of it.
const WHOLE: usize = 24 * 1024;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// The whole lines at the start of a file, as far as a few kilobytes go.
#[derive(Debug)]
pub(super) struct Head {
    beginning: Arc<Beginning>,
    lines: usize,
}

impl Head {
    /// Reads it. If that is the whole file, its last line needs no newline.
    pub(super) fn read(file: &SessionFile) -> io::Result<Self> {
        let size = usize::try_from(file.size).unwrap_or(usize::MAX);
        let read = if size <= WHOLE { size } else { SIZE };
        let beginning = Beginning::read(&file.file, read)?;
        let bytes = beginning.bytes();
        let first = &bytes[..bytes.len().min(SIZE)];
        let lines = if first.len() == size {
            size
        } else {
            memrchr(b'\n', first).map_or(0, |newline| newline + 1)
        };
        Ok(Self {
            beginning: Arc::new(beginning),
            lines,
        })
    }

    /// What was read, which may be more than the lines.
    pub(super) fn beginning(&self) -> Arc<Beginning> {
        Arc::clone(&self.beginning)
    }

    /// Whether the file begins with these bytes.
    pub(super) fn starts_with(&self, bytes: &[u8]) -> bool {
        self.beginning.bytes().starts_with(bytes)
    }

    /// How far the lines go, in bytes.
    pub(super) fn length(&self) -> u64 {
        self.lines as u64
    }

    /// The lines, with their newlines and with the place where each ends, in bytes. A mark of the
    /// byte order is left out.
    pub(super) fn lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let lines = &self.beginning.bytes()[..self.lines];
        let text = lines.strip_prefix(BOM).unwrap_or(lines);
        let before = (lines.len() - text.len()) as u64;
        let newlines = memchr_iter(b'\n', text).map(|newline| newline + 1);
        let unfinished = text.last().is_some_and(|last| *last != b'\n');
        let mut start = 0;
        newlines
            .chain(unfinished.then_some(text.len()))
            .map(move |end| {
                let line = &text[start..end];
                start = end;
                (before + end as u64, line)
            })
    }
}
