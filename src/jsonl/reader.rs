//! Splits a byte stream into lines without losing a byte, and finds the JSON objects on those that
//! are wanted. An object or a list that is printed over several lines counts as one line.

use std::io::{self, ErrorKind, Read};

use memchr::{memchr, memchr_iter, memmem, memrchr};

use super::line::{BOM, Defect, is_sound};
use super::{Damage, Piece, Prefilter};

/// What an object or a list on several lines begins with, and the line that it ends with. The bracket
/// of `[{` is closed behind the last of several objects.
const SPREAD: [(&[u8], &[u8]); 6] = [
    (b"{\n", b"}"),
    (b"{\r\n", b"}"),
    (b"[{\n", b"}"),
    (b"[{\r\n", b"}"),
    (b"[\n", b"]"),
    (b"[\r\n", b"]"),
];

/// A longer line, in bytes without its newline, is passed on unread.
pub const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// How much is read at once, in bytes. It stays in a core's cache while it is searched and copied,
/// and allocators serve it without asking the system.
const READ_SIZE: usize = 112 * 1024;

/// A larger buffer is given back once the long line that it was for is over, in bytes.
const LARGEST_KEPT: usize = 4 * READ_SIZE;

/// What happens to lines that the prefilter does not want.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnwantedLines {
    /// They are passed on unread.
    Unread,
    /// They are checked, and come as [`Piece::Line`] if something is wrong with them.
    Checked,
}

/// Reads lines from a source and hands them out as [`Piece`]s.
pub struct Reader<Source> {
    source: Source,
    prefilter: Prefilter,
    unwanted: UnwantedLines,
    buffer: Vec<u8>,
    /// Where the bytes begin that were not returned yet.
    start: usize,
    /// Where the last whole line of them ends.
    lines_end: usize,
    /// Where they end.
    end: usize,
    /// Where the next needle stands in the whole lines, or their end; `None` if not known.
    needle: Option<usize>,
    /// Where `start` stands in the input.
    offset: u64,
    /// The number of the line at `start`.
    number: u64,
    /// Where the next line stands that an object on several lines may begin with, or their end;
    /// `None` if not known.
    opening: Option<usize>,
    /// The object at `start`, if it stands on several lines.
    spread: Spread,
    /// The line that is being passed on in parts.
    giant: Option<Giant>,
    ended: bool,
}

/// An object or a list on several lines, as `jq` and some APIs print it: a line with a brace or
/// bracket, indented lines, a line with the other one. Lengths are bytes from `start`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spread {
    /// There is none at `start`.
    None,
    /// This much of it is there.
    Unfinished(usize),
    /// It is there, this long.
    Whole(usize),
}

/// Where a line stands that is too long.
#[derive(Clone, Copy)]
struct Giant {
    number: u64,
    offset: u64,
}

impl<Source: Read> Reader<Source> {
    /// Reads from `source`; lines without a needle of `prefilter` come unread, as
    /// [`Piece::Plain`].
    pub fn new(source: Source, prefilter: Prefilter) -> Self {
        Self {
            source,
            prefilter,
            unwanted: UnwantedLines::Unread,
            buffer: Vec::new(),
            start: 0,
            lines_end: 0,
            end: 0,
            needle: None,
            offset: 0,
            number: 1,
            opening: None,
            spread: Spread::None,
            giant: None,
            ended: false,
        }
    }

    /// Sets what happens to lines without a needle.
    #[must_use]
    pub fn with_unwanted(mut self, unwanted: UnwantedLines) -> Self {
        self.unwanted = unwanted;
        self
    }

