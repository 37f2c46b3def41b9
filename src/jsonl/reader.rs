//! Splits a byte stream into lines without losing a byte, and finds the JSON objects in them.

use std::io::{self, Read};
use std::ops::Range;

/// The next part of the input. The `raw` bytes of all pieces, joined, are the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Whole lines, newlines included, each well formed, none of which the prefilter wants.
    Plain {
        /// The lines.
        raw: Vec<u8>,
    },
    /// One line, with its newline if it has one.
    Line {
        /// The line as it stood in the input (with BOM, CR, NUL runs, …).
        raw: Vec<u8>,
        /// Where in `raw` the whole JSON objects stand that the prefilter wants, in order: one on
        /// a healthy line, none on a blank or hopeless one, several on a glued one. Each range is
        /// valid UTF-8 and valid JSON (any depth), but for what `Damage` says was repaired.
        records: Vec<Range<usize>>,
        /// What was wrong with the line.
        damage: Vec<Damage>,
        /// Counted from 1.
        number: u64,
        /// Where the line starts, in bytes from the start of the input.
        offset: u64,
        /// The line ended with a newline. Only the last line of the input may not.
        terminated: bool,
    },
    /// A part of a line of more than 16 MiB, passed on unparsed. The first part carries the
    /// damage report.
    Giant {
        /// A part of the line; the last one ends with the newline if there is one.
        raw: Vec<u8>,
        /// On the first part: what to report.
        damage: Option<Damage>,
        /// Counted from 1.
        number: u64,
        /// Where the line starts.
        offset: u64,
        /// Whether this is the end of the line, and if so, how it ended.
        end: Option<bool>,
    },
}

/// Something wrong with a line; reported on stderr, and exit 3 with `--strict`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Damage {
    /// What is wrong, as a lowercase phrase.
    pub reason: String,
    /// Where, in bytes from the start of the input.
    pub offset: u64,
}

/// Decides cheaply which lines must be looked into at all.
pub trait Prefilter: Send {
    /// Finds the first needle at or after `from` and returns its position. It may report too much
    /// (a needle inside of a string), never too little.
    fn find(&self, haystack: &[u8], from: usize) -> Option<usize>;
}

/// The reader. See [`Piece`].
pub struct Reader<Source> {
    source: Source,
}

impl<Source: Read> Reader<Source> {
    /// Reads from `source`; lines without a needle of `prefilter` come as [`Piece::Plain`].
    pub fn new(source: Source, prefilter: impl Prefilter + 'static) -> Self {
        let _ = prefilter;
        Self { source }
    }

    /// The next piece, or `None` at the end. Never waits for more input while it holds a whole
    /// line that was not yet returned.
    ///
    /// # Errors
    /// Reading failed.
    pub fn next_piece(&mut self) -> io::Result<Option<Piece>> {
        let mut raw = Vec::new();
        self.source.read_to_end(&mut raw)?;
        Ok((!raw.is_empty()).then_some(Piece::Plain { raw }))
    }
}
