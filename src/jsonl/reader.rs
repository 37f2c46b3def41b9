//! Splits a byte stream into lines without losing a byte, and finds the JSON objects in them.
//!
//! The reader keeps the books (offsets, line numbers, giant lines); [`super::slab`] holds the
//! bytes, [`super::outlook`] judges the lines.

use std::io::{self, Read};

use memchr::memchr;
use memchr::memchr_iter;

use super::examine::Defect;
use super::outlook::{Line, Outlook, Place, Stretch};
use super::slab::{Filled, Slab};
use super::{Damage, Piece, Prefilter};

/// A longer line, in bytes without its newline, is passed on without being looked into.
pub const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// The reader. See [`Piece`].
pub struct Reader<Source> {
    source: Source,
    prefilter: Box<dyn Prefilter>,
    slab: Slab,
    outlook: Outlook,
    /// Where the first byte that was not returned stands in the input.
    offset: u64,
    /// The number of its line.
    number: u64,
    /// The giant line that is being passed on.
    giant: Option<Giant>,
    /// A line that was looked into together with those before it.
    pending: Option<Line>,
    ended: bool,
}

/// Where a giant line stands.
#[derive(Clone, Copy)]
struct Giant {
    number: u64,
    offset: u64,
}

impl<Source: Read> Reader<Source> {
    /// Reads from `source`; lines without a needle of `prefilter` come as [`Piece::Plain`].
    pub fn new(source: Source, prefilter: impl Prefilter + 'static) -> Self {
        Self {
            source,
            prefilter: Box::new(prefilter),
            slab: Slab::default(),
            outlook: Outlook::default(),
            offset: 0,
            number: 1,
            giant: None,
            pending: None,
            ended: false,
        }
    }

    /// The next piece, or `None` at the end. Never waits for more input while it holds a whole
    /// line that was not yet returned.
    ///
    /// # Errors
    /// Reading failed (interrupted reads are repeated). Nothing is lost by it: calling again
    /// reads again.
    pub fn next_piece(&mut self) -> io::Result<Option<Piece>> {
        loop {
            if let Some(piece) = self.held_piece() {
                return Ok(Some(piece));
            }
            if self.ended {
                return Ok(None);
            }
            self.outlook = Outlook::default();
            if self.slab.fill(&mut self.source)? == Filled::End {
                self.ended = true;
                self.slab.end_last_line();
                if let Some(giant) = self.giant.take() {
                    return Ok(Some(self.part_of(giant, 0, Some(false))));
                }
            }
        }
    }

    /// Whether the next call of [`Reader::next_piece`] can be answered without reading. If not, it
    /// is time to flush what was written.
    pub fn holds_a_piece(&self) -> bool {
        self.pending.is_some()
            || !self.slab.lines().is_empty()
            || self.slab.rest_length() > self.longest_held()
    }

    /// Gives the memory of a piece back to the reader, which saves allocating it anew.
    pub fn recycle(&mut self, piece: Piece) {
        let (Piece::Plain { raw } | Piece::Line { raw, .. } | Piece::Giant { raw, .. }) = piece;
        self.slab.recycle(raw);
    }

    /// The next piece, if it does not take reading.
    fn held_piece(&mut self) -> Option<Piece> {
        if let Some(line) = self.pending.take() {
            return Some(self.line(line));
        }
        if let Some(giant) = self.giant {
            return self.more_of(giant);
        }
        if !self.slab.lines().is_empty() {
            return Some(self.next_lines());
        }
        (self.slab.rest_length() > self.longest_held()).then(|| self.start_of_giant())
    }

    /// How much of an unfinished line is held back.
    fn longest_held(&self) -> usize {
        match self.giant {
            Some(_) => 0,
            None => LONGEST_LINE,
        }
    }

    fn next_lines(&mut self) -> Piece {
        let place = if self.offset == 0 {
            Place::Start
        } else {
            Place::Later
        };
        let lines = self.slab.lines();
        let Stretch { plain, line } = self.outlook.sort(lines, place, self.prefilter.as_ref());
        match line {
            Some(line) if plain == 0 => self.line(line),
            line => {
                self.pending = line;
                Piece::Plain {
                    raw: self.take(plain),
                }
            }
        }
    }

    fn line(&mut self, line: Line) -> Piece {
        let (number, offset) = (self.number, self.offset);
        let raw = self.take(line.length);
        Piece::Line {
            terminated: raw.ends_with(b"\n"),
            raw,
            records: line.records,
            damage: line
                .findings
                .into_iter()
                .map(|(defect, at)| damage(defect, offset + at as u64))
                .collect(),
            number,
            offset,
        }
    }

    fn start_of_giant(&mut self) -> Piece {
        let giant = Giant {
            number: self.number,
            offset: self.offset,
        };
        self.giant = Some(giant);
        Piece::Giant {
            raw: self.take(self.slab.rest_length()),
            damage: Some(damage(Defect::TooLong, giant.offset)),
            number: giant.number,
            offset: giant.offset,
            end: None,
        }
    }

    fn more_of(&mut self, giant: Giant) -> Option<Piece> {
        if let Some(newline) = memchr(b'\n', self.slab.lines()) {
            self.giant = None;
            return Some(self.part_of(giant, newline + 1, Some(true)));
        }
        let length = self.slab.rest_length();
        (length > 0).then(|| self.part_of(giant, length, None))
    }

    fn part_of(&mut self, giant: Giant, length: usize, end: Option<bool>) -> Piece {
        Piece::Giant {
            raw: self.take(length),
            damage: None,
            number: giant.number,
            offset: giant.offset,
            end,
        }
    }

    /// Takes bytes out of the slab and counts them.
    fn take(&mut self, length: usize) -> Vec<u8> {
        let raw = self.slab.take(length);
        self.outlook.advance(length);
        self.offset += length as u64;
        self.number += memchr_iter(b'\n', &raw).count() as u64;
        raw
    }
}

fn damage(defect: Defect, offset: u64) -> Damage {
    Damage {
        reason: defect.to_string(),
        offset,
    }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
