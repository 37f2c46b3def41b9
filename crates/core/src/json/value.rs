//! JSON strings and values that stay raw until they are needed.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The bytes of a JSON string; a lone surrogate is three bytes, which are not UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wtf8<'a>(pub Cow<'a, [u8]>);

impl<'de> Deserialize<'de> for Wtf8<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl<'de> Visitor<'de> for Bytes {
            type Value = Wtf8<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string")
            }

            fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
                Ok(Wtf8(Cow::Borrowed(bytes)))
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(Wtf8(Cow::Owned(bytes.to_vec())))
            }
        }

        deserializer.deserialize_bytes(Bytes)
    }
}

/// Returns the string in `raw`, unescaped, as bytes; `None` if it is absent or of another type.
pub fn bytes(raw: Option<&RawValue>) -> Option<Cow<'_, [u8]>> {
    let json = raw?.get();
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner.as_bytes()));
    }
    serde_json::from_str::<Wtf8<'_>>(json)
        .ok()
        .map(|string| string.0)
}

/// Returns the string in `raw`, unescaped; a lone surrogate becomes U+FFFD. `None` if it is absent or
/// of another type.
pub fn text(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    unescape(raw?.get())
}

/// Unescapes a JSON string literal, like [`text`]; `None` if `json` is not one.
pub fn unescape(json: &str) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    // The fast path: few strings have a lone surrogate.
    if let Ok(unescaped) = serde_json::from_str(json) {
        return Some(Cow::Owned(unescaped));
    }
    let Wtf8(bytes) = serde_json::from_str(json).ok()?;
    Some(Cow::Owned(from_wtf8(bytes.into_owned())))
}

/// Like [`text`]; `None` if it is empty.
pub fn non_empty(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    text(raw).filter(|text| !text.is_empty())
}

/// Like [`non_empty`], owned.
pub fn string(raw: Option<&RawValue>) -> Option<String> {
    non_empty(raw).map(Cow::into_owned)
}

/// Returns the value unless it is `null`.
pub fn non_null(raw: Option<&RawValue>) -> Option<&RawValue> {
    raw.filter(|raw| raw.get() != "null")
}

/// Whether the value is the string `expected`.
pub fn has_text(raw: Option<&RawValue>, expected: &str) -> bool {
    text(raw).is_some_and(|text| text == expected)
}

/// Whether the value is `true`.
pub fn is_true(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| raw.get() == "true")
}

/// Returns a count or index.
pub fn number(raw: Option<&RawValue>) -> Option<u64> {
    raw?.get().parse().ok()
}

/// Whether the value is an object.
pub fn is_object(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| raw.get().starts_with('{'))
}

/// Whether the value is an array.
pub fn is_array(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| raw.get().starts_with('['))
}

/// Returns the elements of an array; empty if the value is absent or not an array.
pub fn elements(raw: Option<&RawValue>) -> Vec<&RawValue> {
    let elements = raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
    elements.unwrap_or_default()
}

/// Returns a string unchanged, other values as compact JSON.
pub fn text_or_json(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Converts bytes that may contain surrogates: a pair becomes its character (a stream may split a pair
/// between two deltas), and a lone surrogate U+FFFD.
pub fn from_wtf8(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let bytes = error.as_bytes();
        let mut repaired = Vec::with_capacity(bytes.len());
        let mut rest = bytes;
        while let Some((&first, tail)) = rest.split_first() {
            if let Some(character) = surrogate_pair(rest) {
                repaired.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[6..];
            } else if surrogate(rest).is_some() {
                repaired.extend_from_slice("\u{FFFD}".as_bytes());
                rest = &rest[3..];
            } else {
                repaired.push(first);
                rest = tail;
            }
        }
        String::from_utf8_lossy(&repaired).into_owned()
    })
}

/// Returns the surrogate at the start of `bytes`.
fn surrogate(bytes: &[u8]) -> Option<u32> {
    match *bytes {
        [0xED, second @ 0xA0..=0xBF, third @ 0x80..=0xBF, ..] => {
            Some(0xD000 | u32::from(second & 0x3F) << 6 | u32::from(third & 0x3F))
        }
        _ => None,
    }
}

fn surrogate_pair(bytes: &[u8]) -> Option<char> {
    let high = surrogate(bytes).filter(|unit| *unit < 0xDC00)?;
    let low = surrogate(bytes.get(3..)?).filter(|unit| *unit >= 0xDC00)?;
    char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_unescaped_and_never_refused() {
        let rows = [
            (r#""plain""#, Some("plain")),
            (r#""a\u0062\n""#, Some("ab\n")),
            (r#""\ud83d\ude00""#, Some("😀")),
            (r#""\ud83d""#, Some("\u{FFFD}")),
            (r#""""#, Some("")),
            ("3", None),
            ("null", None),
        ];
        for (json, expected) in rows {
            let raw: &RawValue = serde_json::from_str(json).unwrap();
            assert_eq!(text(Some(raw)).as_deref(), expected, "{json}");
        }
    }

    #[test]
    fn a_split_surrogate_pair_is_joined() {
        let mut joined = Vec::new();
        for half in [r#""x\ud83d""#, r#""\ude00y\ud800""#] {
            let raw: &RawValue = serde_json::from_str(half).unwrap();
            joined.extend_from_slice(&bytes(Some(raw)).unwrap());
        }
        assert_eq!(from_wtf8(joined), "x😀y\u{FFFD}");
    }
}
