//! The lines of a session file, each with its records.

use std::io::{self, Read};
use std::ops::ControlFlow;

use memchr::memchr_iter;

use super::recover::records_on_line;
use crate::jsonl::{Damage, Piece, Prefilter, Reader, Record};

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
    /// What is wrong with it.
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

/// Calls `visit` with the offset and the text of each line of `source`, or, unless `words` is empty,
/// of each line that holds one of these. Does not look for records, and skips lines that are too long
/// to parse.
///
/// # Errors
/// Reading failed.
pub(super) fn for_each_raw_line(
    source: impl Read,
    words: &[&str],
    visit: &mut dyn FnMut(u64, &[u8]),
) -> io::Result<()> {
    let wanted = Prefilter::new(words).map_err(io::Error::other)?;
    let mut reader = Reader::new(source, wanted);
    let mut offset = 0;
    while let Some(piece) = reader.next_piece()? {
        match &piece {
            // Without words all lines come in large pieces.
            Piece::Plain { raw } if words.is_empty() => {
                let mut start = 0;
                for end in memchr_iter(b'\n', raw)
                    .map(|newline| newline + 1)
                    .chain([raw.len()])
                {
                    visit(offset + start as u64, &raw[start..end]);
                    start = end;
                }
            }
            Piece::Line { raw, .. } => visit(offset, raw),
            Piece::Plain { .. } | Piece::Giant { .. } => {}
        }
        offset += piece.raw().len() as u64;
    }
    Ok(())
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
    for_each_line_with(everything, source, start, visit)
}

/// The same, limited to the lines that `prefilter` accepts.
///
/// # Errors
/// Reading failed.
pub(super) fn for_each_line_with<Value>(
    prefilter: Prefilter,
    source: impl Read,
    start: u64,
    visit: &mut dyn FnMut(Line<'_>) -> ControlFlow<Value>,
) -> io::Result<Option<Value>> {
    let mut reader = Reader::new(source, prefilter);
    while let Some(piece) = reader.next_piece()? {
        let flow = match &piece {
            Piece::Plain { .. } | Piece::Giant { damage: None, .. } => ControlFlow::Continue(()),
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
            Piece::Giant {
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
