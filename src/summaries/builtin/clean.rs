//! The last steps before a text is shown: masks secrets, removes control sequences, adapts the case.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::text::{MASK, is_random, pattern, redact, terminal_safe_line};

static EMAIL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?-u:\b)[A-Za-z0-9_.%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b")
});

/// Returns one line without control sequences, secrets, mail addresses and code marks.
pub(super) fn clean(text: &str) -> String {
    let safe = terminal_safe_line(&text.replace('`', ""));
    let mut safe = redact(&safe).into_owned();
    if safe.contains('@') {
        let mask = |found: &Captures<'_>| match &found[0] {
            // The same user for all repositories of a host.
            host if host.starts_with("git@") => host.to_owned(),
            _ => "[email]".to_owned(),
        };
        safe = EMAIL.replace_all(&safe, mask).into_owned();
    }
    let is_hex = |word: &str| word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_key = |word: &str| word.len() >= 32 && is_random(word) && !is_hex(word);
    let masked = safe
        .split(' ')
        .map(|word| if is_key(word) { MASK } else { word });
    masked.collect::<Vec<_>>().join(" ")
}

/// Lowers the first letter, unless the first word is an identifier.
pub(super) fn lower_first(text: &str) -> String {
    change_first(text, char::to_lowercase)
}

/// Capitalises the first letter, unless the first word is an identifier.
pub(super) fn upper_first(text: &str) -> String {
    change_first(text, char::to_uppercase)
}

fn change_first<Letters: Iterator<Item = char>>(text: &str, change: fn(char) -> Letters) -> String {
    let mut letters = text.chars();
    match letters.next().filter(|_| {
        let word = text.split([' ', ',']).next();
        !word.is_some_and(|word| is_identifier(word.trim_end_matches(':')))
    }) {
        Some(first) => change(first).chain(letters).collect(),
        None => text.to_owned(),
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
    use super::*;

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
}
