//! Declares JSON objects by the members that are read.
//!
//! If a key occurs twice, the last value counts. Depth is not limited, and a lone surrogate in a key
//! or in a raw value is not an error.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::value::elements;

/// A type that is read from any JSON value. A value of another kind is skipped, not an error.
pub trait LenientVisitor<'a>: Sized {
    /// Reads an object.
    ///
    /// # Errors
    /// The JSON is malformed.
    fn read_object<A: MapAccess<'a>>(mut map: A) -> Result<Option<Self>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    /// Reads an array.
    ///
    /// # Errors
    /// The JSON is malformed.
    fn read_array<A: SeqAccess<'a>>(mut array: A) -> Result<Option<Self>, A::Error> {
        while array.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    /// Takes a string.
    fn read_text(_: Cow<'a, str>) -> Option<Self> {
        None
    }

    /// Reads a value.
    ///
    /// # Errors
    /// The JSON is malformed.
    fn read_value<D: Deserializer<'a>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        deserializer.deserialize_any(AnyValue(PhantomData))
    }
}

/// Accepts every value.
impl<'a> LenientVisitor<'a> for &'a RawValue {
    fn read_value<D: Deserializer<'a>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        Deserialize::deserialize(deserializer).map(Some)
    }
}

/// A value of type `T`, or `None` if the JSON value is of another kind.
pub struct Lenient<T>(pub Option<T>);

impl<'de, T: LenientVisitor<'de>> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::read_value(deserializer).map(Self)
    }
}

/// A value of type `T`, or the default if the JSON value is of another kind. Has the size of `T`, so that a
/// `Vec` of it becomes a `Vec<T>` in place.
struct OrDefault<T>(T);

impl<'de, T: LenientVisitor<'de> + Default> Deserialize<'de> for OrDefault<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(T::read_value(deserializer)?.unwrap_or_default()))
    }
}

struct AnyValue<T>(PhantomData<T>);

impl<'de, T: LenientVisitor<'de>> Visitor<'de> for AnyValue<T> {
    type Value = Option<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::read_object(map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, array: A) -> Result<Self::Value, A::Error> {
        T::read_array(array)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(T::read_text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(T::read_text(Cow::Owned(text.to_owned())))
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
///
/// ```ignore
/// object! { Row { id, kind = "type", usage: Tokens<'a> } }
/// object! { Tokens { input } }
///
/// let row = Row::read(r#"{"id": null, "type": "reply", "usage": {"input": 7}}"#)?;
/// string(row.kind); // Some("reply")
/// string(row.id);   // None, although `row.id` is `Some`, with the text `null`
/// number(row.usage?.input); // Some(7)
/// ```
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
            fn read_object<A: serde::de::MapAccess<'a>>(map: A) -> Result<Option<Self>, A::Error> {
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
            pub(crate) fn from_raw(raw: Option<&'a serde_json::value::RawValue>) -> Option<Self> {
                Self::read(raw?.get())
            }

            /// Reads the elements of an array; an element that is not an object becomes an empty object.
            /// Empty if the value is absent or not an array.
            pub(crate) fn read_list(raw: Option<&'a serde_json::value::RawValue>) -> Vec<Self> {
                $crate::json::read_list(raw)
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
    ///
    /// # Errors
    /// The JSON is malformed.
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

/// Reads the object in `json` into `object`, in place: the largest has over 1 KB. Returns whether `json` is an object;
/// if not, some members may be set.
pub fn fill<'a>(object: &mut impl Members<'a>, json: &'a str) -> bool {
    let mut json = serde_json::Deserializer::from_str(json);
    json.deserialize_map(InPlace(object)).is_ok() && json.end().is_ok()
}

/// Reads a value; `None` if it is of another kind.
pub fn read<'a, T: LenientVisitor<'a>>(json: &'a str) -> Option<T> {
    let Lenient(value) = serde_json::from_str(json).ok()?;
    value
}

/// Reads the elements of an array; an element of another kind becomes the default. Empty if the value is
/// absent or not an array.
pub fn read_list<'a, T: LenientVisitor<'a> + Default>(raw: Option<&'a RawValue>) -> Vec<T> {
    let Some(raw) = raw.filter(|raw| raw.get().starts_with('[')) else {
        return Vec::new();
    };
    if let Ok(values) = serde_json::from_str::<Vec<OrDefault<T>>>(raw.get()) {
        return values.into_iter().map(|OrDefault(value)| value).collect();
    }
    // One element has a number out of range or a lone surrogate.
    let elements = elements(Some(raw)).into_iter();
    elements
        .map(|element| read(element.get()).unwrap_or_default())
        .collect()
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
        let read_list = |json: &str| -> Vec<Option<String>> {
            let raw: &RawValue = serde_json::from_str(json).unwrap();
            let some = |pair: &Pair<'_>| pair.some.map(|raw| raw.get().to_owned());
            Pair::read_list(Some(raw)).iter().map(some).collect()
        };
        let one = Some("1".to_owned());
        assert_eq!(read_list(r#"[{"some":1},{}]"#), [one.clone(), None]);
        assert_eq!(
            read_list(r#"[7,{"some":1},1e999,[],"x"]"#),
            [None, one, None, None, None]
        );
        assert!(
            read_list("[]").is_empty() && read_list("{}").is_empty() && read_list("1").is_empty()
        );
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
}
