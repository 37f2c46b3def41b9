//! The beginning of a JSON value, as prompts show it.
//!
//! The rule is JavaScript's: strings are cut first, then the value is spelled anew, then the text
//! is cut. Only as much is read of a value as shows.

use std::collections::HashMap;

use serde_json::value::RawValue;

use super::number::push_number;
use crate::text::truncate_utf16;
use crate::wire::object::elements;

/// Members of objects deeper than this keep their strings whole.
const DEEPEST_CUT: usize = 4;

/// Stands for what was cut off, three UTF-16 units.
const MORE: &str = "...";

/// At most `limit` UTF-16 units (and not less than 3) of a well-formed JSON value: its strings cut to
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
        let mut members = members(json);
        members.sort_by_key(|(key, _)| array_index(key.as_bytes()).map_or(u64::MAX, u64::from));
        self.push("{");
        for (number, (key, value)) in members.iter().enumerate() {
            if self.is_full() {
                return;
            }
            if number > 0 {
                self.push(",");
            }
            self.push("\"");
            key.chars().for_each(|character| self.character(character));
            self.push("\"");
            self.push(":");
            self.value(value, deeper(depth));
        }
        self.push("}");
    }

    fn array(&mut self, json: &str, depth: usize) {
        let raw: Option<&RawValue> = serde_json::from_str(json).ok();
        self.push("[");
        // Reading stops where nothing more shows; what follows may be megabytes.
        for (place, element) in elements(raw).into_iter().map(RawValue::get).enumerate() {
            if self.is_full() {
                break;
            }
            if place > 0 {
                self.push(",");
            }
            self.value(element, deeper(depth));
        }
        self.push("]");
    }

    /// A string in JSON, `cut` units of it. What does not show is not looked at.
    fn string(&mut self, json: &str, cut: usize) {
        let inner = json.strip_prefix('"').unwrap_or_default();
        self.inner(inner.strip_suffix('"').unwrap_or(inner), cut);
    }

    /// The same for what stands between the quotation marks.
    fn inner(&mut self, inner: &str, cut: usize) {
        self.push("\"");
        let mut rest = inner;
        let mut used = 0;
        while used < cut && !self.is_full() {
            let room = (cut - used).min(self.limit + 1 - self.units);
            let plain = rest
                .bytes()
                .take(room)
                .take_while(|byte| is_plain(*byte))
                .count();
            let (text, after) = rest.split_at(plain);
            self.push(text);
            used += plain;
            rest = after;
            if plain == room {
                continue;
            }
            let Some((unit, length)) = first_unit(rest) else {
                break;
            };
            rest = rest.get(length..).unwrap_or_default();
            used += self.unit(unit, cut - used);
        }
        self.push("\"");
    }

    /// Spells a character or a lone surrogate, of which at most `room` units may show; returns how
    /// many do.
    fn unit(&mut self, unit: Result<char, u16>, room: usize) -> usize {
        match unit {
            Ok(character) if character.len_utf16() > room => {
                let mut pair = [0; 2];
                let high = character.encode_utf16(&mut pair)[0];
                self.push(&format!("\\u{high:04x}"));
                room
            }
            Ok(character) => {
                self.character(character);
                character.len_utf16()
            }
            Err(surrogate) => {
                self.push(&format!("\\u{surrogate:04x}"));
                1
            }
        }
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

/// Whether a byte of a JSON string stands for itself, and is spelled so.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')
}

/// The first character of the inside of a JSON string, or the lone surrogate in its place, and how
/// many bytes spell it.
fn first_unit(inner: &str) -> Option<(Result<char, u16>, usize)> {
    let first = inner.chars().next()?;
    if first != '\\' {
        return Some((Ok(first), first.len_utf8()));
    }
    let plain = match inner.as_bytes().get(1)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => {
            let high = escaped_unit(inner)?;
            if let Some(character) = char::from_u32(u32::from(high)) {
                return Some((Ok(character), 6));
            }
            let low = inner.get(6..).and_then(escaped_unit);
            let pair = low.and_then(|low| char::decode_utf16([high, low]).next()?.ok());
            return Some(pair.map_or((Err(high), 6), |character| (Ok(character), 12)));
        }
        other => char::from(*other),
    };
    Some((Ok(plain), 2))
}

