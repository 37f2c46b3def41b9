//! Masking secrets in everything that is shown or kept.

use std::fmt::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::Secret;
use crate::text::{MASK, redact, terminal_safe_line};

/// Shorter texts are not masked: removing every `a` would only destroy an answer.
const SHORTEST: usize = 6;

/// The secrets of a request, in the spellings in which a server may send them back.
#[derive(Debug, Clone, Default)]
pub struct Redaction {
    spellings: Vec<Secret>,
}

impl Redaction {
    /// Masks these.
    pub fn of<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let mut spellings: Vec<String> = Vec::new();
        for secret in secrets {
            // In `Bearer KEY` the key alone is secret too.
            let text = secret.expose();
            for part in std::iter::once(text).chain(text.split_ascii_whitespace()) {
                if part.len() < SHORTEST || spellings.iter().any(|known| known == part) {
                    continue;
                }
                let quoted = serde_json::Value::from(part).to_string();
                let escaped = &quoted[1..quoted.len() - 1];
                // The last characters in base64 depend on what follows the secret.
                let mut base64 = STANDARD_NO_PAD.encode(part);
                base64.truncate(part.len() / 3 * 4);
                spellings.extend([
                    part.to_owned(),
                    escaped.to_owned(),
                    escaped.replace('/', "\\/"),
                    encoded(part, "%", |byte| {
                        byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
                    }),
                    encoded(part, "%", |_| false),
                    encoded(part, "", |_| false).to_lowercase(),
                    base64,
                ]);
            }
        }
        spellings.sort_unstable();
        spellings.dedup();
        // The longest first, so that nothing is left of a secret that contains another.
        spellings.sort_by_key(|spelling| std::cmp::Reverse(spelling.len()));
        Self {
            spellings: spellings.into_iter().map(Secret::new).collect(),
        }
    }

    /// `text` without the secrets.
    pub fn clean(&self, text: &str) -> String {
        let mut cleaned = text.to_owned();
        for spelling in &self.spellings {
            if cleaned.contains(spelling.expose()) {
                cleaned = cleaned.replace(spelling.expose(), MASK);
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

    /// `text` as one line of at most `limit` bytes, for messages: safe for terminals, without the
    /// secrets and without anything else that looks like one.
    pub fn clean_line(&self, text: &str, limit: usize) -> String {
        // Cleaned first: a secret may be split by characters that are not shown.
        let safe = terminal_safe_line(text);
        let mut line = redact(&self.clean(&safe)).into_owned();
        if line.len() > limit {
            line.truncate(line.floor_char_boundary(limit));
            line.push('…');
        }
        line
    }
}

/// Bytes in hexadecimal after `prefix`, but for those that stay as they are.
fn encoded(text: &str, prefix: &str, stays: impl Fn(u8) -> bool) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if stays(byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(encoded, "{prefix}{byte:02X}");
        }
    }
    encoded
}

/// Holds back text that may become a secret, and nothing else.
#[derive(Debug, Clone)]
pub struct StreamRedaction {
    redaction: Redaction,
    held: String,
}

impl StreamRedaction {
    /// For one text.
    pub fn new(redaction: Redaction) -> Self {
        Self {
            redaction,
            held: String::new(),
        }
    }

    /// Adds text; returns what can be shown by now.
    pub fn push(&mut self, part: &str) -> String {
        self.held.push_str(part);
        let mut shown = self.redaction.clean(&self.held);
        let held = self.redaction.beginning_at_end(&shown);
        self.held = shown.split_off(shown.len() - held);
        shown
    }

    /// What was held back, at the end of the text.
    pub fn rest(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            "sk-\u{200b}can\u{1b}[0mary/1\"2",
            "736b2d63616e6172792f312232",
            "c2stY2FuYXJ5LzEiMg==",
            "%73%6B%2D%63%61%6E%61%72%79%2F%31%22%32",
        ];
        for text in shown {
            let cleaned = redaction.clean_line(text, 200);
            assert!(cleaned.contains(MASK), "{cleaned}");
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

    fn redaction() -> Redaction {
        Redaction::of(&[Secret::new("sk-canary/ä"), Secret::new("canary-2")])
    }

    fn shown<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
        let mut stream = StreamRedaction::new(redaction());
        let mut shown: String = parts.into_iter().map(|part| stream.push(part)).collect();
        shown.push_str(&stream.rest());
        shown
    }

    #[test]
    fn a_secret_is_found_wherever_it_is_split() {
        let text = "The key sk-canary/ä is sk-can not canary-2.";
        let expected = "The key [redacted] is sk-can not [redacted].";
        for (split, _) in text.char_indices() {
            assert_eq!(shown([&text[..split], &text[split..]]), expected, "{split}");
        }
    }

    #[test]
    fn what_cannot_become_a_secret_is_shown_at_once() {
        let mut stream = StreamRedaction::new(redaction());
        assert_eq!(stream.push("Fix sk"), "Fix ");
        assert_eq!(stream.push("i"), "ski");
        assert_eq!(stream.push("c"), "");
        assert_eq!(stream.rest(), "c");
    }

    proptest! {
        #[test]
        fn no_secret_is_ever_shown(
            parts in prop::collection::vec(
                prop::sample::select(vec!["sk-", "canary", "/", "ä", "-2", "s", "c", "\\/", "%2F", " "]),
                0..30,
            ),
        ) {
            let text = shown(parts.iter().copied());
            prop_assert!(!text.contains("sk-canary/ä") && !text.contains("canary-2"), "{}", text);
        }
    }
}
