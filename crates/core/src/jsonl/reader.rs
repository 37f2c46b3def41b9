//! Splits a byte stream into lines without losing a byte, and selects the lines that must be parsed. An object
//! or a list that spans several lines counts as one line.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memmem, memrchr};

use super::line_records::{BOM, Defect, is_undamaged};
use super::{Damage, Piece, Prefilter};
use crate::io::retry_interrupted;

/// The first line of an object or a list that spans several lines, and its last line. The bracket of `[{` is closed
/// after the last of several objects.
const MULTILINE_DELIMITERS: [(&[u8], &[u8]); 6] = [
    (b"{\n", b"}"),
    (b"{\r\n", b"}"),
    (b"[{\n", b"}"),
    (b"[{\r\n", b"}"),
    (b"[\n", b"]"),
    (b"[\r\n", b"]"),
];

/// Maximum length of a line that is parsed, in bytes without its newline.
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Size of a read, in bytes: fits into a core's cache while it is searched and copied, and allocators serve it
/// without a system call.
const READ_SIZE: usize = 112 * 1024;

/// Maximum size of the buffer, in bytes, after a long line.
const MAX_IDLE_BYTES: usize = 4 * READ_SIZE;

/// Handling of lines without a needle of the prefilter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnwantedLines {
    /// Not parsed.
    Unread,
    /// Checked; a damaged line becomes a [`Piece::Line`].
    Checked,
}

/// Reads lines from a source as [`Piece`]s.
pub struct Reader<Source> {
    source: Source,
    prefilter: Prefilter,
    unwanted: UnwantedLines,
    buffer: Vec<u8>,
    /// The start of the bytes in `buffer` that were not returned yet.
    start: usize,
    /// The end of the last whole line.
    lines_end: usize,
    /// The end of the bytes.
    end: usize,
    /// The position of the next needle in whole lines, or `lines_end`; `None` if unknown.
    needle: Option<usize>,
    /// The byte offset of `start` in the input.
    offset: u64,
    /// The line number at `start`.
    number: u64,
    /// For each of the [`MULTILINE_DELIMITERS`], the next line that starts with it, or `lines_end`. Unknown if not
    /// after `start`.
    openings: [usize; MULTILINE_DELIMITERS.len()],
    multiline: Multiline,
    /// The line that is being returned in parts.
    long_line: Option<LongLine>,
    is_ended: bool,
    /// The number of bytes searched for needles and openings.
    #[cfg(test)]
    searched: usize,
}

/// An object or a list at `start` that spans several lines, as `jq` and some APIs print it: a line with a brace or
/// bracket, indented lines, and a line with the closing one. Lengths are in bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Multiline {
    None,
    /// The length so far.
    Unfinished(usize),
    /// The total length.
    Whole(usize),
}

/// The position of a line that is too long.
#[derive(Clone, Copy)]
struct LongLine {
    number: u64,
    offset: u64,
}

