//! The reader's buffer: bytes that were read and not yet handed out.
//!
//! It holds any number of whole lines and the start of one more. Memory goes round: a slab that
//! is handed out whole comes back by [`Slab::recycle`].

use std::io::{self, ErrorKind, Read};

use memchr::memrchr;

use super::LONGEST_LINE;

/// How much is read at once, in bytes: small enough to stay in a core's cache while it is looked
/// at several times.
const READ_SIZE: usize = 128 * 1024;

/// Buffers larger than this are not kept.
const LARGEST_SPARE: usize = 4 * READ_SIZE;

/// Enough for one slab that is being filled and one that is being written.
const MOST_SPARES: usize = 2;

/// What reading brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filled {
    /// At least one byte.
    More,
    /// The input is over.
    End,
}

/// See the module.
#[derive(Default)]
pub(super) struct Slab {
    /// All of it can be read into.
    bytes: Vec<u8>,
    /// The first byte that was not handed out.
    start: usize,
    /// Behind the last whole line.
    lines_end: usize,
    /// Behind the last byte that was read.
    filled: usize,
    spares: Vec<Vec<u8>>,
}

impl Slab {
    /// The whole lines.
    pub(super) fn lines(&self) -> &[u8] {
        &self.bytes[self.start..self.lines_end]
    }

    /// The bytes behind the whole lines: the start of a line that goes on. Never more than
    /// [`LONGEST_LINE`] + 1.
    pub(super) fn rest_length(&self) -> usize {
        self.filled - self.lines_end
    }

    /// Counts the rest as a whole line, as no more input comes.
    pub(super) fn end_last_line(&mut self) {
        self.lines_end = self.filled;
    }

    /// Reads once. To be called when there are no whole lines and there is room for the rest to
    /// grow.
    pub(super) fn fill(&mut self, source: &mut impl Read) -> io::Result<Filled> {
        self.make_room();
        let limit = self.bytes.len().min(self.filled + READ_SIZE);
        let length = loop {
            match source.read(&mut self.bytes[self.filled..limit]) {
                Ok(length) => break length,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        };
        if length == 0 {
            return Ok(Filled::End);
        }
        let new = self.filled..self.filled + length;
        if let Some(newline) = memrchr(b'\n', &self.bytes[new.clone()]) {
            self.lines_end = new.start + newline + 1;
        }
        self.filled = new.end;
        Ok(Filled::More)
    }

    /// Moves the rest to the front, in a buffer that is large enough, but not much larger.
    fn make_room(&mut self) {
        let rest = self.start..self.filled;
        let wanted = (rest.len() + READ_SIZE).min(LONGEST_LINE + 1);
        let has_room = self.bytes.len() >= rest.len() + READ_SIZE / 2;
        let too_large = self.bytes.len() > LARGEST_SPARE && rest.len() < READ_SIZE;
        if too_large {
            let mut smaller = vec![0; wanted];
            smaller[..rest.len()].copy_from_slice(&self.bytes[rest.clone()]);
            self.bytes = smaller;
        } else {
            if rest.start > 0 {
                self.bytes.copy_within(rest.clone(), 0);
            }
            if !has_room {
                let doubled = (self.bytes.len() * 2).min(LONGEST_LINE + 1);
                self.bytes.resize(wanted.max(doubled), 0);
            }
        }
        self.start = 0;
        self.lines_end = 0;
        self.filled = rest.len();
    }

    /// Hands out the first `length` bytes: of whole lines, or of everything.
    pub(super) fn take(&mut self, length: usize) -> Vec<u8> {
        let end = self.start + length;
        if self.start == 0 && end >= self.lines_end && length * 2 >= self.bytes.len() {
            return self.hand_over(length);
        }
        let mut part = self.spares.pop().unwrap_or_default();
        part.clear();
        part.extend_from_slice(&self.bytes[self.start..end]);
        self.start = end;
        self.lines_end = self.lines_end.max(end);
        part
    }

    /// Gives away the buffer itself, and goes on with the rest in another one.
    fn hand_over(&mut self, length: usize) -> Vec<u8> {
        let rest = &self.bytes[length..self.filled];
        let mut next = self.spares.pop().unwrap_or_default();
        next.resize(READ_SIZE.max(rest.len()), 0);
        next[..rest.len()].copy_from_slice(rest);
        self.filled = rest.len();
        self.lines_end = 0;
        let mut whole = std::mem::replace(&mut self.bytes, next);
        whole.truncate(length);
        whole
    }

    /// Takes back memory.
    pub(super) fn recycle(&mut self, memory: Vec<u8>) {
        if self.spares.len() < MOST_SPARES && memory.capacity() <= LARGEST_SPARE {
            self.spares.push(memory);
        }
    }
}
