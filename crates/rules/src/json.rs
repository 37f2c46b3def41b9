//! Lenient access to the members of JSON objects.
//!
//! Members are raw values, borrowed from the record. A missing member, a `null` and a value of
//! another type are all `None`. If a key occurs twice, the last value counts. Depth is not limited,
//! and a lone surrogate in a key or in a raw value is not an error.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A type that is read from any JSON value. A value of another kind is skipped, not an error.
pub trait LenientVisitor<'a>: Sized {
    /// Reads an object.
    fn object<A: MapAccess<'a>>(mut map: A) -> Result<Option<Self>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    /// Reads an array.
    fn array<A: SeqAccess<'a>>(mut array: A) -> Result<Option<Self>, A::Error> {
        while array.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    /// Takes a string.
    fn text(_: Cow<'a, str>) -> Option<Self> {
        None
    }

    /// Reads a value.
    fn value<D: Deserializer<'a>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        deserializer.deserialize_any(AnyValue(PhantomData))
    }
}

/// Every value is one of these.
impl<'a> LenientVisitor<'a> for &'a RawValue {
    fn value<D: Deserializer<'a>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        Deserialize::deserialize(deserializer).map(Some)
    }
}

/// `None` if the value is of another kind.
pub struct Lenient<T>(pub Option<T>);

impl<'de, T: LenientVisitor<'de>> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::value(deserializer).map(Self)
    }
}

/// The default if the value is of another kind. As large as the value, so that a list of these
/// is converted to a list of values in place.
struct OrDefault<T>(T);

impl<'de, T: LenientVisitor<'de> + Default> Deserialize<'de> for OrDefault<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(T::value(deserializer)?.unwrap_or_default()))
    }
}

struct AnyValue<T>(PhantomData<T>);

impl<'de, T: LenientVisitor<'de>> Visitor<'de> for AnyValue<T> {
    type Value = Option<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::object(map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, array: A) -> Result<Self::Value, A::Error> {
        T::array(array)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(T::text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(T::text(Cow::Owned(text.to_owned())))
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

/// Declares an object by the members that are read; all others are skipped. A member `name` has the
/// key `name`; `name = "key"` sets another key. A member is a raw value, or with `name: Type` any
/// [`LenientVisitor`]. An object declared `owned` is not `Copy`.
#[macro_export]
macro_rules! object {
    (@type) => { &'a serde_json::value::RawValue };
    (@type $type:ty) => { $type };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
    ($(#[$meta:meta])* owned $name:ident { $($field:ident $(: $type:ty)? $(= $key:literal)?),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Default, Clone)]
        #[allow(clippy::struct_field_names, reason = "the formats choose the names of members")]
        pub(crate) struct $name<'a> {
            $(pub(crate) $field: Option<$crate::json::object!(@type $($type)?)>,)+
        }

        impl<'a> $crate::json::LenientVisitor<'a> for $name<'a> {
            fn object<A: serde::de::MapAccess<'a>>(map: A) -> Result<Option<Self>, A::Error> {
                let mut object = Self::default();
                $crate::json::Members::fill(&mut object, map)?;
                Ok(Some(object))
            }
        }

        impl<'a> $crate::json::Members<'a> for $name<'a> {
            fn fill<A: serde::de::MapAccess<'a>>(&mut self, mut map: A) -> Result<(), A::Error> {
                while let Some($crate::json::Wtf8(key)) = map.next_key()? {
                    // The declared keys have no lone surrogates.
                    match std::str::from_utf8(&key).unwrap_or_default() {
                        $($crate::json::object!(@key $field $($key)?) => {
                            $crate::json::Lenient(self.$field) = map.next_value()?;
                        })+
                        _ => {
                            map.next_value::<serde::de::IgnoredAny>()?;
                        }
                    }
                }
                Ok(())
            }
        }

        #[allow(dead_code, reason = "not every object is read in all these ways")]
        impl<'a> $name<'a> {
            /// Reads the object in `json`; `None` if it is not an object.
            pub(crate) fn read(json: &'a str) -> Option<Self> {
                let mut object = Self::default();
                $crate::json::fill(&mut object, json).then_some(object)
            }

            /// Reads a raw value; `None` if it is absent or not an object.
            pub(crate) fn of(raw: Option<&'a serde_json::value::RawValue>) -> Option<Self> {
                Self::read(raw?.get())
            }

            /// Reads the elements of an array; one that is not an object counts as an empty object.
            /// Empty if the value is absent or not an array.
            pub(crate) fn list(raw: Option<&'a serde_json::value::RawValue>) -> Vec<Self> {
                $crate::json::list(raw)
            }
        }
    };
    ($(#[$meta:meta])* $name:ident { $($members:tt)+ }) => {
        $crate::json::object! { $(#[$meta])* #[derive(Copy)] owned $name { $($members)+ } }
    };
}

#[doc(inline)]
pub use crate::object;

/// An object that is read by its members.
pub trait Members<'a> {
    /// Sets the members.
    fn fill<A: MapAccess<'a>>(&mut self, map: A) -> Result<(), A::Error>;
}

struct InPlace<'object, T>(&'object mut T);

