//! The output of the reader: parts of the input, the records in them, and damage.

use super::line::{BOM, Damage, Record, list_of_objects, probable_record, split_from};

/// A part of the input. The concatenated `raw` bytes of all pieces are the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Whole lines without a needle of the prefilter: not parsed, or checked and sound. Each ends with its newline,
    /// which the last line of the input may lack.
    Plain {
        /// The lines.
        raw: Vec<u8>,
    },
    /// A line with a needle, or a damaged line that was checked, with its newline if it has one. An object that
    /// spans several lines counts as one line.
    Line {
        /// The bytes of the line (with BOM, CR, NUL runs, …).
        raw: Vec<u8>,
        /// The line number, from 1.
        number: u64,
        /// The byte offset of the line in the input.
        offset: u64,
    },
    /// A part of a line of more than [`super::MAX_LINE_BYTES`] bytes, which is not parsed.
    LongLine {
        /// A part of the line. The last part ends with the newline if there is one, and is empty if the input
        /// ended right before it.
        raw: Vec<u8>,
        /// On the first part, the damage to report.
        damage: Option<Damage>,
        /// The line number, from 1.
        number: u64,
        /// The byte offset of the line in the input.
        offset: u64,
        /// Whether this is the last part of the line.
        is_last: bool,
    },
}

impl Piece {
    /// Returns the bytes of the input.
    pub fn raw(&self) -> &[u8] {
        let (Self::Plain { raw } | Self::Line { raw, .. } | Self::LongLine { raw, .. }) = self;
        raw
    }

    /// Like [`Piece::raw`], by value.
    pub fn into_raw(self) -> Vec<u8> {
        let (Self::Plain { raw } | Self::Line { raw, .. } | Self::LongLine { raw, .. }) = self;
        raw
    }

    /// Returns the complete JSON objects on the line, in order, and its damage. There are several if
    /// records are glued together or in a list.
    pub fn records(&self) -> (Vec<Record>, Vec<Damage>) {
        match self {
            Self::Plain { .. } => (Vec::new(), Vec::new()),
            Self::LongLine { damage, .. } => (Vec::new(), damage.iter().cloned().collect()),
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

    /// Calls `visit` with each of the [`Piece::records`], and returns the damage of the line. A line that looks
    /// like one record is not checked first: `visit` may receive text that is not JSON, and returns whether it is
    /// a JSON object.
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

/// Returns the length of the prefix of the line at `offset` that is not part of a record: a byte order mark at the
/// start of the input, or the bracket of a list of objects that spans several lines.
fn text_start(line: &[u8], offset: u64) -> usize {
    if offset == 0 && line.starts_with(BOM) {
        BOM.len()
    } else {
        usize::from(line.starts_with(b"[{"))
    }
}
