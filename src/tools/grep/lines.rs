//! The lines of a result: which of them are given out, and in how much memory.

use super::request::Bounds;

/// More than this is not kept of a result, whatever limit the call gives, in bytes.
const MOST_BYTES: usize = 4 << 20;

/// Takes lines until it has enough.
#[derive(Debug)]
pub(super) struct Lines {
    bounds: Bounds,
    seen: usize,
    kept: Vec<String>,
    bytes: usize,
    end: LinesEnd,
}

/// Whether lines were left out at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinesEnd {
    /// None.
    All,
    /// There are more than the call's limit.
    Limit,
    /// There are more than fit in memory set aside for them.
    Memory,
}

impl Lines {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            seen: 0,
            kept: Vec::new(),
            bytes: 0,
            end: LinesEnd::All,
        }
    }

    /// Takes one more line; afterwards [`Lines::is_full`] may have become true.
    pub(super) fn push(&mut self, line: String) {
        self.seen += 1;
        if self.end != LinesEnd::All || self.seen <= self.bounds.offset {
        } else if self.seen > self.bounds.end() {
            self.end = LinesEnd::Limit;
        } else if self.bytes + line.len() > MOST_BYTES {
            self.end = LinesEnd::Memory;
        } else {
            self.bytes += line.len() + 1;
            self.kept.push(line);
        }
    }

    /// Whether no further line will be kept.
    pub(super) fn is_full(&self) -> bool {
        self.end != LinesEnd::All
    }

    /// Whether it was given no line.
    pub(super) fn is_empty(&self) -> bool {
        self.seen == 0
    }

    /// The kept lines, and whether there were more.
    pub(super) fn finish(self) -> (Vec<String>, LinesEnd) {
        (self.kept, self.end)
    }
}
