//! The arguments of a call as a JSON object, with its bytes unchanged.

use serde_json::value::RawValue;

use super::{CutOff, ToolCall};
use crate::message::ToolUseId;

/// The arguments of a call, possibly incomplete.
#[derive(Debug, Clone)]
pub(super) enum Arguments<'a> {
    /// The dialect leaves the arguments out where there are none.
    None,
    /// The arguments had to be there and are not.
    Missing,
    /// A JSON value.
    Json(&'a RawValue),
    /// Text that should hold a JSON object; blank text counts as `{}`.
    Text(String),
}

impl Arguments<'_> {
    /// The arguments as an object, or why they are not one.
    pub(super) fn object(self) -> Result<Box<RawValue>, CutOff> {
        match self {
            Self::None => parse("{}".to_owned()),
            Self::Missing => Err(CutOff::NotAnObject("absent")),
            Self::Json(raw) => checked(raw.to_owned()),
            Self::Text(text) if text.trim().is_empty() => parse("{}".to_owned()),
            Self::Text(text) => parse(text),
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

impl ToolCall {
    /// A call with all the arguments that came. The message, and an id that is missing, are filled in
    /// when the call is emitted.
    pub(super) fn seen(id: Option<&str>, name: &str, arguments: Arguments<'_>) -> Self {
        Self {
            id: ToolUseId::from(id.unwrap_or_default()),
            name: name.to_owned(),
            input: match name {
                "" => Err(CutOff::NoName),
                _ => arguments.object(),
            },
            message: None,
        }
    }

    /// The same call, which turned out to be cut off.
    pub(super) fn cut_off(self, reason: CutOff) -> Self {
        Self {
            input: Err(reason),
            ..self
        }
    }

    /// Name and input. The same input may be spelled with other blanks.
    pub(super) fn content(&self) -> (&str, String) {
        let input = self.input.as_ref().map_or("", |input| input.get());
        let parsed = serde_json::from_str::<serde_json::Value>(input);
        let input = parsed.map_or_else(|_| input.to_owned(), |input| input.to_string());
        (&self.name, input)
    }
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
            assert_eq!(object(Arguments::Text(text.to_owned())), expected, "{text}");
        }
        assert_eq!(object(Arguments::None), "{}");
        assert_eq!(
            object(Arguments::Missing),
            "the arguments are not a JSON object but absent"
        );
    }
}
