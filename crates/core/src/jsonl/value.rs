//! Finds the first JSON value of a text without building it.
//!
//! `serde_json` skips values iteratively, so that depth uses no stack. It accepts numbers of any size, repeated
//! keys, lone surrogates, and invalid UTF-8 in strings.

use std::ops::Range;

use memchr::memchr;
use serde::de::IgnoredAny;

/// The start of a text. Positions are byte offsets in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FirstValue {
    /// Only whitespace.
    Missing,
    /// A complete object. Text may follow it.
    Object(Range<usize>),
    /// A complete array, string, number, `true`, `false` or `null`. Text may follow it.
    NotAnObject(Range<usize>),
    /// An incomplete value.
    CutOff,
    /// Not JSON.
    Broken {
        /// The first invalid byte.
        at: usize,
        /// The reason, as a lowercase phrase.
        reason: String,
    },
}

#[cfg(test)]
thread_local! {
    /// The number of bytes that [`first_value`] has parsed on this thread.
    pub(super) static PARSED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Finds the first JSON value in `text`.
#[must_use]
pub fn first_value(text: &[u8]) -> FirstValue {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    let error = match values.next() {
        None => return FirstValue::Missing,
        Some(Ok(_)) => {
            let end = values.byte_offset();
            #[cfg(test)]
            PARSED.set(PARSED.get() + end);
            let start = end - text[..end].trim_ascii_start().len();
            return if text[start] == b'{' {
                FirstValue::Object(start..end)
            } else {
                FirstValue::NotAnObject(start..end)
            };
        }
        Some(Err(error)) => error,
    };
    let message = error.to_string();
    let reason = message.split(" at line ").next().unwrap_or(&message);
    let at = position_of(&error, reason, text);
    #[cfg(test)]
    PARSED.set(PARSED.get() + at);
    if error.is_eof() || reason == "invalid number" && at == text.len() {
        return FirstValue::CutOff;
    }
    FirstValue::Broken {
        at,
        reason: reason.to_owned(),
    }
}

/// Returns the position of the invalid byte, or the end of the text if a byte is missing. Depends on the text of
/// the error, because `serde_json` does not expose the kind of a syntax error.
fn position_of(error: &serde_json::Error, reason: &str, text: &[u8]) -> usize {
    let lines_before = text.split_inclusive(|byte| *byte == b'\n');
    let before: usize = lines_before.take(error.line() - 1).map(<[u8]>::len).sum();
    let reached = (before + error.column()).min(text.len());
    let last = reached.saturating_sub(1);
    if reason.starts_with("control character") {
        // For this error, the column is before the byte; for all others it is after it.
        reached.min(text.len() - 1)
    } else if reason == "invalid escape" {
        find_invalid_escape(text, reached)
    } else if reason == "invalid number" && reached == text.len() && is_open_number(text[last]) {
        reached
    } else {
        last
    }
}

/// Whether a digit must follow this byte of a number.
fn is_open_number(last: u8) -> bool {
    matches!(last, b'-' | b'+' | b'.' | b'e' | b'E')
}

/// Returns the invalid byte of the first invalid escape. The parser reads the four digits of a `\u` at once, so the
/// position that it reports may be after further backslashes.
fn find_invalid_escape(text: &[u8], reached: usize) -> usize {
    let mut at = 0;
    while let Some(skipped) = memchr(b'\\', &text[at..]) {
        let letter = at + skipped + 1;
        at = letter + 1;
        match text.get(letter) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {}
            Some(b'u') => {
                let digits = text[at..].iter().take(4);
                let digit_count = digits.take_while(|byte| byte.is_ascii_hexdigit()).count();
                at += digit_count;
                if digit_count < 4 {
                    return at.min(text.len() - 1);
                }
            }
            _ => return letter.min(text.len() - 1),
        }
    }
    reached.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::test_samples::{interesting_byte, json_text, mutate};
    use super::*;

    #[test]
    fn values_and_errors_are_found() {
        use FirstValue::{CutOff, Missing, NotAnObject, Object};
        let whole = [
            ("", Missing),
            (" \t\r\n", Missing),
            ("{}", Object(0..2)),
            (" { } x", Object(1..4)),
            ("[1,[2,{}],\"\"]", NotAnObject(0..13)),
            ("{\"a\":1}{\"b\":2}", Object(0..7)),
            ("{\"a\" : [ true , false , null ] }", Object(0..32)),
            ("1e999", NotAnObject(0..5)),
            ("\"\\ud83d \\u00e9 \\/\"", NotAnObject(0..18)),
            ("{\"a\":1,\"a\":2}", Object(0..13)),
            ("{", CutOff),
            ("{\"a", CutOff),
            ("{\"a\\", CutOff),
            ("{\"a\\u12", CutOff),
            ("{\"a\":", CutOff),
            ("{\"a\":1", CutOff),
            ("{\"a\":1,", CutOff),
            ("[tru", CutOff),
            ("-", CutOff),
            ("1e", CutOff),
        ];
        for (text, expected) in whole {
            assert_eq!(first_value(text.as_bytes()), expected, "{text:?}");
        }
        let faults = [
            ("}", 0),
            ("\u{feff}{}", 0),
            ("{a", 1),
            ("{]", 1),
            ("{\"a\"}", 4),
            ("{\"a\":}", 5),
            ("{\"a\":1,}", 7),
            ("[1,]", 3),
            ("[1}", 2),
            ("[1 2]", 3),
            ("[01]", 2),
            ("[-a]", 2),
            ("[1.]", 3),
            ("[1e+]", 4),
            ("[trve]", 3),
            ("[\"a\tb\"]", 3),
            ("[\"a\0", 3),
            ("[\"\\x\"]", 3),
            ("[\"\\u12g4\"]", 6),
            ("[\"\\u\"\\\"\\n\"]", 4),
            ("{\"a{\"type\":1}", 5),
            ("{\n\"a\"\n}", 6),
        ];
        for (text, place) in faults {
            let FirstValue::Broken { at, reason } = first_value(text.as_bytes()) else {
                panic!("{text:?} is broken");
            };
            assert_eq!(at, place, "{text:?}: {reason}");
            assert!(!reason.contains("line"), "{reason}");
        }
    }

    #[test]
    fn depth_has_no_limit() {
        let mut text = "[{\"a\":".repeat(1_000_000);
        text.push('1');
        text.push_str(&"}]".repeat(1_000_000));
        let whole = FirstValue::NotAnObject(0..text.len());
        assert_eq!(first_value(text.as_bytes()), whole);
        text.pop();
        assert_eq!(first_value(text.as_bytes()), FirstValue::CutOff);
    }

    proptest! {
        #[test]
        fn the_fault_is_the_first_one(text in mutate(json_text())) {
            if let FirstValue::Broken { at, .. } = first_value(&text) {
                prop_assert!(at < text.len());
                let before = first_value(&text[..at]);
                prop_assert!(!matches!(before, FirstValue::Broken { .. }), "{before:?}");
            }
        }

        #[test]
        fn positions_are_in_the_text(text in prop::collection::vec(interesting_byte(), 0..60)) {
            match first_value(&text) {
                FirstValue::Missing => prop_assert!(text.trim_ascii().is_empty()),
                FirstValue::Object(range) => {
                    let object = &text[range];
                    prop_assert_eq!((object[0], object[object.len() - 1]), (b'{', b'}'));
                }
                FirstValue::NotAnObject(range) => {
                    prop_assert!(!range.is_empty() && text[..range.start].trim_ascii().is_empty());
                    let alone = FirstValue::NotAnObject(0..range.len());
                    prop_assert_eq!(first_value(&text[range]), alone);
                }
                FirstValue::CutOff => prop_assert!(!text.trim_ascii().is_empty()),
                FirstValue::Broken { at, .. } => prop_assert!(at < text.len()),
            }
        }
    }
}
