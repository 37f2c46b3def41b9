//! A raw value made of text that was found to be JSON before, without reading it again.

use std::fmt;

use serde::de::value::{BorrowedStrDeserializer, MapDeserializer};
use serde::de::{Deserialize, Deserializer, Error, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::value::RawValue;

/// The value that `json` is: one well-formed JSON value without blanks around it. Of any other text
/// the value is as wrong as the text.
pub(crate) fn raw_json(json: &str) -> Option<&RawValue> {
    <&RawValue>::deserialize(Known(json)).ok()
}

/// Hands a text out as a raw value, in the way in which raw values travel between serializers.
struct Known<'a>(&'a str);

/// Nothing can go wrong but that raw values travel in another way some day.
#[derive(Debug, thiserror::Error)]
#[error("not a raw value")]
struct NotRaw;

impl Error for NotRaw {
    fn custom<Message: fmt::Display>(_: Message) -> Self {
        Self
    }
}

impl<'de> IntoDeserializer<'de, NotRaw> for Known<'de> {
    type Deserializer = BorrowedStrDeserializer<'de, NotRaw>;

    fn into_deserializer(self) -> Self::Deserializer {
        BorrowedStrDeserializer::new(self.0)
    }
}

impl<'de> Deserializer<'de> for Known<'de> {
    type Error = NotRaw;

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, NotRaw> {
        visitor.visit_map(MapDeserializer::new(std::iter::once((name, self))))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, NotRaw> {
        Err(NotRaw)
    }

    forward_to_deserialize_any! {
        bool u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64 char str string seq
        bytes byte_buf map struct option unit ignored_any
        unit_struct tuple_struct tuple enum identifier
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_the_value() {
        for json in ["1", r#"{"a":[1, 2]}"#, r#""x\n""#, "1e999"] {
            assert_eq!(raw_json(json).map(RawValue::get), Some(json));
        }
    }
}