/// The unit that `\u` and four digits at the beginning stand for.
fn escaped_unit(inner: &str) -> Option<u16> {
    let digits = inner.get(..6)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
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
fn members(json: &str) -> Vec<(String, &str)> {
    struct Pairs<'a>(Vec<(String, &'a RawValue)>);
    struct PairsVisitor;
    impl<'de> serde::de::Visitor<'de> for PairsVisitor {
        type Value = Pairs<'de>;
        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("an object")
        }
        fn visit_map<A: serde::de::MapAccess<'de>>(
            self,
            mut map: A,
        ) -> Result<Self::Value, A::Error> {
            let mut pairs = Vec::new();
            while let Some(pair) = map.next_entry()? {
                pairs.push(pair);
            }
            Ok(Pairs(pairs))
        }
    }
    impl<'de> serde::Deserialize<'de> for Pairs<'de> {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_map(PairsVisitor)
        }
    }
    let mut members: Vec<(String, &str)> = Vec::new();
    let mut places = HashMap::new();
    for (key, value) in
        serde_json::from_str::<Pairs<'_>>(json).map_or_else(|_| Vec::new(), |pairs| pairs.0)
    {
        let place = *places.entry(key.clone()).or_insert(members.len());
        match members.get_mut(place) {
            Some(member) => member.1 = value.get(),
            None => members.push((key, value.get())),
        }
    }
    members
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

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

    /// The rule step by step, everything read and spelled in full.
    fn plainly(value: &Value, depth: usize, limit: usize, out: &mut String) {
        match value {
            Value::String(text) => {
                let cut = if depth > DEEPEST_CUT {
                    usize::MAX
                } else {
                    limit
                };
                out.push('"');
                for unit in char::decode_utf16(text.encode_utf16().take(cut)) {
                    match unit {
                        Ok(character) => {
                            let quoted = serde_json::to_string(&character).unwrap();
                            out.push_str(&quoted[1..quoted.len() - 1]);
                        }
                        Err(half) => {
                            write!(out, "\\u{:04x}", half.unpaired_surrogate()).unwrap();
                        }
                    }
                }
                out.push('"');
            }
            Value::Array(elements) => {
                out.push('[');
                for (place, element) in elements.iter().enumerate() {
                    out.push_str(if place > 0 { "," } else { "" });
                    plainly(element, depth + 1, limit, out);
                }
                out.push(']');
            }
            Value::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                members.sort_by_key(|(key, _)| {
                    array_index(key.as_bytes()).map_or(u64::MAX, u64::from)
                });
                out.push('{');
                for (place, (key, value)) in members.into_iter().enumerate() {
                    out.push_str(if place > 0 { "," } else { "" });
                    out.push_str(&serde_json::to_string(key).unwrap());
                    out.push(':');
                    plainly(value, depth + 1, limit, out);
                }
                out.push('}');
            }
            other => out.push_str(&other.to_string()),
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<i32>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            "[a\"\\\\\n\u{1}é😀]{0,30}".prop_map(Value::from),
        ];
        leaf.prop_recursive(7, 30, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[0-2a\"é]{0,3}", inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_left_out_changes_nothing(
            value in any_value(),
            limit in 3_usize..60,
            escapes in any::<bool>(),
        ) {
            let mut spelled = String::new();
            plainly(&value, 0, limit, &mut spelled);
            if utf16_length(&spelled) > limit {
                spelled = format!("{}{MORE}", truncate_utf16(&spelled, limit - MORE.len()));
            }
            let mut json = value.to_string();
            if escapes {
                json = json.replace('é', "\\u00e9").replace('😀', "\\ud83d\\uDE00");
            }
            prop_assert_eq!(excerpt(&json, limit), spelled, "{}", json);
        }

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
