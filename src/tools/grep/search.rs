//! One file through ripgrep's searcher.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink};

use super::super::regular_file;
use super::super::walk::Budget;
use super::request::{Span, Style};

/// The longest line, or the largest file with `multiline`, that is searched, in bytes.
const HEAP_BYTES: usize = 64 << 20;

/// How a file came to be searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The call names it: a match in binary data is reported.
    Named,
    /// It was found on the walk: binary data ends its search.
    Walked,
}

/// A searcher for the files of one call.
pub(super) fn searcher(style: &Style, origin: Origin) -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .before_context(style.before)
        .after_context(style.after)
        .multi_line(style.span == Span::ManyLines)
        .heap_limit(Some(HEAP_BYTES))
        .binary_detection(match origin {
            Origin::Named => BinaryDetection::convert(0),
            Origin::Walked => BinaryDetection::quit(0),
        })
        .build()
}

/// Searches one file.
///
/// # Errors
/// It cannot be read, has a line that is too long, or the budget is used up.
pub(super) fn search<S: Sink<Error = io::Error>>(
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    path: &Path,
    budget: Budget<'_>,
    sink: S,
) -> io::Result<()> {
    let file = regular_file::open(path).map_err(io::Error::other)?.file;
    searcher.search_reader(matcher, Stoppable { file, budget }, sink)
}

/// A file that cannot be read any more once the budget is used up.
struct Stoppable<'a> {
    file: File,
    budget: Budget<'a>,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.budget
            .check()
            .map_err(|_| io::Error::other("the search was stopped"))?;
        self.file.read(buffer)
    }
}
