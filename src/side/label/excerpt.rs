//! The beginning of a JSON value, as prompts show it.
//!
//! The rule is JavaScript's: strings are cut first, then the value is spelled anew, then the text
//! is cut. Only as much is read of a value as shows.

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::number::push_number;
use crate::text::truncate_utf16;
use crate::wire::object::Wtf8;

/// Members of objects deeper than this keep their strings whole.
const DEEPEST_CUT: usize = 4;

/// Stands for what was cut off, three UTF-16 units.
const MORE: &str = "...";

/// At most `limit` UTF-16 units (and not less than 3) of a JSON value: its strings cut to
/// `limit`, spelled as `JSON.stringify` spells it, and cut again. A cut never leaves half a
/// character, so the text may be one unit shorter.
pub fn excerpt(json: &str, limit: usize) -> String {
    let mut writer = Excerpt {
        text: String::new(),
        units: 0,
        limit,
    };
    writer.value(json.trim_ascii(), 0);
    if writer.units <= limit {
        return writer.text;
    }
    let kept = truncate_utf16(&writer.text, limit.saturating_sub(MORE.len()));
    format!("{kept}{MORE}")
}

struct Excerpt {
    text: String,
    /// The text's length.
    units: usize,
    limit: usize,
}

impl Excerpt {
    fn is_full(&self) -> bool {
        self.units > self.limit
    }

    fn push(&mut self, ascii: &str) {
        self.text.push_str(ascii);
        self.units += ascii.len();
    }

    fn value(&mut self, json: &str, depth: usize) {
        match json.as_bytes().first() {
            Some(b'"') => {
                let cut = if depth > DEEPEST_CUT {
                    usize::MAX
                } else {
                    self.limit
                };
                self.string(json, cut);
            }
            Some(b'{') => self.object(json, depth),
            Some(b'[') => self.array(json, depth),
            Some(b't' | b'f' | b'n') => self.push(json),
            Some(_) => {
                let start = self.text.len();
                push_number(json, &mut self.text);
                self.units += self.text.len() - start;
            }
            None => self.push("[undefined]"),
        }
    }

    fn object(&mut self, json: &str, depth: usize) {
        let Ok(Members(mut members)) = serde_json::from_str(json) else {
            self.push("[unable to serialize]");
            return;
        };
        members.sort_by_key(|(key, _)| array_index(&key.0).map_or(u64::MAX, u64::from));
        self.push("{");
        for (number, (key, value)) in members.iter().enumerate() {
            if self.is_full() {
                return;
            }
            if number > 0 {
                self.push(",");
            }
            self.units_of(&key.0, usize::MAX);
            self.push(":");
            self.value(value.get(), deeper(depth));
        }
        self.push("}");
    }

    fn array(&mut self, json: &str, depth: usize) {
        // Reading stops where nothing more shows; what follows may be megabytes.
        let mut source = serde_json::Deserializer::from_str(json);
        self.push("[");
        let _ = source.deserialize_seq(Elements {
            writer: self,
            depth: deeper(depth),
        });
        self.push("]");
    }

    /// A string in JSON, `cut` units of it.
    fn string(&mut self, json: &str, cut: usize) {
        // Twelve bytes may spell one character; what follows them is not looked at.
        let shown = cut.min(self.limit.saturating_add(1));
        let inner = json.trim_matches('"').as_bytes();
        let inner = if json.len() >= 2 {
            &json.as_bytes()[1..json.len() - 1]
        } else {
            inner
        };
        let start = &inner[..end_of_start(inner, shown.saturating_mul(12))];
        let mut quoted = Vec::with_capacity(start.len() + 2);
        quoted.push(b'"');
        quoted.extend_from_slice(start);
        quoted.push(b'"');
        match serde_json::from_slice::<Wtf8<'_>>(&quoted) {
            Ok(string) => self.units_of(&string.0, cut),
            Err(_) => self.push("\"\""),
        }
    }

    /// Spells the first `cut` units of a string, whose lone surrogates are three bytes each.
    fn units_of(&mut self, wtf8: &[u8], cut: usize) {
        self.push("\"");
        let mut used = 0;
        let mut rest = wtf8;
        while used < cut && !self.is_full() {
            let Some((unit, length)) = first_character(rest) else {
                break;
            };
            rest = &rest[length..];
            match unit {
                Ok(character) if used + character.len_utf16() > cut => {
                    let mut pair = [0; 2];
                    let high = character.encode_utf16(&mut pair)[0];
                    self.push(&format!("\\u{high:04x}"));
                    break;
                }
                Ok(character) => {
                    used += character.len_utf16();
                    self.character(character);
                }
                Err(surrogate) => {
                    used += 1;
                    self.push(&format!("\\u{surrogate:04x}"));
                }
            }
        }
        self.push("\"");
    }

    fn character(&mut self, character: char) {
        match character {
            '"' => self.push("\\\""),
            '\\' => self.push("\\\\"),
            '\n' => self.push("\\n"),
            '\r' => self.push("\\r"),
            '\t' => self.push("\\t"),
            '\u{8}' => self.push("\\b"),
            '\u{c}' => self.push("\\f"),
            '\0'..='\u{1f}' => self.push(&format!("\\u{:04x}", u32::from(character))),
            _ => {
                self.text.push(character);
                self.units += character.len_utf16();
            }
        }
    }
}

