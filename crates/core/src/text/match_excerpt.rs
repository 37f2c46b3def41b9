//! The part of a text around a match.

use std::ops::Range;

/// Length of the context on each side of a match, in bytes.
const CONTEXT: usize = 100;

/// Maximum length of the context in lines on each side, in bytes.
const MAX_CONTEXT: usize = 64 * 1024;

/// Maximum length of the shown part of a match, in bytes.
const MAX_MATCH: usize = 400;

/// A match in its context. Its concatenated parts are a part of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchExcerpt {
    /// The text before the match.
    pub before: String,
    /// The match, or its beginning.
    pub matched: String,
    /// The text after the match.
    pub after: String,
    /// Whether the context consists of whole lines.
    pub has_lines: bool,
}

impl MatchExcerpt {
    /// Returns the match at `range` of `text`, in bytes.
    pub fn new(text: &str, range: Range<usize>) -> Self {
        let start = text.floor_char_boundary(range.start);
        let match_end = range.end.min(start + MAX_MATCH).max(start);
        let end = text.ceil_char_boundary(match_end);
        let from = text.ceil_char_boundary(start.saturating_sub(CONTEXT));
        let to = text.floor_char_boundary(end.saturating_add(CONTEXT).min(text.len()));
        Self {
            before: text[from..start].to_owned(),
            matched: text[start..end].to_owned(),
            after: text[end..to].to_owned(),
            has_lines: false,
        }
    }

    /// Returns the match at `range` of `text`, with `count` lines before it and after it.
    pub fn with_lines(text: &str, range: Range<usize>, count: usize) -> Self {
        let excerpt = Self::new(text, range.clone());
        let start = text.floor_char_boundary(range.start);
        let end = start + excerpt.matched.len();
        let lowest = text.ceil_char_boundary(start.saturating_sub(MAX_CONTEXT));
        let before = &text[lowest..start];
        let from = before
            .rmatch_indices('\n')
            .nth(count)
            .map_or(0, |(at, _)| at + 1);
        let highest = text.floor_char_boundary((end + MAX_CONTEXT).min(text.len()));
        let after = &text[end..highest];
        let to = after
            .match_indices('\n')
            .nth(count)
            .map_or(after.len(), |(at, _)| at);
        Self {
            before: before[from..].to_owned(),
            after: after[..to].to_owned(),
            has_lines: true,
            ..excerpt
        }
    }

    /// Returns all parts joined.
    pub fn text(&self) -> String {
        [&*self.before, &self.matched, &self.after].concat()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn context_is_short() {
        let text = format!("{}needle{}", "é".repeat(300), "ü".repeat(300));
        let excerpt = MatchExcerpt::new(&text, 600..606);
        assert_eq!(excerpt.matched, "needle");
        assert_eq!((excerpt.before.len(), excerpt.after.len()), (100, 100));
        let all = MatchExcerpt::new(&text, 0..text.len());
        assert_eq!(all.matched.len(), 400);
    }

    #[test]
    fn context_is_whole_lines() {
        let text = "one\ntwo\nthree needle three\nfour\nfive";
        let at = text.find("needle").unwrap();
        let rows = [
            (0, "three needle three"),
            (1, "two\nthree needle three\nfour"),
            (9, text),
        ];
        for (count, expected) in rows {
            let excerpt = MatchExcerpt::with_lines(text, at..at + 6, count);
            assert_eq!(excerpt.matched, "needle");
            assert_eq!(excerpt.text(), expected);
        }
    }

    proptest! {
        #[test]
        fn an_excerpt_is_a_part_of_the_text(text in "[aé\n]{0,300}", start in 0_usize..600, length in 0_usize..600) {
            let start = start.min(text.len());
            let end = (start + length).min(text.len());
            let excerpt = MatchExcerpt::new(&text, start..end);
            prop_assert!(text.contains(&excerpt.text()));
        }
    }
}
