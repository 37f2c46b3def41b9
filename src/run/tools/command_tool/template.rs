//! Arguments with fields of the input: `--depth={depth}`.
//!
//! An argument stays a single argument for every input: it is not split, expanded or quoted, and
//! no shell is used. `{{` and `}}` are literal braces.

use std::fmt;

use serde_json::Value;

use crate::json::text_or_json;
use crate::run::tools::Input;

/// A parsed argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template {
    parts: Vec<Segment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Literal(String),
    Field(String),
}

/// The reason why a text is not a valid template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum TemplateError {
    /// `{` without a name and `}` after it.
    #[error("`{{` is not followed by a field name (write `{{{{` for a brace)")]
    Open,
    /// `}` without `{` before it.
    #[error("`}}` is not after a field name (write `}}}}` for a brace)")]
    Close,
}

impl Template {
    pub(super) fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '{' if characters.next_if_eq(&'{').is_some() => literal.push('{'),
                '}' if characters.next_if_eq(&'}').is_some() => literal.push('}'),
                '{' => {
                    let mut name = String::new();
                    loop {
                        match characters.next() {
                            Some('}') => break,
                            Some('{') | None => return Err(TemplateError::Open),
                            Some(other) => name.push(other),
                        }
                    }
                    if name.is_empty() {
                        return Err(TemplateError::Open);
                    }
                    if !literal.is_empty() {
                        parts.push(Segment::Literal(std::mem::take(&mut literal)));
                    }
                    parts.push(Segment::Field(name));
                }
                '}' => return Err(TemplateError::Close),
                other => literal.push(other),
            }
        }
        if !literal.is_empty() {
            parts.push(Segment::Literal(literal));
        }
        Ok(Self { parts })
    }

    /// Returns the fields that it uses.
    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Segment::Literal(_) => None,
            Segment::Field(name) => Some(name.as_str()),
        })
    }

    /// Returns the text if it uses no field.
    pub(super) fn as_literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Segment::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the field if it is the whole template.
    pub(super) fn as_field(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Segment::Field(name)] => Some(name),
            _ => None,
        }
    }

    /// Returns the argument for an input. `None` if the template is a single field that is missing from the input (or
    /// null): the argument is then omitted. In a longer argument, such a field is empty.
    pub(super) fn expand(&self, input: &Input) -> Option<String> {
        if let Some(name) = self.as_field() {
            return input_value(input, name).map(text_or_json);
        }
        Some(
            self.parts
                .iter()
                .map(|part| match part {
                    Segment::Literal(text) => text.clone(),
                    Segment::Field(name) => input_value(input, name)
                        .map(text_or_json)
                        .unwrap_or_default(),
                })
                .collect(),
        )
    }
}

/// Formats the template as it was written.
impl fmt::Display for Template {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            Segment::Literal(text) => {
                formatter.write_str(&text.replace('{', "{{").replace('}', "}}"))
            }
            Segment::Field(name) => write!(formatter, "{{{name}}}"),
        })
    }
}

/// Returns a field that is present and not null.
pub(super) fn input_value<'a>(input: &'a Input, name: &str) -> Option<&'a Value> {
    input.get(name).filter(|value| !value.is_null())
}

#[cfg(test)]
mod tests {

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn input(value: &Value) -> Input {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn fields_become_text() {
        let input = input(&json!({
            "text": "a b; $(rm x) {other}", "count": 3, "ratio": 1.5, "flag": true, "none": null,
            "list": ["a", {"b": 1}]
        }));
        let rows = [
            ("plain", Some("plain")),
            ("", Some("")),
            ("{text}", Some("a b; $(rm x) {other}")),
            ("--n={count}", Some("--n=3")),
            ("{count}{ratio}{flag}", Some("31.5true")),
            ("{list}", Some("[\"a\",{\"b\":1}]")),
            ("{missing}", None),
            ("{none}", None),
            ("x{missing}y{none}", Some("xy")),
            ("{{text}}", Some("{text}")),
            ("{{{count}}}", Some("{3}")),
        ];
        for (template, expected) in rows {
            let template = Template::parse(template).unwrap();
            assert_eq!(template.expand(&input).as_deref(), expected, "{template}");
        }
    }

    #[test]
    fn stray_braces_are_errors() {
        for text in ["{", "{}", "a{b", "{a{b}}"] {
            assert_eq!(Template::parse(text), Err(TemplateError::Open), "{text}");
        }
        for text in ["}", "a}b", "{a}}"] {
            assert_eq!(Template::parse(text), Err(TemplateError::Close), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_written_as_a_literal(text in ".{0,30}") {
            let template = Template { parts: vec![Segment::Literal(text.clone())] };
            let parsed = Template::parse(&template.to_string()).unwrap();
            prop_assert_eq!(parsed.as_literal(), Some(text.as_str()));
        }

        #[test]
        fn values_are_not_expanded_again(value in ".{0,30}", before in "[^{}]{1,8}") {
            let input = input(&json!({"field": value.clone()}));
            let template = Template::parse(&format!("{before}{{field}}{before}")).unwrap();
            prop_assert_eq!(template.expand(&input), Some(format!("{before}{value}{before}")));
        }

        #[test]
        fn parsed_templates_are_written_unchanged(text in "[a-c{}]{0,12}") {
            if let Ok(template) = Template::parse(&text) {
                prop_assert_eq!(template.to_string(), text);
            }
        }
    }
}
