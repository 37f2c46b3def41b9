//! The first JSON value of a text, found without building it.
//!
//! `serde_json` skips a value iteratively, so depth costs no stack. It accepts numbers of any size,
//! repeated keys, lone surrogates, and bytes in strings that are not UTF-8.

use std::ops::Range;

use memchr::memchr;
use serde::de::IgnoredAny;

/// What a text starts with. Positions are bytes from the start of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FirstValue {
    /// Nothing: there is only whitespace.
    Missing,
    /// A whole object; text may follow it.
    Object(Range<usize>),
    /// A whole array, string, number, `true`, `false` or `null`; text may follow it.
    NotAnObject(Range<usize>),
    /// A value without its end.
    CutOff,
    /// Something that is not JSON.
    Broken {
        /// The first byte that cannot stand where it does.
        at: usize,
        /// What is wrong, as a lowercase phrase.
        reason: String,
    },
}

/// Finds the first JSON value in `text`.
#[must_use]
pub fn first_value(text: &[u8]) -> FirstValue {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    let error = match values.next() {
        None => return FirstValue::Missing,
        Some(Ok(_)) => {
            let end = values.byte_offset();
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
    let at = place_of(&error, reason, text);
    if error.is_eof() || reason == "invalid number" && at == text.len() {
        return FirstValue::CutOff;
    }
    FirstValue::Broken {
        at,
        reason: reason.to_owned(),
    }
}

/// Where the byte stands that an error is about; the end of the text if that is missing.
fn place_of(error: &serde_json::Error, reason: &str, text: &[u8]) -> usize {
    let lines_before = text.split_inclusive(|byte| *byte == b'\n');
    let before: usize = lines_before.take(error.line() - 1).map(<[u8]>::len).sum();
    let reached = (before + error.column()).min(text.len());
    let last = reached.saturating_sub(1);
    if reason.starts_with("control character") {
        // The parser stops before this byte, but behind all others.
        reached.min(text.len() - 1)
    } else if reason == "invalid escape" {
        bad_escape(text, reached)
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

/// The wrong byte of the first bad escape. The parser takes the four digits of a `\u` at once, so
/// the place that it reports may lie behind further backslashes.
fn bad_escape(text: &[u8], reached: usize) -> usize {
    let mut at = 0;
    while let Some(skipped) = memchr(b'\\', &text[at..]) {
        let letter = at + skipped + 1;
        at = letter + 1;
        match text.get(letter) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {}
            Some(b'u') => {
                let digits = text[at..].iter().take(4);
                let good = digits.take_while(|byte| byte.is_ascii_hexdigit()).count();
                at += good;
                if good < 4 {
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

    use super::super::samples::{json_text, mutated};
    use super::*;

    #[test]
    fn values_and_faults() {
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
        fn the_fault_is_the_first_one(text in mutated(json_text())) {
            if let FirstValue::Broken { at, .. } = first_value(&text) {
                prop_assert!(at < text.len());
                let before = first_value(&text[..at]);
                prop_assert!(!matches!(before, FirstValue::Broken { .. }), "{before:?}");
            }
        }

        #[test]
        fn any_bytes_have_an_answer(text in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = first_value(&text);
        }
    }
}