impl<'de, T: Members<'de>> Visitor<'de> for InPlace<'_, T> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.fill(map)
    }
}

/// Reads the object in `json` in place, because the largest is over 1 KB. Returns whether it is an object.
pub fn fill<'a>(object: &mut impl Members<'a>, json: &'a str) -> bool {
    let mut json = serde_json::Deserializer::from_str(json);
    json.deserialize_map(InPlace(object)).is_ok() && json.end().is_ok()
}

/// Reads a value; `None` if it is of another kind.
pub fn read<'a, T: LenientVisitor<'a>>(json: &'a str) -> Option<T> {
    let Lenient(value) = serde_json::from_str(json).ok()?;
    value
}

/// Reads the elements of an array; one of another kind counts as the default. Empty if the value is
/// absent or not an array.
pub fn list<'a, T: LenientVisitor<'a> + Default>(raw: Option<&'a RawValue>) -> Vec<T> {
    let Some(raw) = raw.filter(|raw| raw.get().starts_with('[')) else {
        return Vec::new();
    };
    if let Ok(values) = serde_json::from_str::<Vec<OrDefault<T>>>(raw.get()) {
        return values.into_iter().map(|OrDefault(value)| value).collect();
    }
    // A number out of range, or a lone surrogate.
    let elements = elements(Some(raw)).into_iter();
    elements
        .map(|element| read(element.get()).unwrap_or_default())
        .collect()
}

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
    unescaped(raw?.get())
}

/// Like [`text`], for JSON text.
pub fn unescaped(json: &str) -> Option<Cow<'_, str>> {
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

/// Whether the value is this string.
pub fn is(raw: Option<&RawValue>, name: &str) -> bool {
    text(raw).is_some_and(|known| known == name)
}

pub fn is_true(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| raw.get() == "true")
}

/// Returns a count or index.
pub fn number(raw: Option<&RawValue>) -> Option<u64> {
    raw?.get().parse().ok()
}

pub fn is_object(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| raw.get().starts_with('{'))
}

pub fn is_array(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| raw.get().starts_with('['))
}

/// Returns the elements of an array; empty if the value is absent or not an array.
pub fn elements(raw: Option<&RawValue>) -> Vec<&RawValue> {
    let elements = raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
    elements.unwrap_or_default()
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

    object! {
        /// Two members.
        Pair { some, other }
    }

    fn pair(json: &str) -> Option<(Option<&str>, Option<&str>)> {
        let pair = Pair::read(json)?;
        Some((pair.some.map(RawValue::get), pair.other.map(RawValue::get)))
    }

    #[test]
    fn members_are_found_in_any_context() {
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
    fn lists_keep_the_position_of_other_values() {
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
