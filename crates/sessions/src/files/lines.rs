//! The lines of a session file, each with its records.

use std::io::{self, Read};
use std::ops::ControlFlow;

use memchr::{memchr, memchr_iter, memrchr};

use crate::files::recover::find_records_on;
use turnpipe_core::jsonl::{Damage, MAX_LINE_BYTES, Piece, Prefilter, Reader, Record};

/// Number of bytes to read at once. They fit into a core's cache while they are searched.
const READ_SIZE: usize = 128 * 1024;

/// The position of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// The offset of its line in bytes.
    pub offset: u64,
    /// The length of the line in bytes, including the newline.
    pub length: u32,
    /// The index of the record on its line.
    pub index: u32,
}

impl Place {
    /// Returns the first record on a line.
    pub(crate) fn first_on_line(offset: u64, line: &[u8]) -> Self {
        Self {
            offset,
            length: u32::try_from(line.len()).unwrap_or(u32::MAX),
            index: 0,
        }
    }
}

/// A line.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// The text, or empty if the line is too long to parse.
    pub raw: &'a [u8],
    /// The complete records on the line.
    pub records: &'a [Record],
    /// Its defects.
    pub damage: &'a [Damage],
    /// The line number, from 1.
    pub number: u64,
    /// The offset in bytes.
    pub offset: u64,
    /// Whether it ends with a newline.
    pub is_terminated: bool,
}

impl<'a> Line<'a> {
    /// Returns the records with their positions.
    pub fn records(self) -> impl Iterator<Item = (Place, &'a str)> {
        (0..).zip(self.records).map(move |(index, record)| {
            let place = Place::first_on_line(self.offset, self.raw);
            (Place { index, ..place }, record.text(self.raw))
        })
    }

    /// Whether the line is blank.
    pub fn is_blank(self) -> bool {
        self.damage.is_empty() && self.raw.trim_ascii().is_empty()
    }
}

/// A line that was not searched for records.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawLine<'a> {
    /// The text. Empty if the line is too long to parse.
    pub(crate) text: &'a [u8],
    /// The line number, from 1.
    pub(crate) number: u64,
    /// The offset in bytes.
    pub(crate) offset: u64,
    /// The length in bytes, including the newline.
    pub(crate) length: u64,
}

impl RawLine<'_> {
    /// Whether the line is too long to parse.
    pub(crate) fn is_too_long(&self) -> bool {
        self.text.len() as u64 != self.length
    }
}

/// The lines of a source, or only the lines that contain one of the words. Without words, lines that are too long to
/// parse are returned without their text.
pub(crate) struct RawLines<Source> {
    source: Source,
    wanted: Prefilter,
    buffer: Vec<u8>,
    /// The offset of the buffer in the source.
    offset: u64,
    /// The end of the complete lines in the buffer, and of all bytes.
    lines_end: usize,
    end: usize,
    /// The start of the next line, and the end of the bytes whose line feeds are counted.
    at: usize,
    counted: usize,
    number: u64,
    is_over: bool,
    /// Whether there are no words.
    wants_all: bool,
    /// The start of the unfinished line, if it is too long to parse.
    long_line: Option<u64>,
    /// The start and the length of the last line, if it was too long.
    skipped: Option<(u64, u64)>,
    pub(crate) too_long: u64,
}

impl<Source: Read> RawLines<Source> {
    /// Returns all lines unless there are `words`.
    pub(crate) fn new(source: Source, words: &[&str]) -> io::Result<Self> {
        // An empty needle is on every line.
        let wants_all = words.is_empty();
        let words = if wants_all { &[""] } else { words };
        Ok(Self {
            source,
            wanted: Prefilter::new(words).map_err(io::Error::other)?,
            buffer: vec![0; READ_SIZE],
            offset: 0,
            lines_end: 0,
            end: 0,
            at: 0,
            counted: 0,
            number: 1,
            is_over: false,
            wants_all,
            long_line: None,
            skipped: None,
            too_long: 0,
        })
    }

