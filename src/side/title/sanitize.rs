//! Takes decoration off a title.

use crate::side::javascript::{is_blank, trim, trim_end, trim_start};
use crate::text::{terminal_safe, terminal_safe_line, truncate_utf16, utf16_length};

/// The longest title, in UTF-16 units.
const LONGEST: usize = 200;

const OPENING: &str = "[「『【〈《";
const CLOSING: &str = "]」』】〉》";

/// A title without escape sequences, markdown, quotation marks and bracketed remarks at its ends,
/// and final punctuation, on one line, at most 200 UTF-16 units long. Empty if nothing is left.
pub fn sanitize(title: &str) -> String {
    let safe = terminal_safe(title);
    let text = without_last_remark(without_first_remark(trim(&safe)));
    let text = text.trim_start_matches(|character: char| {
        is_blank(character) || ">*-#`\"'_".contains(character)
    });
    let text = text
        .trim_end_matches(|character: char| is_blank(character) || "*`\"'_".contains(character));
    let text = text.trim_end_matches(|character: char| ".!?。！？,，;；:：".contains(character));
    let line = terminal_safe_line(text);
    if utf16_length(&line) > LONGEST {
        return trim(truncate_utf16(&line, LONGEST)).to_owned();
    }
    line
}

/// Without a bracket at the beginning, and what is in it.
fn without_first_remark(text: &str) -> &str {
    if !text.starts_with(|first| OPENING.contains(first)) {
        return text;
    }
    text.char_indices()
        .find(|(_, character)| CLOSING.contains(*character))
        .map_or(text, |(at, close)| {
            trim_start(&text[at + close.len_utf8()..])
        })
}

/// Without a bracket at the end, and what is in it.
fn without_last_remark(text: &str) -> &str {
    let Some(close) = text.chars().next_back() else {
        return text;
    };
    if !CLOSING.contains(close) {
        return text;
    }
    let inner = &text[..text.len() - close.len_utf8()];
    let start = inner
        .rfind(|character| CLOSING.contains(character))
        .map_or(0, |at| at + 1);
    let start = (start..=inner.len())
        .find(|at| inner.is_char_boundary(*at))
        .unwrap_or(inner.len());
    inner[start..]
        .find(|character| OPENING.contains(character))
        .map_or(text, |at| trim_end(&text[..start + at]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn own_rows() {
        let rows = include_str!("../../../tests/data/side/titles.tsv");
        for row in rows.lines().filter(|row| !row.starts_with('#')) {
            let (answer, title) = row.split_once('\t').unwrap();
            let answer: String = serde_json::from_str(answer).unwrap();
            assert_eq!(sanitize(&answer), title, "{answer:?}");
        }
    }

    #[test]
    fn a_long_title_is_cut() {
        assert_eq!(sanitize(&"é".repeat(300)), "é".repeat(200));
        assert_eq!(
            sanitize(&format!("{}😀x", "a".repeat(199))),
            "a".repeat(199)
        );
    }

    proptest! {
        #[test]
        fn titles_are_one_safe_line(answer in any::<String>()) {
            let title = sanitize(&answer);
            prop_assert!(utf16_length(&title) <= LONGEST);
            prop_assert_eq!(terminal_safe_line(&title), title);
        }
    }
}
