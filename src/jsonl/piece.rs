//! What the reader hands out: the parts of the input, the records in them, and what was wrong.

use std::ops::Range;

use super::line::{BOM, list_of_objects, probable_record, split_from};

/// The next part of the input. The `raw` bytes of all pieces, joined, are the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Whole lines, none of which the prefilter wants. They were not read, or nothing is wrong with
    /// them. Each ends with its newline, but for the last line of the input, which may lack it.
    Plain {
        /// The lines.
        raw: Vec<u8>,
    },
    /// One line that the prefilter wants, or that was checked and is damaged, with its newline if it
    /// has one; or several on which one object stands.
    Line {
        /// The line as it stood in the input (with BOM, CR, NUL runs, …).
        raw: Vec<u8>,
        /// Counted from 1.
        number: u64,
        /// Where the line starts, in bytes from the start of the input.
        offset: u64,
    },
    /// A part of a line of more than [`super::LONGEST_LINE`] bytes, passed on unread. The first
    /// part carries the damage report.
    Giant {
        /// A part of the line; the last one ends with the newline if there is one, and is empty
        /// if the input ended just then.
        raw: Vec<u8>,
        /// On the first part: what to report.
        damage: Option<Damage>,
        /// Counted from 1.
        number: u64,
        /// Where the line starts, in bytes from the start of the input.
        offset: u64,
        /// Whether the line ends with this part.
        is_last: bool,
    },
}

impl Piece {
    /// The bytes of the input that this piece stands for.
    pub fn raw(&self) -> &[u8] {
        let (Self::Plain { raw } | Self::Line { raw, .. } | Self::Giant { raw, .. }) = self;
        raw
    }

    /// The same, taken out of it.
    pub fn into_raw(self) -> Vec<u8> {
        let (Self::Plain { raw } | Self::Line { raw, .. } | Self::Giant { raw, .. }) = self;
        raw
    }

    /// The whole JSON objects on the line, in order (one on a healthy line, none on a hopeless one,
    /// several on a glued one or in a list), and what is wrong with it.
    pub fn records(&self) -> (Vec<Record>, Vec<Damage>) {
        match self {
            Self::Plain { .. } => (Vec::new(), Vec::new()),
            Self::Giant { damage, .. } => (Vec::new(), damage.iter().cloned().collect()),
            Self::Line {
                raw,
                number,
                offset,
                ..
            } => {
                if let Some(objects) = list_of_objects(raw) {
                    return (objects.into_iter().map(Record::Range).collect(), Vec::new());
                }
                let (records, mut damage) = split_from(raw, text_start(raw, *offset));
                for damage in &mut damage {
                    damage.line = *number;
                    damage.offset += offset;
                }
                (records, damage)
            }
        }
    }

    /// Calls `visit` with the [`Piece::records`], and returns what is wrong with the line. A sound
    /// line is not checked first: `visit` gets texts that may not be JSON, and says whether a text
    /// is a JSON object.
    pub fn visit_records(&self, mut visit: impl FnMut(&str) -> bool) -> Vec<Damage> {
        if let Self::Line { raw, offset, .. } = self {
            let text = probable_record(&raw[text_start(raw, *offset)..]);
            if text.is_some_and(&mut visit) {
                return Vec::new();
            }
        }
        let (records, damage) = self.records();
        for record in &records {
            visit(record.text(self.raw()));
        }
        damage
    }
}

/// Where the text of the line at `offset` begins. A byte order mark may stand only where the input
/// begins. In a list of objects on several lines the bracket is not part of the first object.
fn text_start(line: &[u8], offset: u64) -> usize {
    if offset == 0 && line.starts_with(BOM) {
        BOM.len()
    } else {
        usize::from(line.starts_with(b"[{"))
    }
}

/// A whole JSON object on a line: valid UTF-8, well formed, of any depth and size, without lone
/// surrogate escapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// It stands in the line's `raw` bytes as it is.
    Range(Range<usize>),
    /// Invalid UTF-8 or lone surrogate escapes in its strings were replaced by U+FFFD.
    Repaired(String),
}

impl Record {
    /// The JSON text of the record. `raw` is the `raw` of the line it came with; of any other
    /// bytes the answer is some text, perhaps empty.
    pub fn text<'a>(&'a self, raw: &'a [u8]) -> &'a str {
        match self {
            Self::Range(range) => raw
                .get(range.clone())
                .and_then(|bytes| simdutf8::basic::from_utf8(bytes).ok())
                .unwrap_or_default(),
            Self::Repaired(text) => text,
        }
    }
}

/// Something wrong with a line; reported on stderr, and exit 3 with `--strict`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("input line {line} (byte {offset}): {reason}")]
pub struct Damage {
    /// What is wrong, as a lowercase phrase.
    pub reason: String,
    /// The number of the line, from 1.
    pub line: u64,
    /// Where, in bytes from the start of the input.
    pub offset: u64,
}
