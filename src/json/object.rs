//! Reading JSON objects member by member, so that nothing odd in one member loses the record.
//!
//! Every value stays raw until it is needed. Of a key that is given twice the last value counts;
//! depth has no limit; a lone surrogate in a string is not an error. What members mean is not decided
//! here.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// An object of which some members are known by their keys.
pub(crate) trait Object<'a>: Default {
    /// Takes the value of this key from `map`.
    fn member<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error>;
}

/// The value of a member.
pub(crate) trait Member<'a>: Sized {
    /// The next value of `map`; `None` if it is not of this kind.
    fn next<A: MapAccess<'a>>(map: &mut A) -> Result<Option<Self>, A::Error>;
}

impl<'a> Member<'a> for &'a RawValue {
    fn next<A: MapAccess<'a>>(map: &mut A) -> Result<Option<Self>, A::Error> {
        map.next_value().map(Some)
    }
}

/// Read together with the object around it, which spares reading its text twice.
impl<'a, O: Object<'a>> Member<'a> for O {
    fn next<A: MapAccess<'a>>(map: &mut A) -> Result<Option<Self>, A::Error> {
        let Perhaps(object) = map.next_value()?;
        Ok(object.map(|Members(object)| object))
    }
}

/// A value that may be of another kind than the one that is wanted.
pub(crate) trait Wanted<'a>: Sized {
    /// Reads an object.
    fn of_object<A: MapAccess<'a>>(mut map: A) -> Result<Option<Self>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    /// Reads an array.
    fn of_array<A: SeqAccess<'a>>(mut array: A) -> Result<Option<Self>, A::Error> {
        while array.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    /// Takes a string.
    fn of_text(_: Cow<'a, str>) -> Option<Self> {
        None
    }
}

/// Declares an object by the members that are needed; all others are skipped. A member `name` has that
/// key, and `name = "key"` another one. A member `name: Type` is an object that is declared likewise.
macro_rules! object {
    (@type) => { &'a serde_json::value::RawValue };
    (@type $type:ty) => { $type };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
    ($(#[$meta:meta])* $name:ident { $($field:ident $(: $type:ty)? $(= $key:literal)?),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Default, Clone, Copy)]
        #[allow(clippy::struct_field_names, reason = "the formats choose the names of members")]
        pub(crate) struct $name<'a> {
            $(pub(crate) $field: Option<$crate::json::object!(@type $($type)?)>,)+
        }

        impl<'a> $crate::json::Object<'a> for $name<'a> {
            fn member<A: serde::de::MapAccess<'a>>(
                &mut self,
                key: &str,
                map: &mut A,
            ) -> Result<(), A::Error> {
                match key {
                    $($crate::json::object!(@key $field $($key)?) => {
                        self.$field = $crate::json::Member::next(map)?;
                    })+
                    _ => {
                        map.next_value::<serde::de::IgnoredAny>()?;
                    }
                }
                Ok(())
            }
        }

        #[allow(dead_code, reason = "not every object is read in all these ways")]
        impl<'a> $name<'a> {
            /// The members of the object in `json`; `None` if it is not an object.
            pub(crate) fn read(json: &'a str) -> Option<Self> {
                $crate::json::read(json)
            }

            /// The members of a raw value; `None` if it is absent or not an object.
            pub(crate) fn of(raw: Option<&'a serde_json::value::RawValue>) -> Option<Self> {
                Self::read(raw?.get())
            }

            /// The elements of an array; one that is not an object counts as an empty object. Empty
            /// if the value is absent or not an array.
            pub(crate) fn list(raw: Option<&'a serde_json::value::RawValue>) -> Vec<Self> {
                $crate::json::list(raw)
            }
        }
    };
}

pub(crate) use object;

/// The members of the object in `json`; `None` if it is not an object.
pub(crate) fn read<'a, O: Object<'a>>(json: &'a str) -> Option<O> {
    let members: Members<O> = serde_json::from_str(json).ok()?;
    Some(members.0)
}

/// The elements of an array; one that is not an object counts as an empty object. Empty if the value
/// is absent or not an array.
pub(crate) fn list<'a, O: Object<'a>>(raw: Option<&'a RawValue>) -> Vec<O> {
    let Some(raw) = raw.filter(|raw| raw.get().starts_with('[')) else {
        return Vec::new();
    };
    match serde_json::from_str::<Vec<Members<O>>>(raw.get()) {
        Ok(objects) => objects.into_iter().map(|members| members.0).collect(),
        Err(_) => elements(Some(raw))
            .into_iter()
            .map(|element| read(element.get()).unwrap_or_default())
            .collect(),
    }
}

/// Reads an object in one pass.
pub(crate) struct Members<O>(pub(crate) O);

impl<'a, O: Object<'a>> Wanted<'a> for Members<O> {
    fn of_object<A: MapAccess<'a>>(mut map: A) -> Result<Option<Self>, A::Error> {
        let mut object = O::default();
        while let Some(Wtf8(key)) = map.next_key()? {
            // No key that is needed has half a character in it.
            object.member(std::str::from_utf8(&key).unwrap_or_default(), &mut map)?;
        }
        Ok(Some(Self(object)))
    }
}

impl<'de, O: Object<'de>> Deserialize<'de> for Members<O> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = deserializer.deserialize_map(WantedVisitor(PhantomData))?;
        object.ok_or_else(|| D::Error::custom("not an object"))
    }
}

/// Reads a value in one pass, if it is one that is wanted.
pub(crate) struct Perhaps<W>(pub(crate) Option<W>);

