//! Lines that are texts: JSON strings, objects with a text, or raw text.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;

use crate::json::replace_lone_surrogates;

/// The form of input lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextLineForm {
    /// A JSON string, or an object with the text in this field.
    Json {
        /// The field's name.
        field: &'static str,
        /// Further fields of the object to read.
        context: LineContext,
    },
    /// Any JSON; the whole line is the text. It is not checked.
    AnyJson,
    /// The line is the text.
    Plain,
}

/// Fields of an object line to read in addition to its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineContext {
    /// No further fields.
    Ignored,
    /// The directory, `cwd`.
    Directory,
}

/// A usable line.
#[derive(Debug, PartialEq, Eq)]
pub struct TextLine {
    /// The text.
    pub text: String,
    /// The line's `cwd`.
    pub directory: Option<String>,
    /// Whether invalid UTF-8 was replaced by U+FFFD.
    pub had_invalid_utf8: bool,
}

/// Parses a line.
///
/// # Errors
/// The reason why the line is unusable.
pub fn parse_text_line(line: &[u8], form: TextLineForm) -> Result<TextLine, String> {
    let decoded = String::from_utf8_lossy(line);
    let had_invalid_utf8 = matches!(decoded, Cow::Owned(_));
    let without_lone_surrogates =
        || replace_lone_surrogates(&decoded).unwrap_or_else(|| (*decoded).to_owned());
    let (text, directory) = match form {
        TextLineForm::Plain => (decoded.into_owned(), None),
        TextLineForm::AnyJson => (without_lone_surrogates(), None),
        TextLineForm::Json { field, context } => {
            parse_json_line(&without_lone_surrogates(), field, context)?
        }
    };
    Ok(TextLine {
        text,
        directory,
        had_invalid_utf8,
    })
}

fn parse_json_line(
    json: &str,
    field: &str,
    context: LineContext,
) -> Result<(String, Option<String>), String> {
    let value: &RawValue = parse(json)?;
    match value.get().as_bytes().first() {
        Some(b'"') => Ok((parse(value.get())?, None)),
        Some(b'{') => {
            // The last of several fields with the same name counts; the others are not parsed.
            let fields: HashMap<String, &RawValue> = parse(value.get())?;
            let text = string_field(&fields, field)?
                .ok_or_else(|| format!("the object has no `{field}`"))?;
            let directory = match context {
                LineContext::Directory => string_field(&fields, "cwd")?,
                LineContext::Ignored => None,
            };
            Ok((text, directory))
        }
        _ => Err(format!(
            "expected a string or an object with a string `{field}`, found {}",
            kind_of(value)
        )),
    }
}

fn string_field(fields: &HashMap<String, &RawValue>, name: &str) -> Result<Option<String>, String> {
    match fields.get(name) {
        None => Ok(None),
        Some(value) if value.get().starts_with('"') => parse(value.get()).map(Some),
        Some(value) => Err(format!("`{name}` is not a string but {}", kind_of(value))),
    }
}

fn parse<'a, Value: serde::Deserialize<'a>>(json: &'a str) -> Result<Value, String> {
    serde_json::from_str(json)
        .map_err(|error| format!("not JSON: {}", describe_without_line(&error)))
}

/// Returns the error without its line number, which is always 1.
pub fn describe_without_line(error: &serde_json::Error) -> String {
    error.to_string().replace("at line 1 column", "at column")
}

fn kind_of(value: &RawValue) -> &'static str {
    match value.get().as_bytes().first() {
        Some(b'n') => "null",
        Some(b't' | b'f') => "a boolean",
        Some(b'[') => "an array",
        Some(b'{') => "an object",
        Some(b'"') => "a string",
        _ => "a number",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const JSON: TextLineForm = TextLineForm::Json {
        field: "text",
        context: LineContext::Ignored,
    };

    fn text(line: &str) -> Result<String, String> {
        parse_text_line(line.as_bytes(), JSON).map(|checked| checked.text)
    }

    #[test]
    fn strings_and_objects_with_a_text_are_usable() {
        let table = [
            (r#""a""#, "a"),
            (r#" "a" "#, "a"),
            (r#""""#, ""),
            (r#"{"text":"a"}"#, "a"),
            (r#"{"te\u0078t":"a","n":1e999,"deep":[[[]]]}"#, "a"),
            (r#"{"text":1,"text":"last"}"#, "last"),
            (r#""\ud83d""#, "\u{fffd}"),
            (r#"{"text":"\ude00","other":"\ud83d"}"#, "\u{fffd}"),
        ];
        for (line, expected) in table {
            assert_eq!(text(line).as_deref(), Ok(expected), "{line}");
        }
    }

    #[test]
    fn other_lines_say_why_they_are_unusable() {
        let table = [
            ("", "not JSON"),
            ("plain", "not JSON"),
            (r#""open"#, "not JSON"),
            (r#""a" "b""#, "not JSON"),
            ("null", "found null"),
            ("1", "found a number"),
            ("-1", "found a number"),
            ("true", "found a boolean"),
            (r#"["a"]"#, "found an array"),
            ("{}", "the object has no `text`"),
            (r#"{"text":null}"#, "`text` is not a string but null"),
            (r#"{"text":["a"]}"#, "`text` is not a string but an array"),
        ];
        for (line, reason) in table {
            let error = text(line).unwrap_err();
            assert!(error.contains(reason), "{line}: {error}");
            assert!(!error.contains('\n'), "{line}: {error}");
        }
    }

    #[test]
    fn a_plain_line_is_its_own_text() {
        let checked = parse_text_line(b"\"a\" \\ud83d", TextLineForm::Plain);
        let text = "\"a\" \\ud83d".to_owned();
        assert_eq!(
            checked,
            Ok(TextLine {
                directory: None,
                text,
                had_invalid_utf8: false
            })
        );
    }

    #[test]
    fn invalid_utf_8_is_repaired_and_reported() {
        for form in [JSON, TextLineForm::Plain] {
            let checked = parse_text_line(b"\"a\xff\"", form).unwrap();
            assert!(checked.had_invalid_utf8 && checked.text.contains("a\u{fffd}"));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_accepted(line in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = parse_text_line(&line, JSON);
            prop_assert!(parse_text_line(&line, TextLineForm::Plain).is_ok());
        }

        #[test]
        fn every_json_string_is_read(asked in any::<String>()) {
            let line = serde_json::to_string(&asked).unwrap();
            prop_assert_eq!(text(&line), Ok(asked));
        }
    }
}