    /// Returns the next line.
    pub(crate) fn next(&mut self) -> io::Result<Option<RawLine<'_>>> {
        loop {
            if let Some((offset, length)) = self.skipped.take_if(|_| self.wants_all) {
                return Ok(Some(RawLine {
                    text: &[],
                    number: self.number,
                    offset,
                    length,
                }));
            }
            let lines = &self.buffer[..self.lines_end];
            let needle = self.wanted.find(lines, self.at);
            if let Some(needle) = needle.filter(|_| self.at < self.lines_end) {
                let before = memrchr(b'\n', &lines[self.at..needle]);
                let start = before.map_or(self.at, |before| self.at + before + 1);
                let rest = &lines[start..];
                let end = memchr(b'\n', rest).map_or(self.lines_end, |newline| start + newline + 1);
                let newlines = memchr_iter(b'\n', &lines[self.counted..start]);
                self.number += newlines.count() as u64;
                (self.at, self.counted) = (end, start);
                return Ok(Some(RawLine {
                    text: &self.buffer[start..end],
                    number: self.number,
                    offset: self.offset + start as u64,
                    length: (end - start) as u64,
                }));
            }
            if self.is_over {
                return Ok(None);
            }
            self.number += memchr_iter(b'\n', &lines[self.counted..]).count() as u64;
            self.read()?;
        }
    }

    /// Reads more. The unfinished line moves to the start of the buffer.
    fn read(&mut self) -> io::Result<()> {
        let mut consumed = self.lines_end;
        if self.end - consumed > MAX_LINE_BYTES {
            self.too_long += u64::from(self.long_line.is_none());
            self.long_line.get_or_insert(self.offset + consumed as u64);
            consumed = self.end;
        }
        self.buffer.copy_within(consumed..self.end, 0);
        self.offset += consumed as u64;
        let unfinished = self.end - consumed;
        if unfinished == self.buffer.len() {
            self.buffer
                .resize((2 * unfinished).min(MAX_LINE_BYTES + 1), 0);
        }
        self.end = unfinished + self.source.read(&mut self.buffer[unfinished..])?;
        self.is_over = self.end == unfinished;
        let newline =
            memrchr(b'\n', &self.buffer[unfinished..self.end]).map(|at| unfinished + at + 1);
        self.lines_end = newline.unwrap_or(if self.is_over { self.end } else { 0 });
        (self.at, self.counted) = (0, 0);
        let is_whole = self.lines_end > 0 || self.is_over;
        if let Some(start) = self.long_line.take_if(|_| is_whole) {
            let newline = memchr(b'\n', &self.buffer[..self.lines_end]);
            self.at = newline.map_or(self.lines_end, |newline| newline + 1);
            self.skipped = Some((start, self.offset + self.at as u64 - start));
        }
        Ok(())
    }
}

