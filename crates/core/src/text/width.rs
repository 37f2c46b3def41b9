//! Lengths of text: columns of a terminal, and UTF-16 units, which JavaScript agents count as characters.

use unicode_width::UnicodeWidthStr;

/// Returns the width of a line in columns: 2 for wide East Asian characters and emoji, 0 for combining marks.
/// The text should be terminal-safe; control characters have no defined width.
pub fn display_width(line: &str) -> usize {
    line.width()
}

/// Truncates a line at its end to `columns`, with `…` if it was longer.
pub fn fit_columns(line: &str, columns: usize) -> String {
    if display_width(line) <= columns {
        return line.to_owned();
    }
    let starts = line.char_indices().skip(1).map(|(end, _)| &line[..end]);
    longest_fit(starts, columns).to_owned() + "…"
}

/// Truncates a line at its start to `columns`, with `…` if it was longer.
pub fn fit_end(line: &str, columns: usize) -> String {
    if display_width(line) <= columns {
        return line.to_owned();
    }
    let ends = line.char_indices().rev().map(|(start, _)| &line[start..]);
    "…".to_owned() + longest_fit(ends, columns)
}

/// Returns the last part, of parts that become longer, that fits into one column less than `columns`. A character
/// may widen the one before it.
fn longest_fit<'a>(parts: impl Iterator<Item = &'a str>, columns: usize) -> &'a str {
    let fits = |part: &&str| display_width(part) < columns;
    parts.take_while(fits).last().unwrap_or_default()
}

/// Returns the length of `text` in UTF-16 units: 2 for each character outside the Basic Multilingual Plane, 1
/// for all others.
pub fn utf16_length(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.chars().map(char::len_utf16).sum()
}

/// Truncates `text` to at most `units` UTF-16 units. A surrogate pair is never split, so the result may be one
/// unit shorter.
pub fn truncate_utf16(text: &str, units: usize) -> &str {
    match text.as_bytes().get(..units) {
        // No text has more units than bytes.
        None => return text,
        Some(beginning) if beginning.is_ascii() => return &text[..units],
        Some(_) => {}
    }
    let mut used = 0;
    for (offset, character) in text.char_indices() {
        used += character.len_utf16();
        if used > units {
            return &text[..offset];
        }
    }
    text
}

#[cfg(test)]
mod utf16_tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_surrogate_pairs_twice() {
        for (text, length) in [
            ("", 0),
            ("abc", 3),
            ("é", 1),
            ("日本", 2),
            ("😀", 2),
            ("a😀b", 4),
        ] {
            assert_eq!(utf16_length(text), length, "{text}");
        }
    }

    #[test]
    fn cuts_before_a_pair_that_does_not_fit() {
        let table = [
            ("abc", 0, ""),
            ("abc", 2, "ab"),
            ("abc", 3, "abc"),
            ("abc", 9, "abc"),
            ("a😀b", 1, "a"),
            ("a😀b", 2, "a"),
            ("a😀b", 3, "a😀"),
            ("日本語", 2, "日本"),
        ];
        for (text, units, cut) in table {
            assert_eq!(truncate_utf16(text, units), cut, "{text} at {units}");
        }
    }

    proptest! {
        #[test]
        fn a_cut_is_the_longest_beginning_that_fits(text in any::<String>(), units in 0_usize..80) {
            let cut = truncate_utf16(&text, units);
            prop_assert!(text.starts_with(cut));
            prop_assert!(utf16_length(cut) <= units);
            if let Some(next) = text[cut.len()..].chars().next() {
                prop_assert!(utf16_length(cut) + next.len_utf16() > units);
            }
            prop_assert_eq!(utf16_length(&text), text.encode_utf16().count());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        let table = [
            ("", 0),
            ("abc", 3),
            ("日本語", 6),
            ("cafe\u{301}", 4),
            ("👍", 2),
            ("❤\u{fe0f}", 2),
            ("👨\u{200d}👩\u{200d}👧", 2),
        ];
        for (line, columns) in table {
            assert_eq!(display_width(line), columns, "{line}");
        }
    }

    #[test]
    fn long_lines_are_cut_at_either_end() {
        let table = [
            ("abc", 3, "abc", "abc"),
            ("abcd", 3, "ab…", "…cd"),
            ("日本語", 5, "日本…", "…本語"),
            ("日本語", 4, "日…", "…語"),
            ("ab", 0, "…", "…"),
        ];
        for (line, columns, beginning, end) in table {
            assert_eq!(fit_columns(line, columns), beginning, "{line}");
            assert_eq!(fit_end(line, columns), end, "{line}");
        }
    }
}
