//! Reasons why a command line is not known to be read-only.

use std::ops::Range;

use super::Verdict;

/// The first construct that is not known to be read-only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) verdict: Verdict,
    pub(super) why: String,
    pub(super) span: Range<usize>,
}

impl Refusal {
    pub(super) fn unknown(span: Range<usize>, why: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Unknown,
            why: why.into(),
            span,
        }
    }

    pub(super) fn writes(span: Range<usize>, why: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Writes,
            why: why.into(),
            span,
        }
    }
}

/// Returns the start of a text, on one line.
pub(super) fn excerpt(text: &str) -> String {
    /// Enough to recognise a word, in characters.
    const SHOWN: usize = 40;
    let line = crate::text::terminal_safe_line(text);
    let mut shown: String = line.chars().take(SHOWN).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    shown
}