/// Calls `visit` with the lines of `source`.
///
/// # Errors
/// Reading failed.
pub(crate) fn visit_lines(source: impl Read, visit: &mut dyn FnMut(Line<'_>)) -> io::Result<()> {
    try_visit_lines(source, &mut |line| -> ControlFlow<()> {
        visit(line);
        ControlFlow::Continue(())
    })?;
    Ok(())
}

/// Calls `visit` with the lines of `source` until it breaks.
///
/// # Errors
/// Reading failed.
pub(crate) fn try_visit_lines<Value>(
    source: impl Read,
    visit: &mut dyn FnMut(Line<'_>) -> ControlFlow<Value>,
) -> io::Result<Option<Value>> {
    // An empty needle is on every line.
    let everything = Prefilter::new(&[""]).map_err(io::Error::other)?;
    let mut reader = Reader::new(source, everything);
    while let Some(piece) = reader.next_piece()? {
        let flow = match &piece {
            Piece::Plain { .. } | Piece::LongLine { damage: None, .. } => ControlFlow::Continue(()),
            Piece::Line {
                raw,
                number,
                offset,
            } => {
                let (mut records, damage) = piece.records();
                if !damage.is_empty() {
                    records = find_records_on(raw).0;
                }
                visit(Line {
                    raw,
                    records: &records,
                    damage: &damage,
                    number: *number,
                    offset: *offset,
                    is_terminated: raw.ends_with(b"\n"),
                })
            }
            Piece::LongLine {
                damage: Some(damage),
                number,
                offset,
                ..
            } => visit(Line {
                raw: &[],
                records: &[],
                damage: std::slice::from_ref(damage),
                number: *number,
                offset: *offset,
                is_terminated: true,
            }),
        };
        if let ControlFlow::Break(value) = flow {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn for_each_raw_line(
        source: impl Read,
        words: &[&str],
        visit: &mut dyn FnMut(RawLine<'_>) -> ControlFlow<()>,
    ) -> io::Result<u64> {
        let mut lines = RawLines::new(source, words)?;
        while let Some(line) = lines.next()? {
            if visit(line).is_break() {
                break;
            }
        }
        Ok(lines.too_long)
    }

    /// Returns at most so many bytes at a time.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = self.1.min(buffer.len());
            self.0.read(&mut buffer[..most])
        }
    }

    #[test]
    fn offsets_of_raw_lines_do_not_depend_on_reads() {
        let long = "x".repeat(2 * READ_SIZE + 7);
        let text = format!("a\n\nbab\n{long}a\nc\n{long}\ndab");
        let all: Vec<&str> = text.split_inclusive('\n').collect();
        let numbers: Vec<u64> = (1..)
            .zip(&all)
            .flat_map(|(number, line)| vec![number; line.len()])
            .collect();
        for words in [&[][..], &["a"], &["ab", "c"], &["nothing"]] {
            let wanted =
                |line: &&str| words.is_empty() || words.iter().any(|word| line.contains(word));
            let expected: Vec<&str> = all.iter().copied().filter(wanted).collect();
            for most in [1, 1000, READ_SIZE, usize::MAX] {
                let mut found = Vec::new();
                let source = Trickle(text.as_bytes(), most);
                for_each_raw_line(source, words, &mut |line| {
                    let offset = usize::try_from(line.offset).unwrap();
                    assert!(text.as_bytes()[offset..].starts_with(line.text));
                    assert_eq!(line.number, numbers[offset]);
                    found.push(String::from_utf8(line.text.to_vec()).unwrap());
                    ControlFlow::Continue(())
                })
                .unwrap();
                assert_eq!(found, expected, "{words:?} {most}");
            }
        }
    }

    #[test]
    fn raw_lines_that_are_too_long_are_skipped() {
        for (length, is_read) in [(MAX_LINE_BYTES, true), (MAX_LINE_BYTES + 1, false)] {
            let text = format!("a\n{}\nb", "a".repeat(length));
            let mut found = Vec::new();
            let too_long = for_each_raw_line(text.as_bytes(), &["a", "b"], &mut |line| {
                found.push((line.number, line.offset, line.text.len()));
                ControlFlow::Continue(())
            })
            .unwrap();
            let end = 3 + length;
            let long = is_read.then_some((2, 2, length + 1));
            let expected: Vec<_> = [(1, 0, 2)]
                .into_iter()
                .chain(long)
                .chain([(3, end as u64, 1)])
                .collect();
            assert_eq!((found, too_long), (expected, u64::from(!is_read)));
            let mut all = Vec::new();
            for_each_raw_line(text.as_bytes(), &[], &mut |line| {
                all.push((line.number, line.offset, line.length, line.is_too_long()));
                ControlFlow::Continue(())
            })
            .unwrap();
            let length = length as u64;
            let expected = [
                (1, 0, 2, false),
                (2, 2, length + 1, !is_read),
                (3, length + 3, 1, false),
            ];
            assert_eq!(all, expected);
            let mut damaged = Vec::new();
            try_visit_lines(text.as_bytes(), &mut |line| {
                damaged.extend((!line.damage.is_empty()).then_some(line.offset));
                ControlFlow::<()>::Continue(())
            })
            .unwrap();
            assert_eq!(damaged, [0, 2, end as u64]);
        }
    }

    #[test]
    fn raw_lines_end_when_the_caller_stops() {
        let mut seen = 0;
        for_each_raw_line("a\na\na\n".as_bytes(), &[], &mut |line| {
            seen = line.number;
            if seen == 2 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .unwrap();
        assert_eq!(seen, 2);
    }
}
