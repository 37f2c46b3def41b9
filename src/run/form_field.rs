//! A field of a form that the user fills in: its label, and the value of a typed line.

use serde_json::{Map, Value};

use crate::text::terminal_safe_line;

/// A field.
pub(super) struct FormField<'a> {
    pub(super) name: &'a str,
    /// Its JSON Schema.
    schema: &'a Value,
    is_required: bool,
}

impl<'a> FormField<'a> {
    /// Returns the fields of a form with this schema.
    pub(super) fn parse_schema(schema: &'a Map<String, Value>) -> impl Iterator<Item = Self> {
        let required = schema.get("required").and_then(Value::as_array);
        let properties = schema.get("properties").and_then(Value::as_object);
        properties
            .into_iter()
            .flatten()
            .map(move |(name, schema)| Self {
                name,
                schema,
                is_required: required.is_some_and(|names| names.iter().any(|known| known == name)),
            })
    }

    /// Returns the prompt: the title, and the expected value.
    pub(super) fn label(&self) -> String {
        let title = self.schema["title"].as_str().unwrap_or(self.name);
        let description = self.schema["description"].as_str().map(str::to_owned);
        let choices = self.choices();
        let kind = match self.schema["type"].as_str() {
            Some("array") => Some(format!("some of {}", choices.join(", "))),
            _ if !choices.is_empty() => Some(format!("one of {}", choices.join(", "))),
            Some("boolean") => Some("yes or no".to_owned()),
            Some(kind @ ("integer" | "number")) => Some(kind.to_owned()),
            _ => None,
        };
        let default = self
            .schema
            .get("default")
            .map(|value| format!("default {value}"));
        let optional = (!self.is_required && default.is_none()).then(|| "optional".to_owned());
        let facts = [description, kind, default, optional].into_iter().flatten();
        let note = match &*facts.collect::<Vec<_>>().join("; ") {
            "" => String::new(),
            facts => format!(" ({facts})"),
        };
        terminal_safe_line(&format!("{title}{note}:")) + " "
    }

    /// Returns the value of a typed line; `None` if the field stays empty. The error says what is expected.
    pub(super) fn parse(&self, line: &str) -> Result<Option<Value>, String> {
        if line.is_empty() {
            return match self.schema.get("default") {
                None if self.is_required => Err("a value is needed".to_owned()),
                default => Ok(default.cloned()),
            };
        }
        let choices = self.choices();
        let parse_choice = |word: &str| {
            let is_open = choices.is_empty() || choices.contains(&word);
            let expected = || format!("expected one of {}", choices.join(", "));
            is_open.then(|| Value::from(word)).ok_or_else(expected)
        };
        let value = match self.schema["type"].as_str() {
            Some("array") => line
                .split(',')
                .map(|word| parse_choice(word.trim()))
                .collect(),
            Some("boolean") => match line {
                "y" | "yes" | "true" => Ok(true.into()),
                "n" | "no" | "false" => Ok(false.into()),
                _ => Err("expected yes or no".to_owned()),
            },
            Some("integer") => {
                let number = line.parse::<i64>().map(Value::from);
                number.map_err(|_| "expected an integer".to_owned())
            }
            Some("number") => {
                let number = line.parse().ok().and_then(serde_json::Number::from_f64);
                number
                    .map(Value::Number)
                    .ok_or_else(|| "expected a number".to_owned())
            }
            _ => parse_choice(line),
        };
        value.map(Some)
    }

    /// Returns the values to choose from.
    fn choices(&self) -> Vec<&'a str> {
        let schema = match self.schema.get("items") {
            Some(items) => items,
            None => self.schema,
        };
        let elements = |name: &str| schema[name].as_array().into_iter().flatten();
        let titled = elements("oneOf")
            .chain(elements("anyOf"))
            .map(|choice| &choice["const"]);
        elements("enum")
            .chain(titled)
            .filter_map(Value::as_str)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_typed_line_becomes_a_value_of_the_type_of_its_field() {
        // The schema, whether it is required, a line, and its value or what is expected.
        let table = [
            (
                json!({"type": "string"}),
                true,
                "a b",
                Ok(Some(json!("a b"))),
            ),
            (
                json!({"type": "string"}),
                true,
                "",
                Err("a value is needed"),
            ),
            (json!({"type": "string"}), false, "", Ok(None)),
            (
                json!({"type": "string", "default": "x"}),
                true,
                "",
                Ok(Some(json!("x"))),
            ),
            (json!({"type": "integer"}), true, "7", Ok(Some(json!(7)))),
            (
                json!({"type": "integer"}),
                true,
                "7.5",
                Err("expected an integer"),
            ),
            (json!({"type": "number"}), true, "7.5", Ok(Some(json!(7.5)))),
            (
                json!({"type": "number"}),
                true,
                "NaN",
                Err("expected a number"),
            ),
            (json!({"type": "boolean"}), true, "y", Ok(Some(json!(true)))),
            (
                json!({"type": "boolean"}),
                true,
                "x",
                Err("expected yes or no"),
            ),
            (
                json!({"type": "string", "enum": ["a", "b"]}),
                true,
                "b",
                Ok(Some(json!("b"))),
            ),
            (
                json!({"type": "string", "enum": ["a", "b"]}),
                true,
                "c",
                Err("expected one of a, b"),
            ),
            (
                json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}),
                true,
                "a",
                Ok(Some(json!("a"))),
            ),
            (
                json!({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}),
                true,
                "b, a",
                Ok(Some(json!(["b", "a"]))),
            ),
        ];
        for (schema, is_required, line, expected) in table {
            let field = FormField {
                name: "f",
                schema: &schema,
                is_required,
            };
            let value = field.parse(line);
            assert_eq!(value, expected.map_err(str::to_owned), "{schema}: {line}");
        }
    }
}