impl<'de, W: Wanted<'de>> Deserialize<'de> for Perhaps<W> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wanted = deserializer.deserialize_any(WantedVisitor(PhantomData))?;
        Ok(Self(wanted))
    }
}

struct WantedVisitor<W>(PhantomData<W>);

impl<'de, W: Wanted<'de>> Visitor<'de> for WantedVisitor<W> {
    type Value = Option<W>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value of the wanted kind")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        W::of_object(map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, array: A) -> Result<Self::Value, A::Error> {
        W::of_array(array)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(W::of_text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(W::of_text(Cow::Owned(text.to_owned())))
    }

    fn visit_bytes<E>(self, _: &[u8]) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// The bytes of a JSON string; a lone surrogate stands in it as three bytes that are no UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wtf8<'a>(pub(crate) Cow<'a, [u8]>);

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

/// The string in `raw`, unescaped, as bytes; `None` if it is absent or another type.
pub(crate) fn bytes(raw: Option<&RawValue>) -> Option<Cow<'_, [u8]>> {
    let json = raw?.get();
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner.as_bytes()));
    }
    serde_json::from_str::<Wtf8<'_>>(json)
        .ok()
        .map(|string| string.0)
}

/// The string in `raw`, unescaped; a lone surrogate becomes U+FFFD. `None` if it is absent or
/// another type.
pub(crate) fn text(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    unescaped(raw?.get())
}

/// The JSON string `json`, unescaped likewise; `None` if it is another type.
pub(crate) fn unescaped(json: &str) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    // Most texts have no lone surrogate, and this is the fast way to read them.
    if let Ok(unescaped) = serde_json::from_str(json) {
        return Some(Cow::Owned(unescaped));
    }
    let Wtf8(bytes) = serde_json::from_str(json).ok()?;
    Some(Cow::Owned(from_wtf8(bytes.into_owned())))
}

/// A string that is present and not empty.
pub(crate) fn non_empty(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    text(raw).filter(|text| !text.is_empty())
}

/// A value that is present and not `null`.
pub(crate) fn non_null(raw: Option<&RawValue>) -> Option<&RawValue> {
    raw.filter(|raw| raw.get() != "null")
}

/// Whether the value is this string.
pub(crate) fn is(raw: Option<&RawValue>, name: &str) -> bool {
    text(raw).is_some_and(|known| known == name)
}

/// Whether the value is `true`.
pub(crate) fn is_true(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| raw.get() == "true")
}

/// A count or index.
pub(crate) fn number(raw: Option<&RawValue>) -> Option<u64> {
    raw?.get().parse().ok()
}

/// Whether the value is an object.
pub(crate) fn is_object(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| raw.get().starts_with('{'))
}

/// Whether the value is an array.
pub(crate) fn is_array(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| raw.get().starts_with('['))
}

/// The elements of an array; none if the value is absent or not an array.
pub(crate) fn elements(raw: Option<&RawValue>) -> Vec<&RawValue> {
    let elements = raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
    elements.unwrap_or_default()
}

/// Text from bytes that may hold surrogates: a pair that was cut apart (a stream may split one
/// between two deltas) becomes its character, a lone one U+FFFD.
pub(crate) fn from_wtf8(bytes: Vec<u8>) -> String {
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

/// The surrogate that `bytes` begins with.
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

    object! {
        /// Two members.
        Pair { some, other }
    }

    fn pair(json: &str) -> Option<(Option<&str>, Option<&str>)> {
        let pair = Pair::read(json)?;
        Some((pair.some.map(RawValue::get), pair.other.map(RawValue::get)))
    }

    #[test]
    fn members_are_found_whatever_stands_around_them() {
        let rows = [
            (r#"{"some":1}"#, Some((Some("1"), None))),
            (
                r#"{"some":1,"x":{},"some":[ 2 ]}"#,
                Some((Some("[ 2 ]"), None)),
            ),
            (r#"{"s\u006fme" : null }"#, Some((Some("null"), None))),
            (
                r#"{"\ud800":1,"other":"\udc00"}"#,
                Some((None, Some(r#""\udc00""#))),
            ),
            (r#"{"x":1e999,"other":1e999}"#, Some((None, Some("1e999")))),
            ("{}", Some((None, None))),
            ("[]", None),
            ("1", None),
            ("", None),
            (r#"{"some":1"#, None),
        ];
        for (json, expected) in rows {
            assert_eq!(pair(json), expected, "{json}");
        }
    }

    #[test]
    fn lists_keep_the_place_of_what_is_no_object() {
        let list = |json: &str| -> Vec<Option<String>> {
            let raw: &RawValue = serde_json::from_str(json).unwrap();
            let some = |pair: &Pair<'_>| pair.some.map(|raw| raw.get().to_owned());
            Pair::list(Some(raw)).iter().map(some).collect()
        };
        let one = Some("1".to_owned());
        assert_eq!(list(r#"[{"some":1},{}]"#), [one.clone(), None]);
        assert_eq!(
            list(r#"[7,{"some":1},1e999,[],"x"]"#),
            [None, one, None, None, None]
        );
        assert!(list("[]").is_empty() && list("{}").is_empty() && list("1").is_empty());
    }

    #[test]
    fn depth_has_no_limit() {
        let deep = format!(
            r#"{{"x":{0}1{1},"some":{0}2{1}}}"#,
            "[".repeat(9000),
            "]".repeat(9000)
        );
        let members = Pair::read(&deep).unwrap();
        assert_eq!(members.some.unwrap().get().len(), 18001);
    }

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
