//! The last steps before a text is shown: masks secrets, removes control sequences, limits the length.

use std::sync::LazyLock;

use regex::Regex;
use unicode_segmentation::UnicodeSegmentation;

use crate::text::{MASK, display_width, pattern, redact, terminal_safe_line};

/// Marks a cut.
pub(super) const MORE: char = '…';

static EMAIL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?-u:\b)[A-Za-z0-9_.%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b")
});

/// Returns one line without control sequences, secrets, mail addresses and code marks.
pub(super) fn clean(text: &str) -> String {
    let safe = terminal_safe_line(&text.replace('`', ""));
    let mut safe = redact(&safe).into_owned();
    if safe.contains('@') {
        safe = EMAIL.replace_all(&safe, "[email]").into_owned();
    }
    if !safe.split(' ').any(looks_like_a_key) {
        return safe;
    }
    let words = safe.split(' ');
    let masked = words.map(|word| if looks_like_a_key(word) { MASK } else { word });
    masked.collect::<Vec<_>>().join(" ")
}

/// Whether a word looks like a key: long, mixed, and without runs of letters, which identifiers have.
fn looks_like_a_key(word: &str) -> bool {
    let count = |test: fn(&char) -> bool| word.chars().filter(test).count();
    let mut letters = word.split(|letter: char| !letter.is_ascii_lowercase());
    word.len() >= 32
        && !word.contains(['/', '\\'])
        && count(char::is_ascii_digit) >= 4
        && count(char::is_ascii_lowercase) > 0
        && count(char::is_ascii_uppercase) > 0
        && !word.chars().all(|character| character.is_ascii_hexdigit())
        && letters.all(|run| run.len() < 6)
}

/// Cuts a text to at most `cells`, after a word if that leaves half of it.
pub(super) fn cut(text: &str, cells: usize) -> String {
    if display_width(text) <= cells {
        return text.to_owned();
    }
    let kept = prefix(text, cells.saturating_sub(1));
    let is_whole = text[kept.len()..].starts_with(' ');
    let word = kept
        .rfind(' ')
        .filter(|at| !is_whole && *at * 2 >= kept.len());
    let kept = word.map_or(kept, |at| &kept[..at]);
    let kept = kept.trim_end_matches([' ', ',', ';', ':', '(']);
    format!("{kept}{MORE}")
}

/// Returns the longest start of a text that fits into `cells`, without splitting a character.
pub(super) fn prefix(text: &str, cells: usize) -> &str {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += display_width(grapheme);
        if used > cells {
            return &text[..at];
        }
    }
    text
}

/// Lowers the first letter, unless the first word is an identifier.
pub(super) fn lower_first(text: &str) -> String {
    let first = text.split([' ', ',', ':']).next().unwrap_or_default();
    let mut letters = text.chars();
    match letters.next() {
        Some(letter) if first == "A" || first.chars().count() > 1 && !is_identifier(first) => {
            letter.to_lowercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

/// Capitalises the first letter, unless the first word is an identifier.
pub(super) fn upper_first(text: &str) -> String {
    let first = text.split([' ', ',']).next().unwrap_or_default();
    let mut letters = text.chars();
    match letters.next() {
        Some(letter) if !is_identifier(first) => letter.to_uppercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

/// Whether a word is an identifier: `loginForm`, `README.md`, `x_y`.
fn is_identifier(word: &str) -> bool {
    word.chars().skip(1).any(|letter| {
        letter.is_uppercase() || letter.is_ascii_digit() || "._/\\-@=#$".contains(letter)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cuts_are_after_words() {
        assert_eq!(cut("Ran the whole suite", 19), "Ran the whole suite");
        assert_eq!(cut("Ran the whole suite", 15), "Ran the whole…");
        assert_eq!(cut("Aaaaaaaaaaaaaaaaaaaaa", 6), "Aaaaa…");
        assert_eq!(cut("更新依赖和测试", 7), "更新依…");
    }

    #[test]
    fn names_keep_their_spelling() {
        assert_eq!(lower_first("Searched for x"), "searched for x");
        assert_eq!(lower_first("README.md not found"), "README.md not found");
        assert_eq!(lower_first("LoginForm broke"), "LoginForm broke");
        assert_eq!(upper_first("loginForm broke"), "loginForm broke");
        assert_eq!(upper_first("port it"), "Port it");
    }

    #[test]
    fn secrets_are_masked() {
        let table = [
            ("Wrote to me@example.com", "Wrote to [email]"),
            ("Saw 0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV", "Saw [redacted]"),
            ("Read token.rs and secret.md", "Read token.rs and secret.md"),
            (
                "Ran TestMigrateShadowBranchIfNeeded_NoMigration2024",
                "Ran TestMigrateShadowBranchIfNeeded_NoMigration2024",
            ),
        ];
        for (text, expected) in table {
            assert_eq!(clean(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn cuts_fit(text in "\\PC{0,80}", cells in 1_usize..60) {
            prop_assert!(display_width(&cut(&text, cells)) <= cells);
        }
    }
}
