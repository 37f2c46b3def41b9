//! The lines of a session file, each with its records.

use std::io::{self, Read};
use std::ops::ControlFlow;

use memchr::{memchr, memchr_iter, memrchr};

use super::recover::records_on_line;
use crate::jsonl::{Damage, MAX_LINE_BYTES, Piece, Prefilter, Reader, Record};

/// Number of bytes to read at once. They fit into a core's cache while they are searched.
const READ_SIZE: usize = 128 * 1024;

/// The position of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The offset of its line in bytes.
    pub offset: u64,
    /// The length of the line in bytes, including the newline.
    pub length: u32,
    /// The index of the record on its line.
    pub index: u32,
}

impl Place {
    /// The first record on a line.
    pub(super) fn of_line(offset: u64, line: &[u8]) -> Self {
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
    pub terminated: bool,
}

impl<'a> Line<'a> {
    /// The records with their positions.
    pub fn records(self) -> impl Iterator<Item = (Place, &'a str)> {
        (0..).zip(self.records).map(move |(index, record)| {
            let place = Place::of_line(self.offset, self.raw);
            (Place { index, ..place }, record.text(self.raw))
        })
    }

    /// Whether the line is blank.
    pub fn is_blank(self) -> bool {
        self.damage.is_empty() && self.raw.trim_ascii().is_empty()
    }
}

/// A line whose records were not looked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawLine<'a> {
    /// The text. Empty if the line is too long to parse.
    pub(super) text: &'a [u8],
    /// The line number, from 1.
    pub(super) number: u64,
    /// The offset in bytes.
    pub(super) offset: u64,
    /// The length in bytes, including the newline.
    pub(super) length: u64,
}

impl RawLine<'_> {
    /// Whether the line is too long to parse.
    pub(super) fn is_too_long(&self) -> bool {
        self.text.len() as u64 != self.length
    }
}

/// Calls `visit` with each line of `source`, or, unless `words` is empty, with each line that holds
/// one of these, until it breaks. Lines that are too long to parse are visited without their text, unless
/// there are words. Returns how many there were.
///
/// # Errors
/// Reading failed.
pub(super) fn for_each_raw_line(
    mut source: impl Read,
    words: &[&str],
    visit: &mut dyn FnMut(RawLine<'_>) -> ControlFlow<()>,
) -> io::Result<u64> {
    // An empty needle is on every line.
    let all = words.is_empty();
    let words = if all { &[""] } else { words };
    let wanted = Prefilter::new(words).map_err(io::Error::other)?;
    let mut buffer = vec![0; READ_SIZE];
    // Offset of the buffer in the source, and length of the unfinished line at its start.
    let (mut offset, mut begun) = (0, 0);
    let mut number = 1;
    // Start of the line that is too long, and the number of such lines.
    let (mut long_line, mut too_long) = (None, 0);
    loop {
        let end = begun + source.read(&mut buffer[begun..])?;
        let is_over = end == begun;
        let newline = memrchr(b'\n', &buffer[begun..end]).map(|at| begun + at + 1);
        let lines_end = newline.unwrap_or(if is_over { end } else { 0 });
        let lines = &buffer[..lines_end];
        // Up to where the line feeds are counted.
        let (mut at, mut counted) = (0, 0);
        if let Some(start) = long_line.take_if(|_| lines_end > 0 || is_over) {
            at = memchr(b'\n', lines).map_or(lines_end, |newline| newline + 1);
            let skipped = RawLine {
                text: &[],
                number,
                offset: start,
                length: offset + at as u64 - start,
            };
            if all && visit(skipped).is_break() {
                return Ok(too_long);
            }
        }
        while let Some(needle) = wanted.find(lines, at).filter(|_| at < lines_end) {
            let start = memrchr(b'\n', &lines[at..needle]).map_or(at, |before| at + before + 1);
            let rest = &lines[start..];
            let line = memchr(b'\n', rest).map_or(rest, |newline| &rest[..=newline]);
            number += memchr_iter(b'\n', &lines[counted..start]).count() as u64;
            let raw = RawLine {
                text: line,
                number,
                offset: offset + start as u64,
                length: line.len() as u64,
            };
            if visit(raw).is_break() {
                return Ok(too_long);
            }
            (at, counted) = (start + line.len(), start);
        }
        if is_over {
            return Ok(too_long);
        }
        number += memchr_iter(b'\n', &lines[counted..]).count() as u64;
        let mut done = lines_end;
        if end - done > MAX_LINE_BYTES {
            too_long += u64::from(long_line.is_none());
            long_line.get_or_insert(offset + done as u64);
            done = end;
        }
        buffer.copy_within(done..end, 0);
        offset += done as u64;
        begun = end - done;
        if begun == buffer.len() {
            buffer.resize((2 * begun).min(MAX_LINE_BYTES + 1), 0);
        }
    }
}

/// Calls `visit` with the lines of `source` until it breaks. Offsets start at `start`.
///
/// # Errors
/// Reading failed.
pub fn for_each_line<Value>(
    source: impl Read,
    start: u64,
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
                    records = records_on_line(raw).0;
                }
                visit(Line {
                    raw,
                    records: &records,
                    damage: &moved(damage, start),
                    number: *number,
                    offset: start + offset,
                    terminated: raw.ends_with(b"\n"),
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
                damage: &moved(vec![damage.clone()], start),
                number: *number,
                offset: start + offset,
                terminated: true,
            }),
        };
        if let ControlFlow::Break(value) = flow {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

fn moved(mut damage: Vec<Damage>, start: u64) -> Vec<Damage> {
    for damage in &mut damage {
        damage.offset += start;
    }
    damage
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out as much as it is asked for, but at most so many bytes at a time.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = self.1.min(buffer.len());
            self.0.read(&mut buffer[..most])
        }
    }

    #[test]
    fn raw_lines_have_their_places_however_they_are_read() {
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
    fn raw_lines_that_are_too_long_are_passed_over() {
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
        }
    }

    #[test]
    fn raw_lines_end_when_nobody_wants_more() {
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
