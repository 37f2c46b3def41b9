//! The output of the reader: parts of the input, the records in them, and damage.

use aho_corasick::packed::Searcher;
use aho_corasick::{AhoCorasick, BuildError};
use memchr::memmem::Finder;

use super::line_records::{BOM, Damage, Record, list_of_objects, probable_record, split_from};

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

/// Searches for several fixed strings at once.
#[derive(Debug, Clone)]
pub struct Prefilter {
    search: Search,
}

/// The automaton reads a byte at a time. Vector instructions are more than ten times as fast, but need few needles
/// and are not available on all processors. A single needle takes half the time.
#[derive(Debug, Clone)]
enum Search {
    One(Finder<'static>),
    Packed(Searcher),
    Automaton(AhoCorasick),
}

impl Prefilter {
    /// Creates a prefilter for `needles`: at most a hundred, ideally of four bytes or more. An empty needle matches
    /// every line.
    ///
    /// # Errors
    /// The needles are too large (many megabytes).
    pub fn new(needles: &[&str]) -> Result<Self, BuildError> {
        let search = match (needles, Searcher::new(needles)) {
            ([needle], _) => Search::One(Finder::new(needle).into_owned()),
            (_, Some(packed)) => Search::Packed(packed),
            (_, None) => Search::Automaton(AhoCorasick::new(needles)?),
        };
        Ok(Self { search })
    }

    /// Returns the position of the first needle at or after `from`. It may be inside a JSON string. Needles never
    /// contain a newline.
    pub fn find(&self, haystack: &[u8], from: usize) -> Option<usize> {
        let rest = haystack.get(from..)?;
        let start = match &self.search {
            Search::One(finder) => finder.find(rest)?,
            Search::Packed(packed) => packed.find(rest)?.start(),
            Search::Automaton(automaton) => automaton.find(rest)?.start(),
        };
        Some(from + start)
    }
}

#[cfg(test)]
mod prefilter_tests {
    use super::Prefilter;

    #[test]
    fn finds_the_first_needle_from_a_position() {
        let prefilter = Prefilter::new(&["tool_use", "functionCall"]).unwrap();
        let haystack = b"a tool_use, a functionCall";
        assert_eq!(prefilter.find(haystack, 0), Some(2));
        assert_eq!(prefilter.find(haystack, 2), Some(2));
        assert_eq!(prefilter.find(haystack, 3), Some(14));
        assert_eq!(prefilter.find(haystack, 15), None);
        assert_eq!(prefilter.find(haystack, haystack.len() + 1), None);
    }

    /// More needles than vector instructions support, and an empty one.
    #[test]
    fn any_number_of_needles() {
        let many: Vec<String> = (100..400).map(|number| format!("n{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let prefilter = Prefilter::new(&many).unwrap();
        assert_eq!(prefilter.find(b"n1 n399 n100", 0), Some(3));
        let prefilter = Prefilter::new(&["needle", ""]).unwrap();
        assert_eq!(prefilter.find(b"anything", 3), Some(3));
    }

    #[test]
    fn no_needles_match_nothing() {
        let prefilter = Prefilter::new(&[]).unwrap();
        assert_eq!(prefilter.find(b"anything", 0), None);
    }
}