/// Depth counts no further than it matters.
fn deeper(depth: usize) -> usize {
    depth.saturating_add(1)
}

/// Where a beginning of `limit` bytes of the inside of a JSON string ends, at most a few bytes
/// earlier so that no escape and no character is split.
fn end_of_start(inner: &[u8], limit: usize) -> usize {
    if inner.len() <= limit {
        return inner.len();
    }
    let mut end = limit;
    while end > 0 && inner[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    // An escape that begins before the end must be whole: surrogate pairs have twelve bytes.
    let mut at = memchr::memchr(b'\\', &inner[..end]);
    while let Some(start) = at {
        let length = match inner.get(start + 1) {
            Some(b'u') => 6,
            _ => 2,
        };
        if start + length > end {
            return start;
        }
        let next = start + length;
        at = memchr::memchr(b'\\', &inner[next..end]).map(|found| next + found);
    }
    end
}

/// The first character, or the lone surrogate in its place, and its bytes.
fn first_character(wtf8: &[u8]) -> Option<(Result<char, u16>, usize)> {
    let length = match wtf8.first()? {
        0..0x80 => 1,
        0x80..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
    };
    let bytes = wtf8.get(..length)?;
    if let Ok(character) = std::str::from_utf8(bytes) {
        return character.chars().next().map(|found| (Ok(found), length));
    }
    let [first, second, third] = bytes else {
        return Some((Ok(char::REPLACEMENT_CHARACTER), 1));
    };
    let unit =
        u16::from(first & 0xf) << 12 | u16::from(second & 0x3f) << 6 | u16::from(third & 0x3f);
    Some((Err(unit), length))
}

/// A key that JavaScript takes for an index; such members come first, by number.
fn array_index(key: &[u8]) -> Option<u32> {
    let key = std::str::from_utf8(key).ok()?;
    let is_plain = key == "0" || !key.starts_with(['0', '+']);
    let index: u32 = key.parse().ok()?;
    (is_plain && index != u32::MAX).then_some(index)
}

/// The members of an object in their order; of a key that is given twice the last value counts,
/// at the first one's place.
struct Members<'a>(Vec<(Wtf8<'a>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reading;
        impl<'de> Visitor<'de> for Reading {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members: Vec<(Wtf8<'de>, &'de RawValue)> = Vec::new();
                let mut places = std::collections::HashMap::new();
                while let Some((key, value)) = map.next_entry::<Wtf8<'de>, &'de RawValue>()? {
                    let place = *places.entry(key.0.to_vec()).or_insert(members.len());
                    match members.get_mut(place) {
                        Some(member) => member.1 = value,
                        None => members.push((key, value)),
                    }
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reading)
    }
}

/// Writes elements until nothing more shows.
struct Elements<'a> {
    writer: &'a mut Excerpt,
    depth: usize,
}

impl<'de> Visitor<'de> for Elements<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let mut is_first = true;
        while let Some(element) = elements.next_element::<&RawValue>()? {
            if self.writer.is_full() {
                break;
            }
            if !is_first {
                self.writer.push(",");
            }
            is_first = false;
            self.writer.value(element.get(), self.depth);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::text::utf16_length;

    #[test]
    fn values_are_spelled_as_in_javascript() {
        let table = [
            (
                r#" { "b" : 1.0 , "10":2,"9": [ ] } "#,
                r#"{"9":[],"10":2,"b":1}"#,
            ),
            (r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#),
            (r#"{"01":1,"1":2,"-1":3}"#, r#"{"1":2,"01":1,"-1":3}"#),
            (r#""\u00e9\/\u0001\n""#, "\"é/\\u0001\\n\""),
            (r#""\ud83d\ude00 \ud83d""#, "\"😀 \\ud83d\""),
            ("[1,true,null,\"x\"]", "[1,true,null,\"x\"]"),
            ("", "[undefined]"),
        ];
        for (json, expected) in table {
            assert_eq!(excerpt(json, 300), expected, "{json}");
        }
    }

    #[test]
    fn strings_are_cut_first_and_the_whole_then() {
        let long = json!("x".repeat(10_000)).to_string();
        assert_eq!(excerpt(&long, 300), format!("\"{}...", "x".repeat(296)));
        let fits = json!("x".repeat(298)).to_string();
        assert_eq!(excerpt(&fits, 300), fits);
        let escaped = json!("\n".repeat(10_000)).to_string();
        assert_eq!(excerpt(&escaped, 20), format!("\"{}...", "\\n".repeat(8)));
        let pairs = json!("😀".repeat(200)).to_string();
        assert_eq!(excerpt(&pairs, 300), format!("\"{}...", "😀".repeat(148)));
    }

    proptest! {
        #[test]
        fn excerpts_fit(text in any::<String>(), limit in 3_usize..80) {
            let value = json!({"a": text, "b": [text]});
            let shown = excerpt(&value.to_string(), limit);
            prop_assert!(utf16_length(&shown) <= limit);
        }

        #[test]
        fn short_values_stay_what_they_are(text in "\\PC{0,20}", number in any::<i32>()) {
            let value = json!({"text": text, "list": [number, {"deep": [[[text]]]}]});
            let shown = excerpt(&value.to_string(), 1000);
            prop_assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
        }

        #[test]
        fn no_text_is_too_much(json in any::<String>(), limit in 3_usize..20) {
            let _ = excerpt(&json, limit);
        }
    }
}