    /// The next piece, or `None` at the end. Never waits for more input while it holds a whole
    /// line that was not yet returned, unless an object that stands on several lines goes on.
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
            if self.fill()? == 0 {
                self.ended = true;
                self.lines_end = self.end;
                self.measure_spread();
                if let Some(giant) = self.giant.take() {
                    return Ok(Some(self.part_of(giant, 0, true)));
                }
            }
        }
    }

    /// Whether the next call of [`Reader::next_piece`] can be answered without reading. If not, it
    /// is time to flush what was written.
    pub fn holds_a_piece(&self) -> bool {
        let longest_held = if self.giant.is_some() {
            0
        } else {
            LONGEST_LINE
        };
        let waits = matches!(self.spread, Spread::Unfinished(_));
        (self.start < self.lines_end && !waits) || self.end - self.start > longest_held
    }

    /// The next piece, if it does not take reading.
    fn held_piece(&mut self) -> Option<Piece> {
        if !self.holds_a_piece() {
            None
        } else if let Some(giant) = self.giant {
            Some(self.more_of(giant))
        } else if self.start < self.lines_end {
            Some(self.next_lines())
        } else {
            Some(self.start_of_giant())
        }
    }

    /// The lines before the next one that is to be read, or that one.
    fn next_lines(&mut self) -> Piece {
        let wanted = self.wanted_line();
        let (mut plain_end, length) = match self.spread {
            Spread::Whole(length) => {
                let end = self.start + length;
                (if wanted < end { self.start } else { end }, length)
            }
            Spread::None | Spread::Unfinished(_) => {
                let lines = &self.buffer[self.start..self.lines_end];
                let length = memchr(b'\n', lines).map_or(lines.len(), |at| at + 1);
                (self.opening_line().min(wanted), length)
            }
        };
        if self.unwanted == UnwantedLines::Checked {
            plain_end = self.first_damaged(plain_end);
        }
        if plain_end > self.start {
            let raw = self.take(plain_end - self.start);
            return Piece::Plain { raw };
        }
        let (number, offset) = (self.number, self.offset);
        let raw = self.take(length);
        Piece::Line {
            raw,
            number,
            offset,
        }
    }

    /// Where the next line begins that the prefilter wants, or where the whole lines end.
    fn wanted_line(&mut self) -> usize {
        let needle = match self.needle {
            Some(known) if known >= self.start => known,
            _ => {
                let lines = &self.buffer[..self.lines_end];
                let found = self.prefilter.find(lines, self.start);
                *self.needle.insert(found.unwrap_or(self.lines_end))
            }
        };
        if needle == self.lines_end {
            return needle;
        }
        let before = &self.buffer[self.start..needle];
        memrchr(b'\n', before).map_or(self.start, |at| self.start + at + 1)
    }

    /// Where the first line behind `start` begins that an object on several lines may begin with, or
    /// where the whole lines end.
    fn opening_line(&mut self) -> usize {
        if let Some(known) = self.opening
            && known > self.start
        {
            return known;
        }
        let lines = &self.buffer[self.start..self.lines_end];
        let begins = |opening: &[u8]| {
            let mut places = memmem::find_iter(lines, opening);
            places.find(|at| lines[..*at].ends_with(b"\n"))
        };
        let opening = SPREAD
            .iter()
            .filter_map(|(opening, _)| begins(opening))
            .min();
        let found = opening.map_or(self.lines_end, |length| self.start + length);
        *self.opening.insert(found)
    }

    /// Finds out whether an object on several lines stands at `start`, and how long it is.
    fn measure_spread(&mut self) {
        let lines = &self.buffer[self.start..self.lines_end];
        let mut known = SPREAD.iter();
        let opening = known.find(|(opening, _)| lines.starts_with(opening));
        let (mut at, end) = match (opening, self.spread) {
            (None, _) => (0, &b""[..]),
            (Some((_, end)), Spread::Unfinished(at)) => (at, *end),
            (Some((opening, end)), _) => (opening.len(), *end),
        };
        self.spread = Spread::None;
        while at > 0 && at <= LONGEST_LINE {
            let rest = &lines[at..];
            let line = match memchr(b'\n', rest) {
                Some(length) => &rest[..=length],
                None if self.ended => rest,
                None => {
                    self.spread = Spread::Unfinished(at);
                    return;
                }
            };
            at += line.len();
            match line.first() {
                Some(b' ' | b'\t') => {}
                Some(_) if line.trim_ascii_end() == end => {
                    self.spread = Spread::Whole(at);
                    return;
                }
                _ => return,
            }
        }
    }

    /// Where the first line before `end` begins that something is wrong with, or `end`.
    fn first_damaged(&self, end: usize) -> usize {
        if let Spread::Whole(length) = self.spread {
            let object = &self.buffer[self.start..self.start + length];
            return if is_sound(object) { end } else { self.start };
        }
        let mut at = self.start;
        let mut text = self.start + self.bom_length();
        while at < end {
            let length = memchr(b'\n', &self.buffer[at..end]);
            let line_end = length.map_or(end, |length| at + length + 1);
            if !is_sound(&self.buffer[text.min(line_end)..line_end]) {
                return at;
            }
            (at, text) = (line_end, line_end);
        }
        end
    }

    /// The length of the byte order mark at `start`, which may stand only where the input begins.
    fn bom_length(&self) -> usize {
        let has_bom = self.offset == 0 && self.buffer[self.start..self.end].starts_with(BOM);
        if has_bom { BOM.len() } else { 0 }
    }

    fn start_of_giant(&mut self) -> Piece {
        let giant = Giant {
            number: self.number,
            offset: self.offset,
        };
        self.giant = Some(giant);
        Piece::Giant {
            raw: self.take(self.end - self.start),
            damage: Some(Damage {
                reason: Defect::TooLong.to_string(),
                line: giant.number,
                offset: giant.offset,
            }),
            number: giant.number,
            offset: giant.offset,
            is_last: false,
        }
    }

    fn more_of(&mut self, giant: Giant) -> Piece {
        let lines = &self.buffer[self.start..self.lines_end];
        if let Some(newline) = memchr(b'\n', lines) {
            self.giant = None;
            return self.part_of(giant, newline + 1, true);
        }
        self.part_of(giant, self.end - self.start, false)
    }

    fn part_of(&mut self, giant: Giant, length: usize, is_last: bool) -> Piece {
        Piece::Giant {
            raw: self.take(length),
            damage: None,
            number: giant.number,
            offset: giant.offset,
            is_last,
        }
    }

    /// Takes bytes out of the buffer and counts them. If they are most of it, the buffer itself goes
    /// out, and only what is left is copied.
    fn take(&mut self, length: usize) -> Vec<u8> {
        let raw = if self.start == 0 && length == self.lines_end && 2 * length > self.buffer.len() {
            let rest = self.buffer[length..self.end].to_vec();
            let mut raw = std::mem::replace(&mut self.buffer, rest);
            raw.truncate(length);
            (self.lines_end, self.end) = (0, self.end - length);
            raw
        } else {
            self.start += length;
            self.buffer[self.start - length..self.start].to_vec()
        };
        self.lines_end = self.lines_end.max(self.start);
        self.offset += length as u64;
        self.number += memchr_iter(b'\n', &raw).count() as u64;
        self.spread = Spread::None;
        self.measure_spread();
        raw
    }

    /// Reads once, behind the unfinished line in the buffer; 0 at the end of the input.
    fn fill(&mut self) -> io::Result<usize> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        (self.start, self.lines_end) = (0, 0);
        (self.needle, self.opening) = (None, None);
        let room = (self.end + READ_SIZE).min(LONGEST_LINE + 1);
        if self.buffer.len() < room {
            let doubled = (2 * self.buffer.len()).min(LONGEST_LINE + 1);
            self.buffer.resize(room.max(doubled), 0);
        } else if self.buffer.len() > LARGEST_KEPT && self.end < READ_SIZE {
            self.buffer.truncate(room);
            self.buffer.shrink_to_fit();
        }
        let length = loop {
            match self.source.read(&mut self.buffer[self.end..room]) {
                Ok(length) => break length,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        };
        let new = &self.buffer[self.end..self.end + length];
        if let Some(newline) = memrchr(b'\n', new) {
            self.lines_end = self.end + newline + 1;
        }
        self.end += length;
        self.measure_spread();
        Ok(length)
    }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
