//! Exact replacement in the bytes of a file, ignoring the difference between LF and CRLF, and optionally between
//! straight and curly quotes.
//!
//! A model sees LF where the file may have CRLF. So both sides are compared with LF, and inserted text gets the
//! line endings of the text it replaces. All other bytes are unchanged, valid UTF-8 or not.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr_iter, memchr2_iter, memmem};

/// The bytes of a file, prepared for searching.
#[derive(Debug)]
pub(super) struct Haystack<'a> {
    raw: &'a [u8],
    /// `raw` with LF for each CRLF, and optionally with straight quotes.
    folded: Cow<'a, [u8]>,
    /// For each byte that was removed from `raw`, the position in `folded` of its replacement, ascending.
    removed: Vec<usize>,
    usual_line_end: LineEnd,
}

/// The treatment of quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    AsTheyAre,
    /// Straight quotes match curly ones.
    Straight,
}

/// Line endings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnd {
    Lf,
    CrLf,
}

/// The result of a replacement.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ReplacedText {
    /// The new content.
    pub(super) bytes: Vec<u8>,
    /// The position of the first replacement.
    pub(super) first: Range<usize>,
}

/// Replaces each CRLF with LF.
pub(super) fn fold_newlines(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Curly quotes and their straight equivalents.
const CURLY: [(&str, &str); 4] = [("‘", "'"), ("’", "'"), ("“", "\""), ("”", "\"")];

/// The first byte of each curly quote.
const CURLY_BEGINS: u8 = 0xe2;

/// Returns the number of bytes at the start of `text` that are removed, and their replacement.
fn fold_at(text: &[u8], quotes: Quotes) -> Option<(usize, &'static str)> {
    if text.starts_with(b"\r\n") {
        return Some((1, ""));
    }
    let (curly, straight) = CURLY
        .iter()
        .filter(|_| quotes == Quotes::Straight)
        .find(|(curly, _)| text.starts_with(curly.as_bytes()))?;
    Some((curly.len(), straight))
}

/// Replaces curly quotes with straight ones.
pub(super) fn with_straight_quotes(text: &str) -> String {
    let replaced = |text: String, (curly, straight): &(&str, &str)| text.replace(curly, straight);
    CURLY.iter().fold(text.to_owned(), replaced)
}

/// Replaces straight quotes with curly ones, for the kinds that are curly in `model`.
pub(super) fn with_quotes_like(text: &str, model: &str) -> String {
    let (single, double) = (model.contains(['‘', '’']), model.contains(['“', '”']));
    let mut previous = ' ';
    let curly = |letter: char| {
        let is_opening = previous.is_whitespace() || "([{<—–-\"'“‘".contains(previous);
        previous = letter;
        match letter {
            '\'' if single => [if is_opening { '‘' } else { '’' }],
            '"' if double => [if is_opening { '“' } else { '”' }],
            _ => [letter],
        }
    };
    text.chars().flat_map(curly).collect()
}

impl<'a> Haystack<'a> {
    pub(super) fn new(raw: &'a [u8], quotes: Quotes) -> Self {
        let mut bytes = Vec::new();
        let mut removed = Vec::new();
        let (mut start, mut crlf) = (0, 0);
        for at in memchr2_iter(b'\r', CURLY_BEGINS, raw) {
            let Some((length, replacement)) = fold_at(&raw[at..], quotes) else {
                continue;
            };
            bytes.extend_from_slice(&raw[start..at]);
            removed.extend((replacement.len()..length).map(|_| bytes.len()));
            bytes.extend_from_slice(replacement.as_bytes());
            start = at + length;
            crlf += usize::from(replacement.is_empty());
        }
        let folded = if start == 0 {
            Cow::Borrowed(raw)
        } else {
            bytes.extend_from_slice(&raw[start..]);
            Cow::Owned(bytes)
        };
        let usual_line_end = if 2 * crlf > memchr_iter(b'\n', raw).count() {
            LineEnd::CrLf
        } else {
            LineEnd::Lf
        };
        Self {
            raw,
            folded,
            removed,
            usual_line_end,
        }
    }

    /// Returns the ranges of `needle` (folded, not empty) in the raw bytes, without overlaps, in order.
    pub(super) fn matches<'b>(
        &'b self,
        needle: &'b str,
    ) -> impl Iterator<Item = Range<usize>> + 'b {
        memmem::find_iter(&self.folded, needle.as_bytes())
            .map(|start| self.raw_position(start)..self.raw_position(start + needle.len()))
    }

    /// Replaces each of `matches` with `with` (folded). Returns `None` if the result would exceed `limit`
    /// bytes.
    pub(super) fn replace(
        &self,
        matches: impl Iterator<Item = Range<usize>>,
        with: &str,
        limit: usize,
    ) -> Option<ReplacedText> {
        let with_crlf = with.replace('\n', "\r\n");
        let mut bytes = Vec::with_capacity(self.raw.len());
        let mut first = None;
        let mut rest = 0;
        for found in matches {
            bytes.extend_from_slice(&self.raw[rest..found.start]);
            let start = bytes.len();
            bytes.extend_from_slice(match self.line_end_of(&found) {
                LineEnd::Lf => with.as_bytes(),
                LineEnd::CrLf => with_crlf.as_bytes(),
            });
            first.get_or_insert(start..bytes.len());
            rest = found.end;
            if bytes.len() > limit {
                return None;
            }
        }
        bytes.extend_from_slice(&self.raw[rest..]);
        (bytes.len() <= limit).then(|| ReplacedText {
            bytes,
            first: first.unwrap_or(0..0),
        })
    }

    fn raw_position(&self, folded: usize) -> usize {
        folded
            + self
                .removed
                .partition_point(|line_feed| *line_feed < folded)
    }

    fn line_end_of(&self, range: &Range<usize>) -> LineEnd {
        let text = &self.raw[range.clone()];
        match memchr::memchr(b'\n', text) {
            None => self.usual_line_end,
            Some(at) if at > 0 && text[at - 1] == b'\r' => LineEnd::CrLf,
            Some(_) => LineEnd::Lf,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn replace_all(text: &str, old: &str, new: &str) -> String {
        let haystack = Haystack::new(text.as_bytes(), Quotes::AsTheyAre);
        let (old, new) = (fold_newlines(old), fold_newlines(new));
        let replaced = haystack
            .replace(haystack.matches(&old), &new, usize::MAX)
            .unwrap();
        String::from_utf8(replaced.bytes).unwrap()
    }

    #[test]
    fn line_ends_are_kept() {
        let table = [
            ("a\r\nb\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\n"),
            ("a\r\nb\r\n", "a", "x\ny", "x\r\ny\r\nb\r\n"),
            ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"),
            ("a\r\nb\na\nb\r\n", "a\nb", "1\n2", "1\r\n2\n1\n2\r\n"),
            ("a\r\n\r\nb", "\n\n", "\n", "a\r\nb"),
            ("a\r\nb", "a", "x", "x\r\nb"),
            ("a\r\nb", "\nb", "", "a"),
            ("a\r\r\nb", "\n", ";", "a\r;b"),
            ("a\rb\n", "a\rb", "c", "c\n"),
        ];
        for (text, old, new, expected) in table {
            assert_eq!(
                replace_all(text, old, new),
                expected,
                "{text:?} {old:?} {new:?}"
            );
        }
    }

    #[test]
    fn invalid_bytes_are_kept() {
        let haystack = Haystack::new(b"\xff\xfea\r\n\xc3", Quotes::AsTheyAre);
        let replaced = haystack
            .replace(haystack.matches("a"), "\u{e4}", 100)
            .unwrap();
        assert_eq!(replaced.bytes, b"\xff\xfe\xc3\xa4\r\n\xc3");
        assert_eq!(replaced.first, 2..4);
    }

    #[test]
    fn the_result_has_a_limit() {
        let haystack = Haystack::new(b"aaaa", Quotes::AsTheyAre);
        assert!(haystack.replace(haystack.matches("a"), "bb", 8).is_some());
        assert!(haystack.replace(haystack.matches("a"), "bb", 7).is_none());
    }

    proptest! {
        #[test]
        fn without_crlf_it_is_plain_replacement(
            text in "[ab\nä]{0,40}",
            old in "[ab\nä]{1,3}",
            new in "[abc\nä]{0,4}",
        ) {
            let haystack = Haystack::new(text.as_bytes(), Quotes::AsTheyAre);
            let count = haystack.matches(&old).count();
            prop_assert_eq!(count, text.matches(&old).count());
            prop_assert_eq!(replace_all(&text, &old, &new), text.replace(&old, &new));
            let once = haystack.replace(haystack.matches(&old).take(1), &new, usize::MAX).unwrap();
            prop_assert_eq!(String::from_utf8(once.bytes).unwrap(), text.replacen(&old, &new, 1));
        }

        #[test]
        fn with_crlf_it_is_replacement_in_the_folded_text(
            text in "[ab\n]{0,40}",
            old in "[ab\n]{1,3}",
            new in "[abc\n]{0,4}",
        ) {
            let crlf = |text: &str| text.replace('\n', "\r\n");
            prop_assert_eq!(replace_all(&crlf(&text), &old, &new), {
                if text.contains('\n') { crlf(&text.replace(&old, &new)) } else { text.replace(&old, &new) }
            });
        }

        #[test]
        fn unmatched_text_is_kept(text in "[ab\r\n]{0,30}", old in "[ab\n]{1,3}") {
            let haystack = Haystack::new(text.as_bytes(), Quotes::AsTheyAre);
            let mut kept = String::new();
            let mut rest = 0;
            for found in haystack.matches(&old) {
                let matched = &text[found.clone()];
                prop_assert_eq!(fold_newlines(matched), old.as_str());
                kept.push_str(&text[rest..found.start]);
                rest = found.end;
            }
            kept.push_str(&text[rest..]);
            prop_assert_eq!(replace_all(&text, &old, ""), kept);
        }
    }
}
