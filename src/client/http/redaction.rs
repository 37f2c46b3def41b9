//! Masks the secrets of a request in all output.

use std::fmt;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use memchr::memmem;
use serde_json::Value;

use crate::text::{
    MASK, append, redact, redact_members, redact_parts, redact_strings, terminal_safe,
    terminal_safe_line,
};

/// Minimum length of a masked text, in bytes. Masking shorter ones would make responses unreadable.
const MIN_SECRET_BYTES: usize = 6;

/// Minimum length of a masked piece of base64, in bytes. Shorter ones occur by chance.
const MIN_BASE64_BYTES: usize = 8;

/// A key, token or password. It has no `Display`, and `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text, for sending only.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[redacted]")
    }
}

/// The secrets of a request, in all encodings that a server may return.
#[derive(Debug, Clone, Default)]
pub struct Redaction {
    secrets: Vec<Secret>,
    spellings: Vec<Secret>,
}

impl Redaction {
    /// Creates a redaction of `secrets`.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let mut parts: Vec<&str> = Vec::new();
        let mut spellings: Vec<String> = Vec::new();
        for secret in secrets {
            // In `Bearer KEY`, the key alone is also secret, but not the other word.
            let text = secret.expose();
            let is_word = |part: &&str| part.bytes().all(|byte| byte.is_ascii_alphabetic());
            let words = text.split_ascii_whitespace().filter(|part| !is_word(part));
            for part in std::iter::once(text).chain(words) {
                if part.len() < MIN_SECRET_BYTES || parts.contains(&part) {
                    continue;
                }
                parts.push(part);
                let quoted = serde_json::Value::from(part).to_string();
                let escaped = &quoted[1..quoted.len() - 1];
                spellings.extend(base64_spellings(part));
                spellings.extend([
                    part.to_owned(),
                    escaped.to_owned(),
                    escaped.replace('/', "\\/"),
                    encode_hex(part, "%", |byte| {
                        byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
                    }),
                    encode_hex(part, "%", |_| false),
                    encode_hex(part, "", |_| false).to_lowercase(),
                    encode_hex(part, "", |_| false),
                ]);
            }
        }
        spellings.sort_unstable();
        spellings.dedup();
        // The longest first, for secrets that contain others.
        spellings.sort_by_key(|text_or_json| std::cmp::Reverse(text_or_json.len()));
        Self {
            secrets: parts.into_iter().map(Secret::new).collect(),
            spellings: spellings.into_iter().map(Secret::new).collect(),
        }
    }

    /// Masks the secrets in `text`, including any that appear only in its terminal-safe form.
    pub fn clean(&self, text: &str) -> String {
        if self.secrets.is_empty() {
            return text.to_owned();
        }
        let mut cleaned = text.to_owned();
        for text_or_json in &self.spellings {
            if cleaned.contains(text_or_json.expose()) {
                cleaned = cleaned.replace(text_or_json.expose(), MASK);
            }
        }
        if let Some(masked) = self.mask_mixed(&cleaned) {
            cleaned = masked;
        }
        self.mask_mixed(&terminal_safe(&cleaned)).unwrap_or(cleaned)
    }

    /// Masks the secrets in `text` and anything else that looks like a secret. Lines of JSON, also after `data: `, stay
    /// valid JSON.
    pub fn clean_record(&self, text: &str) -> String {
        let cleaned = self.clean(text);
        // Null for text that is not JSON.
        let parse = |json: &str| serde_json::from_str::<Value>(json).unwrap_or_default();
        let is_json = |json: &&mut String| json.starts_with(['{', '[']) && !parse(json).is_null();
        let split = cleaned.split('\n').map(|line| {
            let json = line.strip_prefix("data: ").unwrap_or(line);
            (&line[..line.len() - json.len()], json.to_owned())
        });
        let mut lines: Vec<(&str, String)> = split.collect();
        let texts = lines.iter_mut().map(|(_, line)| line);
        let (events, mut texts): (Vec<_>, Vec<_>) = texts.partition(is_json);
        redact_parts(&mut texts, &["\n"]);
        let parsed: Vec<Value> = events.iter().map(|event| parse(event)).collect();
        let mut masked = Value::Array(parsed.clone());
        redact_strings(&mut masked);
        // A secret may be split over events.
        redact_members(&mut masked, &[""]);
        for (index, event) in events.into_iter().enumerate() {
            if masked[index] != parsed[index] {
                *event = masked[index].to_string();
            }
        }
        let joined = lines.iter().map(|(start, line)| format!("{start}{line}"));
        joined.collect::<Vec<_>>().join("\n")
    }

    /// Masks secrets that are partly escaped or split by hidden characters. Returns `None` if there are none.
    fn mask_mixed(&self, text: &str) -> Option<String> {
        let (bytes, ranges) = unescape(text);
        let mut found: Vec<Range<usize>> = Vec::new();
        for secret in &self.secrets {
            let secret = secret.expose().as_bytes();
            found.extend(memmem::find_iter(&bytes, secret).filter_map(|at| {
                let last = ranges.get(at + secret.len() - 1)?;
                Some(ranges.get(at)?.start..last.end)
            }));
        }
        found.sort_by_key(|range| range.start);
        let mut masked = String::new();
        let mut end = 0;
        for range in &found {
            if range.start >= end {
                masked.push_str(text.get(end..range.start)?);
                masked.push_str(MASK);
            }
            end = end.max(range.end);
        }
        masked.push_str(text.get(end..)?);
        (!found.is_empty()).then_some(masked)
    }

    /// Returns the length of the suffix of `text` that may be the start of a secret, in bytes.
    pub(super) fn partial_secret_length(&self, text: &str) -> usize {
        let longest = |text_or_json: &Secret| {
            let text_or_json = text_or_json.expose();
            let max_length = text.len().min(text_or_json.len() - 1);
            let is_start = |length: &usize| {
                text.as_bytes()
                    .ends_with(&text_or_json.as_bytes()[..*length])
            };
            (1..=max_length).rev().find(is_start).unwrap_or(0)
        };
        self.spellings.iter().map(longest).max().unwrap_or(0)
    }

    /// Returns `text` as one terminal-safe line of at most `limit` bytes, without the secrets and anything else
    /// that looks like a secret.
    pub fn clean_line(&self, text: &str, limit: usize) -> String {
        // First, because hidden characters may split a secret.
        let safe = terminal_safe_line(text);
        let mut line = redact(&self.clean(&safe)).into_owned();
        if line.len() > limit {
            line.truncate(line.floor_char_boundary(limit));
            line.push('…');
        }
        line
    }
}