impl<Source: Read> Reader<Source> {
    /// Creates a reader. Lines without a needle of `prefilter` are returned as [`Piece::Plain`].
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
            openings: [0; MULTILINE_DELIMITERS.len()],
            multiline: Multiline::None,
            long_line: None,
            is_ended: false,
            #[cfg(test)]
            searched: 0,
        }
    }

    /// Sets the handling of lines without a needle.
    #[must_use]
    pub fn with_unwanted(mut self, unwanted: UnwantedLines) -> Self {
        self.unwanted = unwanted;
        self
    }

    /// Returns the source of the bytes.
    pub fn source_mut(&mut self) -> &mut Source {
        &mut self.source
    }

    /// Returns the next piece, or `None` at the end. Does not read while a whole line is buffered, unless it is part
    /// of an unfinished object that spans several lines.
    ///
    /// # Errors
    /// Reading failed (interrupted reads are repeated). No bytes are lost: calling again reads again.
    pub fn next_piece(&mut self) -> io::Result<Option<Piece>> {
        loop {
            if let Some(piece) = self.take_piece() {
                return Ok(Some(piece));
            }
            if self.is_ended {
                return Ok(None);
            }
            if self.fill()? == 0 {
                self.is_ended = true;
                self.lines_end = self.end;
                self.measure_multiline();
                if let Some(long_line) = self.long_line.take() {
                    return Ok(Some(self.take_long_line(long_line, 0, true)));
                }
            }
        }
    }

    /// Whether the next call of [`Reader::next_piece`] returns without reading. If not, callers should flush their
    /// output first.
    pub fn has_piece(&self) -> bool {
        let limit = if self.long_line.is_some() {
            0
        } else {
            MAX_LINE_BYTES
        };
        let is_unfinished = matches!(self.multiline, Multiline::Unfinished(_));
        (self.start < self.lines_end && !is_unfinished) || self.end - self.start > limit
    }

    /// Returns the next piece if one is buffered.
    fn take_piece(&mut self) -> Option<Piece> {
        if !self.has_piece() {
            None
        } else if let Some(long_line) = self.long_line {
            Some(self.continue_long_line(long_line))
        } else if self.start < self.lines_end {
            Some(self.next_lines())
        } else {
            Some(self.begin_long_line())
        }
    }

    /// Returns the lines before the next one that must be parsed, or that line.
    fn next_lines(&mut self) -> Piece {
        let wanted = self.find_wanted_line();
        let (mut plain_end, length) = match self.multiline {
            Multiline::Whole(length) => {
                let end = self.start + length;
                (if wanted < end { self.start } else { end }, length)
            }
            Multiline::None | Multiline::Unfinished(_) => {
                let lines = &self.buffer[self.start..self.lines_end];
                let length = memchr(b'\n', lines).map_or(lines.len(), |at| at + 1);
                (self.find_opening_line().min(wanted), length)
            }
        };
        if self.unwanted == UnwantedLines::Checked {
            plain_end = self.find_damaged_line(plain_end);
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

    /// Returns the start of the next line with a needle, or the end of the whole lines.
    fn find_wanted_line(&mut self) -> usize {
        let needle = match self.needle {
            Some(known) if known >= self.start => known,
            _ => {
                let lines = &self.buffer[..self.lines_end];
                let found = self.prefilter.find(lines, self.start);
                #[cfg(test)]
                {
                    self.searched += found.unwrap_or(self.lines_end) - self.start;
                }
                *self.needle.insert(found.unwrap_or(self.lines_end))
            }
        };
        if needle == self.lines_end {
            return needle;
        }
        let before = &self.buffer[self.start..needle];
        memrchr(b'\n', before).map_or(self.start, |at| self.start + at + 1)
    }

    /// Returns the start of the first line after `start` that may start a multiline object, or the end of the whole
    /// lines.
    fn find_opening_line(&mut self) -> usize {
        let lines = &self.buffer[self.start..self.lines_end];
        for (next, (opening, _)) in self.openings.iter_mut().zip(MULTILINE_DELIMITERS) {
            if *next <= self.start {
                let mut found = memmem::find_iter(lines, opening);
                let length = found.find(|at| lines[..*at].ends_with(b"\n"));
                *next = length.map_or(self.lines_end, |length| self.start + length);
                #[cfg(test)]
                {
                    self.searched += *next - self.start;
                }
            }
        }
        self.openings.into_iter().min().unwrap_or(self.lines_end)
    }

    /// Determines whether a multiline object is at `start`, and its length.
    fn measure_multiline(&mut self) {
        let lines = &self.buffer[self.start..self.lines_end];
        let mut delimiters = MULTILINE_DELIMITERS.iter();
        let opening = delimiters.find(|(opening, _)| lines.starts_with(opening));
        let (mut at, end) = match (opening, self.multiline) {
            (None, _) => (0, &b""[..]),
            (Some((_, end)), Multiline::Unfinished(at)) => (at, *end),
            (Some((opening, end)), _) => (opening.len(), *end),
        };
        self.multiline = Multiline::None;
        while at > 0 && at <= MAX_LINE_BYTES {
            let rest = &lines[at..];
            let line = match memchr(b'\n', rest) {
                Some(length) => &rest[..=length],
                None if self.is_ended => rest,
                None => {
                    self.multiline = Multiline::Unfinished(at);
                    return;
                }
            };
            at += line.len();
            match line.first() {
                Some(b' ' | b'\t') => {}
                Some(_) if line.trim_ascii_end() == end => {
                    self.multiline = Multiline::Whole(at);
                    return;
                }
                _ => return,
            }
        }
    }

    /// Returns the start of the first damaged line before `end`, or `end`.
    fn find_damaged_line(&self, end: usize) -> usize {
        if let Multiline::Whole(length) = self.multiline {
            let object = &self.buffer[self.start..self.start + length];
            return if is_undamaged(object) {
                end
            } else {
                self.start
            };
        }
        let mut at = self.start;
        let mut text_start = self.start + self.bom_length();
        while at < end {
            let length = memchr(b'\n', &self.buffer[at..end]);
            let line_end = length.map_or(end, |length| at + length + 1);
            if !is_undamaged(&self.buffer[text_start.min(line_end)..line_end]) {
                return at;
            }
            (at, text_start) = (line_end, line_end);
        }
        end
    }

    /// Returns the length of the byte order mark at `start`, which is allowed only at the start of the input.
    fn bom_length(&self) -> usize {
        let has_bom = self.offset == 0 && self.buffer[self.start..self.end].starts_with(BOM);
        if has_bom { BOM.len() } else { 0 }
    }

    fn begin_long_line(&mut self) -> Piece {
        let long_line = LongLine {
            number: self.number,
            offset: self.offset,
        };
        self.long_line = Some(long_line);
        Piece::LongLine {
            raw: self.take(self.end - self.start),
            damage: Some(Damage {
                reason: Defect::TooLong.to_string(),
                line: long_line.number,
                offset: long_line.offset,
            }),
            number: long_line.number,
            offset: long_line.offset,
            is_last: false,
        }
    }

    fn continue_long_line(&mut self, long_line: LongLine) -> Piece {
        let lines = &self.buffer[self.start..self.lines_end];
        if let Some(newline) = memchr(b'\n', lines) {
            self.long_line = None;
            return self.take_long_line(long_line, newline + 1, true);
        }
        self.take_long_line(long_line, self.end - self.start, false)
    }

    fn take_long_line(&mut self, long_line: LongLine, length: usize, is_last: bool) -> Piece {
        Piece::LongLine {
            raw: self.take(length),
            damage: None,
            number: long_line.number,
            offset: long_line.offset,
            is_last,
        }
    }

    /// Removes bytes from the buffer and counts their lines. If they are most of the buffer, returns the buffer
    /// itself and copies the remaining bytes.
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
        self.multiline = Multiline::None;
        self.measure_multiline();
        raw
    }

    /// Reads once, after the unfinished line in the buffer. Returns 0 at the end of the input.
    fn fill(&mut self) -> io::Result<usize> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        (self.start, self.lines_end) = (0, 0);
        self.needle = None;
        self.openings = [0; MULTILINE_DELIMITERS.len()];
        let size = (self.end + READ_SIZE).min(MAX_LINE_BYTES + 1);
        if self.buffer.is_empty() {
            // Resizing would write each byte.
            self.buffer = vec![0; size];
        } else if self.buffer.len() < size {
            let doubled = (2 * self.buffer.len()).min(MAX_LINE_BYTES + 1);
            self.buffer.resize(size.max(doubled), 0);
        } else if self.buffer.len() > MAX_IDLE_BYTES && self.end < READ_SIZE {
            self.buffer.truncate(size);
            self.buffer.shrink_to_fit();
        }
        let room = &mut self.buffer[self.end..size];
        let length = retry_interrupted(|| self.source.read(room))?;
        let added = &self.buffer[self.end..self.end + length];
        if let Some(newline) = memrchr(b'\n', added) {
            self.lines_end = self.end + newline + 1;
        }
        self.end += length;
        self.measure_multiline();
        Ok(length)
    }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
