//! The arguments of a call as a JSON object, with its bytes unchanged.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::json::{bytes, from_wtf8};

/// The arguments of a call, or a part of them.
#[derive(Debug, Clone)]
pub(crate) enum Arguments<'a> {
    /// There are none, which the API allows.
    None,
    /// There are none, which the API does not allow.
    Missing,
    /// A JSON value.
    Json(&'a RawValue),
    /// JSON text, or a part of it; blank text counts as `{}`. A lone surrogate is three bytes.
    Text(Cow<'a, [u8]>),
}

/// Why a call is not complete or not usable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CutOff {
    /// The reply ended by its token limit inside of this call, or in the block before the end.
    #[error("the reply was cut off by its token limit (`{0}`) before the call was complete")]
    TokenLimit(String),
    /// The reply was stopped inside of this call, or in the block before the end, by a content
    /// filter, a refusal, or a failing server.
    #[error("the reply was stopped (`{0}`) before the call was complete")]
    Stopped(String),
    /// The stream ended before the call was complete.
    #[error("the stream ended before the call was complete")]
    EndOfStream,
    /// The arguments are not JSON.
    #[error("the arguments are not valid JSON: {0}")]
    Unparsable(String),
    /// The arguments are JSON, but not an object.
    #[error("the arguments are not a JSON object but {0}")]
    NotAnObject(&'static str),
    /// The call has no tool name.
    #[error("the call names no tool")]
    NoName,
}

impl<'a> Arguments<'a> {
    /// Arguments that are JSON text in a string, or a JSON value.
    pub(crate) fn of(raw: Option<&'a RawValue>) -> Self {
        match (raw, bytes(raw)) {
            (_, Some(text)) => Self::Text(text),
            (Some(json), None) => Self::Json(json),
            (None, None) => Self::None,
        }
    }

    /// Returns the arguments as an object.
    ///
    /// # Errors
    /// They are not an object.
    pub(crate) fn object(self) -> Result<Box<RawValue>, CutOff> {
        match self {
            Self::None => parse("{}".to_owned()),
            Self::Missing => Err(CutOff::NotAnObject("absent")),
            Self::Json(raw) => checked(raw.to_owned()),
            Self::Text(bytes) => match from_wtf8(bytes.into_owned()) {
                text if text.trim().is_empty() => parse("{}".to_owned()),
                text => parse(text),
            },
        }
    }
}

fn parse(text: String) -> Result<Box<RawValue>, CutOff> {
    RawValue::from_string(text)
        .map_err(|error| CutOff::Unparsable(error.to_string()))
        .and_then(checked)
}

fn checked(raw: Box<RawValue>) -> Result<Box<RawValue>, CutOff> {
    Err(CutOff::NotAnObject(match raw.get().as_bytes().first() {
        Some(b'{') => return Ok(raw),
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(arguments: Arguments<'_>) -> String {
        match arguments.object() {
            Ok(input) => input.get().to_owned(),
            Err(reason) => reason.to_string(),
        }
    }

    #[test]
    fn texts() {
        let rows = [
            ("", "{}"),
            (" \n", "{}"),
            (r#" {"a": 1} "#, r#"{"a": 1}"#),
            ("[]", "the arguments are not a JSON object but an array"),
            ("\"x\"", "the arguments are not a JSON object but a string"),
            ("null", "the arguments are not a JSON object but null"),
            ("-1", "the arguments are not a JSON object but a number"),
            ("true", "the arguments are not a JSON object but a boolean"),
            (
                r#"{"a":"#,
                "the arguments are not valid JSON: EOF while parsing a value at line 1 column 5",
            ),
            (
                "{}{}",
                "the arguments are not valid JSON: trailing characters at line 1 column 3",
            ),
        ];
        for (text, expected) in rows {
            let arguments = Arguments::Text(text.as_bytes().into());
            assert_eq!(object(arguments), expected, "{text}");
        }
        assert_eq!(object(Arguments::None), "{}");
        assert_eq!(
            object(Arguments::Missing),
            "the arguments are not a JSON object but absent"
        );
    }
}