/// Returns the base64 that encodes the text at any alignment, in both alphabets.
fn base64_spellings(text: &str) -> Vec<String> {
    let mut spellings = Vec::new();
    for padding in 0..3 {
        let padded = [&vec![0; padding], text.as_bytes()].concat();
        let encoded = STANDARD_NO_PAD.encode(&padded);
        // A character encodes six bits.
        let piece = &encoded[(padding * 8).div_ceil(6)..padded.len() * 8 / 6];
        if piece.len() >= MIN_BASE64_BYTES {
            spellings.push(piece.replace('+', "-").replace('/', "_"));
            spellings.push(piece.to_owned());
        }
    }
    spellings
}

/// Returns the bytes of a text without hidden characters, with their ranges in it. `%2F`, `\/` and `\u002f` are
/// one byte.
fn unescape(text: &str) -> (Vec<u8>, Vec<Range<usize>>) {
    let (mut visible, mut ranges) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at + first.len_utf8()..];
        let code = |start: usize, digits: usize| {
            let digits = rest.get(start..start + digits)?;
            let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hex.then(|| u32::from_str_radix(digits, 16).ok())?
        };
        let escape = match first {
            '%' => code(0, 2).map(|byte| (byte, 3)),
            '\\' if rest.starts_with('u') => code(1, 4).map(|unit| (unit, 6)),
            '\\' => {
                let next = rest.chars().next().filter(|next| "\"\\/".contains(*next));
                next.map(|next| (u32::from(next), 2))
            }
            _ => None,
        };
        let (character, length) = match escape {
            Some((code, length)) => (char::from_u32(code), length),
            None => (Some(first), first.len_utf8()),
        };
        let mut bytes = [0; 4];
        let bytes = match character {
            // A byte of a multi-byte character.
            Some(character) if first == '%' && escape.is_some() => {
                // `%XX` is at most 0xff.
                bytes[0] = u8::try_from(u32::from(character)).unwrap_or_default();
                &bytes[..1]
            }
            Some(character) => {
                let shown = &*character.encode_utf8(&mut bytes);
                let is_hidden = !shown.bytes().all(|byte| byte.is_ascii_graphic())
                    && terminal_safe(shown).is_empty();
                if is_hidden { &[] } else { shown.as_bytes() }
            }
            None => &[],
        };
        visible.extend_from_slice(bytes);
        ranges.extend(bytes.iter().map(|_| at..at + length));
        at += length;
    }
    (visible, ranges)
}

/// Encodes bytes as two hexadecimal digits after `prefix`, except bytes for which `is_kept` is true.
fn encode_hex(text: &str, prefix: &str, is_kept: impl Fn(u8) -> bool) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if is_kept(byte) {
            encoded.push(char::from(byte));
        } else {
            append!(encoded, "{prefix}{byte:02X}");
        }
    }
    encoded
}

/// Redaction of a stream: delays only text that may become a secret.
#[derive(Debug, Clone)]
pub struct StreamRedaction {
    redaction: Redaction,
    delayed: String,
}

impl StreamRedaction {
    /// Creates the redaction of one stream.
    pub fn new(redaction: Redaction) -> Self {
        Self {
            redaction,
            delayed: String::new(),
        }
    }

    /// Adds text. Returns the text that can be displayed.
    pub fn push(&mut self, part: &str) -> String {
        self.delayed.push_str(part);
        let mut shown = self.redaction.clean(&self.delayed);
        let delayed = self.redaction.partial_secret_length(&shown);
        self.delayed = shown.split_off(shown.len() - delayed);
        shown
    }

