//! How many matches one file has, or whether it has any.

use std::io;

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkFinish, SinkMatch};

use super::request::{Span, Style, Unit};

/// Counts the matches of one file.
#[derive(Debug)]
pub(super) struct CountSink<'a> {
    pub(super) matcher: &'a RegexMatcher,
    pub(super) style: Style,
    pub(super) count: &'a mut u64,
}

impl Sink for CountSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        match (self.style.unit, self.style.span) {
            (Unit::Lines, Span::OneLine) => *self.count += 1,
            (Unit::Matches, _) | (_, Span::ManyLines) => {
                let range = found.bytes_range_in_buffer();
                self.matcher
                    .find_iter_at(&found.buffer()[..range.end], range.start, |each| {
                        let is_inside = each.start() < range.end;
                        *self.count += u64::from(is_inside);
                        is_inside
                    })
                    .map_err(io::Error::other)?;
            }
        }
        Ok(true)
    }

    /// As in ripgrep, a file that turns out to be binary counts as one without matches.
    fn finish(&mut self, searcher: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        let quits = searcher.binary_detection().quit_byte().is_some();
        if quits && finish.binary_byte_offset().is_some() {
            *self.count = 0;
        }
        Ok(())
    }
}

/// Looks for the first match of one file.
#[derive(Debug)]
pub(super) struct AnySink<'a> {
    pub(super) found: &'a mut bool,
}

impl Sink for AnySink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> io::Result<bool> {
        *self.found = true;
        Ok(false)
    }
}
