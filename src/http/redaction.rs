//! Taking secrets out of whatever is shown or kept.

use std::fmt::Write;

use super::Secret;

/// What stands in the place of a secret.
const PLACEHOLDER: &str = "[redacted]";

/// Shorter texts are no secrets: taking every `a` out of an answer would only destroy it.
const SHORTEST: usize = 6;

/// The secrets of a request, in every spelling in which a server may send them back.
#[derive(Debug, Clone, Default)]
pub struct Redaction {
    spellings: Vec<Secret>,
}

impl Redaction {
    /// Nothing is shown of these.
    pub fn of<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let mut spellings: Vec<String> = Vec::new();
        for secret in secrets {
            // `Bearer KEY`: the key is secret without the word before it.
            let text = secret.expose();
            for part in std::iter::once(text).chain(text.split_ascii_whitespace()) {
                if part.len() < SHORTEST || spellings.iter().any(|known| known == part) {
                    continue;
                }
                spellings.push(part.to_owned());
                let quoted = serde_json::Value::from(part).to_string();
                let escaped = &quoted[1..quoted.len() - 1];
                if escaped != part {
                    spellings.push(escaped.to_owned());
                }
                // Whoever escapes the slash is within their rights.
                let slashes = escaped.replace('/', "\\/");
                if slashes != escaped {
                    spellings.push(slashes);
                }
                let encoded = percent_encoded(part);
                if encoded != part {
                    spellings.push(encoded);
                }
            }
        }
        // The longest first, so that no rest of one stays when another is a part of it.
        spellings.sort_by_key(|spelling| std::cmp::Reverse(spelling.len()));
        spellings.dedup();
        Self {
            spellings: spellings.into_iter().map(Secret::new).collect(),
        }
    }

    /// `text` without the secrets.
    pub fn clean(&self, text: &str) -> String {
        let mut cleaned = text.to_owned();
        for spelling in &self.spellings {
            if cleaned.contains(spelling.expose()) {
                cleaned = cleaned.replace(spelling.expose(), PLACEHOLDER);
            }
        }
        cleaned
    }

    /// How many bytes at the end of `text` may be the beginning of a secret.
    pub(super) fn beginning_at_end(&self, text: &str) -> usize {
        let longest = |spelling: &Secret| {
            let spelling = spelling.expose();
            let most = text.len().min(spelling.len() - 1);
            let begins =
                |length: &usize| text.as_bytes().ends_with(&spelling.as_bytes()[..*length]);
            (1..=most).rev().find(begins).unwrap_or(0)
        };
        self.spellings.iter().map(longest).max().unwrap_or(0)
    }

    /// `text` as one line without the secrets, of at most `limit` bytes.
    pub fn clean_line(&self, text: &str, limit: usize) -> String {
        let mut line = self
            .clean(text)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        if line.len() > limit {
            line.truncate(line.floor_char_boundary(limit));
            line.push('…');
        }
        line
    }
}

fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_spelling_of_a_secret_stays() {
        let redaction = Redaction::of(&[
            Secret::new("Bearer sk-canary/1\"2"),
            Secret::new("sk-canary"),
            Secret::new("ab"),
        ]);
        let shown = [
            "bad key sk-canary/1\"2!",
            r#"{"echo":"Bearer sk-canary/1\"2"}"#,
            r#"{"echo":"sk-canary\/1\"2"}"#,
            "?key=sk-canary%2F1%222&x=ab",
        ];
        for text in shown {
            let cleaned = redaction.clean(text);
            assert!(!cleaned.contains("canary"), "{cleaned}");
            assert!(
                !cleaned.contains("1%222") && !cleaned.contains("1\\\"2"),
                "{cleaned}"
            );
        }
        assert_eq!(redaction.clean("about ab"), "about ab");
        assert!(!format!("{redaction:?}").contains("canary"));
    }

    #[test]
    fn a_line_is_short_and_one_line() {
        let redaction = Redaction::default();
        assert_eq!(redaction.clean_line("a\r\n  b\tc", 80), "a b c");
        assert_eq!(redaction.clean_line("äöü", 3), "ä…");
    }
}