    /// Returns the delayed text at the end of the stream.
    pub fn take_delayed(&mut self) -> String {
        std::mem::take(&mut self.delayed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_spellings_of_a_secret_are_masked() {
        let redaction = Redaction::new(&[
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
            "736B2D63616E6172792F312232",
            // After one and two other bytes.
            "eHNrLWNhbmFyeS8xIjI=",
            "eHhzay1jYW5hcnkvMSIy",
            "sk-c%61nar\\u0079/1\\\"%32",
            "sk-\\u200bcan\u{200d}ary%2f1\"2",
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
        for text in [shown[4], shown[12]] {
            let cleaned = crate::text::terminal_safe(&redaction.clean(text));
            assert!(!cleaned.contains("canary"), "{cleaned}");
        }
        assert_eq!(redaction.clean("about ab"), "about ab");
        assert_eq!(redaction.clean("Bearer abc"), "Bearer abc");
        assert!(!format!("{redaction:?}").contains("canary"));
    }

    /// Recorded requests and responses stay valid JSON, also if a secret is split over events.
    #[test]
    fn secrets_in_records_are_masked() {
        let redaction = Redaction::default();
        let line = "MIIEowIBAAKCAQEA12b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ";
        let secrets = [
            "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8".to_owned(),
            format!(
                "-----BEGIN RSA PRIVATE KEY-----\n{line}\n{line}\n-----END RSA PRIVATE KEY-----"
            ),
            format!("{{\"k\":\"-----BEGIN RSA PRIVATE KEY-----\\n{line}\\n{line}\"}}"),
            "mysql -pa1B2c3D4e5F6g7H8i9J0k1L2m3N4 db".to_owned(),
        ];
        for secret in secrets {
            for size in [1, 2, 3, 7, 20, 1000] {
                let parts: Vec<char> = format!("The key is {secret}, I think.").chars().collect();
                let events = parts.chunks(size).map(|part| {
                    let text: String = part.iter().collect();
                    let event = serde_json::json!({"id": "c1", "choices": [{"index": 0, "delta": {"content": text}}]});
                    format!("data: {event}\n\n")
                });
                let events: String = events.collect();
                let cleaned = redaction.clean_record(&format!("{events}data: [DONE]\n"));
                let mut content = String::new();
                for event in cleaned
                    .lines()
                    .filter_map(|line| line.strip_prefix("data: {"))
                {
                    let event: Value = serde_json::from_str(&format!("{{{event}")).unwrap();
                    assert_eq!(event["id"], "c1");
                    content.push_str(event["choices"][0]["delta"]["content"].as_str().unwrap());
                }
                assert!(
                    content.starts_with("The key is ") && content.contains(MASK),
                    "{size} {content}"
                );
                assert!(
                    !content.contains("a1B2") && !content.contains(&line[..8]),
                    "{size} {content}"
                );
                assert_eq!(cleaned.lines().count(), events.lines().count() + 1);
            }
        }
        for text in [
            "data: {\"a\": 1}\ndata: {\"a\": \"x\"}\n",
            "plain\ntext",
            "{\"a\":  [\"b\"]}",
        ] {
            assert_eq!(redaction.clean_record(text), text);
        }
    }

    #[test]
    fn a_line_is_short_and_has_no_line_breaks() {
        let redaction = Redaction::default();
        assert_eq!(redaction.clean_line("a\r\n  b\tc", 80), "a b c");
        assert_eq!(redaction.clean_line("äöü", 3), "ä…");
    }

    fn redaction() -> Redaction {
        Redaction::new(&[Secret::new("sk-canary/ä"), Secret::new("canary-2")])
    }

    fn push_all<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
        let mut stream = StreamRedaction::new(redaction());
        let mut shown: String = parts.into_iter().map(|part| stream.push(part)).collect();
        shown.push_str(&stream.take_delayed());
        shown
    }

    #[test]
    fn a_secret_is_found_wherever_it_is_split() {
        let text = "The key sk-canary/ä is sk-can not canary-2.";
        let expected = "The key [redacted] is sk-can not [redacted].";
        for (split, _) in text.char_indices() {
            assert_eq!(
                push_all([&text[..split], &text[split..]]),
                expected,
                "{split}"
            );
        }
    }

    #[test]
    fn text_that_cannot_become_a_secret_is_shown_at_once() {
        let mut stream = StreamRedaction::new(redaction());
        assert_eq!(stream.push("Fix sk"), "Fix ");
        assert_eq!(stream.push("i"), "ski");
        assert_eq!(stream.push("c"), "");
        assert_eq!(stream.take_delayed(), "c");
    }

    proptest! {
        #[test]
        fn no_secret_is_ever_shown(
            parts in prop::collection::vec(
                prop::sample::select(vec!["sk-", "canary", "/", "ä", "-2", "s", "c", "\\/", "%2F", " "]),
                0..30,
            ),
        ) {
            let text = push_all(parts.iter().copied());
            prop_assert!(!text.contains("sk-canary/ä") && !text.contains("canary-2"), "{}", text);
        }
    }
}
