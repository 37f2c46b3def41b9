//! The members of objects and the elements of arrays, in text that is known to be well-formed JSON.
//!
//! Nothing is checked again, which is what makes this fast: strings and whole containers are jumped
//! over. Of text that is not well formed the answers mean nothing, but nothing worse happens.

use super::value_end::value_end;

/// The members of an object, one after the other: the key as it stands between its quotes, and the
/// text of the value.
#[derive(Debug, Clone)]
pub struct Members<'a>(Cursor<'a>);

/// The elements of an array, one after the other: the text of each.
#[derive(Debug, Clone)]
pub struct Elements<'a>(Cursor<'a>);

impl<'a> Members<'a> {
    /// The members of the object that `json` is, which is well formed; `None` if it is no object.
    pub fn of(json: &'a str) -> Option<Self> {
        Cursor::in_container(json, b'{').map(Self)
    }
}

impl<'a> Elements<'a> {
    /// The elements of the array that `json` is, which is well formed; `None` if it is no array.
    pub fn of(json: &'a str) -> Option<Self> {
        Cursor::in_container(json, b'[').map(Self)
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, &'a str);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let cursor = &mut self.0;
        if cursor.token()? != b'"' {
            return None;
        }
        let key = cursor.value()?;
        cursor.skip(b':')?;
        cursor.token()?;
        let value = cursor.value()?;
        cursor.skip(b',');
        Some((key.get(1..key.len() - 1)?, value))
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a str;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let cursor = &mut self.0;
        if cursor.token()? == b']' {
            return None;
        }
        let value = cursor.value()?;
        cursor.skip(b',');
        Some(value)
    }
}

/// A place in a text.
#[derive(Debug, Clone)]
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Behind the bracket that `json` begins with; `None` if it begins with something else.
    fn in_container(json: &'a str, bracket: u8) -> Option<Self> {
        let mut cursor = Self { text: json, at: 0 };
        (cursor.token()? == bracket).then(|| {
            cursor.at += 1;
            cursor
        })
    }

    /// The byte that the next token begins with.
    #[inline]
    fn token(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Passes the token that is this byte; `None` if the next one is another.
    #[inline]
    fn skip(&mut self, byte: u8) -> Option<()> {
        (self.token()? == byte).then(|| self.at += 1)
    }

    /// Passes the value that starts here.
    #[inline]
    fn value(&mut self) -> Option<&'a str> {
        let end = value_end(self.text.as_bytes(), self.at)?;
        let value = self.text.get(self.at..end);
        self.at = end;
        value
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;
    use crate::jsonl::samples::{interesting_byte, object_line};

    #[test]
    fn members_and_elements_are_passed_whole() {
        let members = |json| Members::of(json).map(Iterator::collect::<Vec<_>>);
        let rows: [(&str, &[(&str, &str)]); 6] = [
            ("{}", &[]),
            (r#" { "a" : 1 } "#, &[("a", "1")]),
            (
                r#"{"a":"}\"\\","b":-1e9}"#,
                &[("a", r#""}\"\\""#), ("b", "-1e9")],
            ),
            (
                r#"{"a":{"b":[{}]},"c":[["]"]]}"#,
                &[("a", r#"{"b":[{}]}"#), ("c", r#"[["]"]]"#)],
            ),
            (r#"{"a":null,"a":true}"#, &[("a", "null"), ("a", "true")]),
            (r#"{"\"":{"x":"{"}}"#, &[(r#"\""#, r#"{"x":"{"}"#)]),
        ];
        let long = format!(r#"["{}\"]", [{{}}], "]"]"#, "x\\n".repeat(40));
        let json = format!(r#"{{"a":{long},"b":[{long}, 1]}}"#);
        let nested = format!("[{long}, 1]");
        assert_eq!(
            members(&json).unwrap(),
            [("a", long.as_str()), ("b", &nested)]
        );
        for (json, expected) in rows {
            assert_eq!(members(json).unwrap(), expected, "{json}");
        }
        assert!(members("[]").is_none() && members("").is_none() && members("1").is_none());
        let elements = |json| Elements::of(json).map(Iterator::collect::<Vec<_>>);
        assert_eq!(
            elements(r#"[1, "]" ,{"a":[]},[ ]]"#).unwrap(),
            ["1", r#""]""#, r#"{"a":[]}"#, "[ ]"]
        );
        assert!(elements("[]").unwrap().is_empty());
        assert!(elements("{}").is_none());
    }

    proptest! {
        #[test]
        fn members_are_those_that_a_parser_finds(line in object_line()) {
            let line = String::from_utf8(line).unwrap();
            let mut found = Vec::new();
            for (key, value) in Members::of(&line).unwrap() {
                if let Ok(key) = serde_json::from_str::<String>(&format!("\"{key}\"")) {
                    found.retain(|(known, _)| *known != key);
                    found.push((key, value));
                }
            }
            let parsed: std::collections::HashMap<String, &RawValue> = match serde_json::from_str(&line) {
                Ok(parsed) => parsed,
                // A lone surrogate in a key.
                Err(_) => return Ok(()),
            };
            prop_assert_eq!(found.len(), parsed.len());
            for (key, value) in found {
                prop_assert_eq!(parsed[&key].get(), value);
            }
        }

        #[test]
        fn nonsense_ends(bytes in prop::collection::vec(interesting_byte(), 0..60)) {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            for json in [format!("{{{text}"), format!("[{text}")] {
                if let Some(members) = Members::of(&json) {
                    prop_assert!(members.count() <= json.len());
                }
                if let Some(elements) = Elements::of(&json) {
                    prop_assert!(elements.count() <= json.len());
                }
            }
        }
    }
}
