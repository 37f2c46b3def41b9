//! Keeps secrets out of labels, titles and recaps, and takes off what terminals would execute.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::terminal_safe_line;

/// Stands for a secret.
const REDACTED: &str = "[redacted]";

/// Secrets by their look. Where a name comes before the value (group `name`) it stays.
const SECRETS: &[&str] = &[
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*",
    r"\b(?:sk|pk|rk)[-_](?:live_|test_|proj-|ant-|or-)?[A-Za-z0-9_-]{8,}",
    r"\bgh[pousr]_[A-Za-z0-9]{16,}",
    r"\bgithub_pat_[A-Za-z0-9_]{16,}",
    r"\bglpat-[A-Za-z0-9_-]{12,}",
    r"\bxox[a-z]-[A-Za-z0-9-]{8,}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}",
    r"\bAIza[A-Za-z0-9_-]{16,}",
    r"\b(?:npm|hf|pypi)[_-][A-Za-z0-9_-]{16,}",
    r"\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)?",
    r"(?i)(?P<name>\b(?:bearer|basic) )[A-Za-z0-9._~+/=-]{8,}",
    r#"(?i)(?P<name>\b[a-z_-]*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|credentials?)["']?\s*[=:]\s*["']?)[^\s"',;]{3,}"#,
    r"(?i)(?P<name>--(?:token|password|secret|api-key)[ =])\S+",
    r"(?P<name>\b[a-z][a-z0-9+.-]*://)[^\s/@]+@",
];

static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    SECRETS
        .iter()
        .filter_map(|pattern| Regex::new(pattern).ok())
        .collect()
});

static EMAIL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b").ok()
});

/// A word of this length may be a key.
const KEY_LENGTH: usize = 32;

/// A key has this many digits.
const KEY_DIGITS: usize = 4;

/// One line without control sequences, secrets and addresses of mail.
pub(super) fn redacted(text: &str) -> String {
    let mut safe = terminal_safe_line(text);
    // Most texts have no character that any secret has.
    if safe.len() >= 8 && safe.contains(['-', '_', '=', ':', '@', ' ', 'A', 'e']) {
        for pattern in PATTERNS.iter() {
            if pattern.is_match(&safe) {
                safe = pattern
                    .replace_all(&safe, format!("${{name}}{REDACTED}"))
                    .into_owned();
            }
        }
        if let Some(email) = EMAIL.as_ref()
            && safe.contains('@')
        {
            safe = email.replace_all(&safe, "[email]").into_owned();
        }
    }
    if safe.split(' ').any(looks_like_a_key) {
        let words = safe.split(' ').map(|word| {
            if looks_like_a_key(word) {
                REDACTED
            } else {
                word
            }
        });
        return words.collect::<Vec<_>>().join(" ");
    }
    safe
}

fn looks_like_a_key(word: &str) -> bool {
    let count = |test: fn(&char) -> bool| word.chars().filter(test).count();
    word.len() >= KEY_LENGTH
        && !word.contains(['/', '\\'])
        && count(char::is_ascii_digit) >= KEY_DIGITS
        && count(char::is_ascii_lowercase) > 0
        && count(char::is_ascii_uppercase) > 0
        && !word.chars().all(|character| character.is_ascii_hexdigit())
        && longest_run_of_small_letters(word) < 6
}

/// Identifiers have words in them, keys have none.
fn longest_run_of_small_letters(word: &str) -> usize {
    word.split(|character: char| !character.is_ascii_lowercase())
        .map(str::len)
        .max()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_one() {
        assert_eq!(PATTERNS.len(), SECRETS.len());
        assert!(EMAIL.is_some());
    }

    #[test]
    fn secrets_are_not_told() {
        let table = [
            (
                "Ran curl -H sk-ant-abcdefgh12345678",
                "Ran curl -H [redacted]",
            ),
            (
                "Fetched https://me:pw@host/x",
                "Fetched https://[redacted]host/x",
            ),
            ("Set API_KEY=abcdef", "Set API_KEY=[redacted]"),
            ("Used Bearer abcdefghijkl", "Used Bearer [redacted]"),
            ("Wrote to me@example.com", "Wrote to [email]"),
            ("Pushed AKIAABCDEFGHIJKLMNOP", "Pushed [redacted]"),
            ("Read token.rs and secret.md", "Read token.rs and secret.md"),
            ("Saw 0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV", "Saw [redacted]"),
            (
                "Ran TestMigrateShadowBranchIfNeeded_NoMigration2024",
                "Ran TestMigrateShadowBranchIfNeeded_NoMigration2024",
            ),
        ];
        for (text, expected) in table {
            assert_eq!(redacted(text), expected, "{text}");
        }
    }
}
