//! Converts JSON Schema to the subset of `OpenAPI` that Gemini accepts for `parameters`.
//!
//! Keywords outside the subset are omitted. Calls are still checked against the full schema.

use serde_json::{Map, Value};

/// Keywords with the same meaning in both.
const COMMON_KEYWORDS: &str = "title description default format pattern minLength maxLength minimum \
    maximum minItems maxItems minProperties maxProperties required";

/// Accepted formats. Others make the API reject the whole request.
const FORMATS: &[&str] = &["enum", "date-time", "int32", "int64", "float", "double"];

/// Converts an object schema.
pub(crate) fn convert_schema(schema: &Value) -> Value {
    let mut converter = Converter {
        root: schema,
        open_references: vec!["#"],
    };
    Value::Object(converter.convert(schema))
}

struct Converter<'a> {
    root: &'a Value,
    /// References whose targets are being converted.
    open_references: Vec<&'a str>,
}

impl<'a> Converter<'a> {
    fn convert(&mut self, schema: &'a Value) -> Map<String, Value> {
        let mut converted = Map::new();
        let Some(schema) = schema.as_object() else {
            // `true` and `false` have no equivalent.
            return converted;
        };
        if let Some((reference, target)) = self.resolve_reference(schema) {
            self.open_references.push(reference);
            converted = self.convert(target);
            self.open_references.pop();
        }
        for part in list_schemas(schema, "allOf") {
            merge(&mut converted, self.convert(part));
        }
        self.convert_type(schema, &mut converted);
        for keyword in COMMON_KEYWORDS.split(' ') {
            if let Some(value) = schema.get(keyword) {
                converted.insert(keyword.to_owned(), value.clone());
            }
        }
        let format = converted.get("format").and_then(Value::as_str);
        if format.is_some_and(|format| !FORMATS.contains(&format)) {
            converted.shift_remove("format");
        }
        self.convert_members(schema, &mut converted);
        converted
    }

    /// Converts `type`, `nullable`, `enum` and `const`.
    fn convert_type(&mut self, schema: &'a Map<String, Value>, converted: &mut Map<String, Value>) {
        let types: Vec<&str> = match schema.get("type") {
            Some(Value::String(single)) => vec![single],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let (nulls, others): (Vec<&Value>, Vec<&Value>) = list_schemas(schema, "anyOf")
            .chain(list_schemas(schema, "oneOf"))
            .partition(|alternative| is_null(alternative));
        let admits_null = types.contains(&"null") || !nulls.is_empty();
        let mut alternatives: Vec<Map<String, Value>> = others
            .into_iter()
            .map(|alternative| self.convert(alternative))
            .collect();
        let named: Vec<&str> = types.into_iter().filter(|name| *name != "null").collect();
        match named.as_slice() {
            [] => {}
            [single] => {
                converted.insert("type".to_owned(), single.to_uppercase().into());
            }
            several if alternatives.is_empty() => {
                alternatives = several
                    .iter()
                    .map(|name| Map::from_iter([("type".to_owned(), name.to_uppercase().into())]))
                    .collect();
            }
            _ => {}
        }
        match alternatives.len() {
            0 => {}
            1 => merge(converted, alternatives.remove(0)),
            _ => {
                let alternatives = alternatives.into_iter().map(Value::Object).collect();
                converted.insert("anyOf".to_owned(), Value::Array(alternatives));
            }
        }
        if admits_null {
            converted.insert("nullable".to_owned(), true.into());
        }
        // Only strings can be enumerated.
        let options: Vec<Value> = list_schemas(schema, "enum")
            .chain(schema.get("const"))
            .filter(|option| option.is_string())
            .cloned()
            .collect();
        if !options.is_empty() {
            converted.entry("type").or_insert_with(|| "STRING".into());
            converted.insert("enum".to_owned(), options.into());
        }
    }

    /// Converts `properties` and `items`.
    fn convert_members(
        &mut self,
        schema: &'a Map<String, Value>,
        converted: &mut Map<String, Value>,
    ) {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object)
            && !properties.is_empty()
        {
            let properties: Map<String, Value> = properties
                .iter()
                .map(|(name, property)| (name.clone(), self.convert(property).into()))
                .collect();
            converted.insert("properties".to_owned(), properties.into());
        }
        if let Some(items) = schema.get("items") {
            converted.insert("items".to_owned(), self.convert(items).into());
        }
    }

    /// Returns the target of a reference, or `None` if it is already being converted, because the schema is
    /// recursive.
    fn resolve_reference(&self, schema: &'a Map<String, Value>) -> Option<(&'a str, &'a Value)> {
        let reference = schema.get("$ref")?.as_str()?;
        if self.open_references.contains(&reference) {
            return None;
        }
        let target = self.root.pointer(reference.strip_prefix('#')?)?;
        Some((reference, target))
    }
}

fn list_schemas<'a>(
    schema: &'a Map<String, Value>,
    keyword: &str,
) -> impl Iterator<Item = &'a Value> + use<'a> {
    schema
        .get(keyword)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null")
}

/// Adds missing keys; joins properties and required names.
fn merge(into: &mut Map<String, Value>, from: Map<String, Value>) {
    for (keyword, value) in from {
        match (into.get_mut(&keyword), value) {
            (Some(Value::Object(existing)), Value::Object(added)) => existing.extend(added),
            (Some(Value::Array(existing)), Value::Array(added)) if keyword == "required" => {
                existing.extend(added);
            }
            (Some(_), _) => {}
            (None, value) => {
                into.insert(keyword, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unsupported_keywords_are_omitted() {
        let rows = [
            (
                json!({
                    "$schema": "https://json-schema.org/draft/2020-12/schema",
                    "type": "object",
                    "properties": {
                        "a": {"type": "string", "format": "uri"},
                        "n": {"type": ["integer", "null"], "exclusiveMinimum": 0},
                        "m": {"type": ["string", "number"]},
                        "e": {"enum": ["x", "y", null]},
                        "c": {"const": "z"},
                        "l": {"type": "array", "items": {"$ref": "#/$defs/item"}}
                    },
                    "required": ["a"],
                    "additionalProperties": false,
                    "$defs": {"item": {"type": "object", "properties": {"b": {"type": "boolean"}}}}
                }),
                json!({
                    "type": "OBJECT",
                    "required": ["a"],
                    "properties": {
                        "a": {"type": "STRING"},
                        "n": {"type": "INTEGER", "nullable": true},
                        "m": {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}]},
                        "e": {"type": "STRING", "enum": ["x", "y"]},
                        "c": {"type": "STRING", "enum": ["z"]},
                        "l": {"type": "ARRAY", "items": {"type": "OBJECT", "properties": {"b": {"type": "BOOLEAN"}}}}
                    }
                }),
            ),
            (
                json!({"type": ["string", "number"], "anyOf": [{"enum": ["a"]}, {"type": "number"}]}),
                json!({"anyOf": [{"type": "STRING", "enum": ["a"]}, {"type": "NUMBER"}]}),
            ),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
                json!({"type": "STRING", "nullable": true}),
            ),
            (
                json!({"oneOf": [{"type": "string"}, {"type": "array", "items": {}}]}),
                json!({"anyOf": [{"type": "STRING"}, {"type": "ARRAY", "items": {}}]}),
            ),
            (
                json!({"allOf": [
                    {"type": "object", "properties": {"a": {}}, "required": ["a"]},
                    {"properties": {"b": {}}, "required": ["b"]}
                ]}),
                json!({"type": "OBJECT", "properties": {"a": {}, "b": {}}, "required": ["a", "b"]}),
            ),
        ];
        for (schema, expected) in rows {
            assert_eq!(convert_schema(&schema), expected);
        }
    }

    #[test]
    fn a_recursive_schema_is_converted() {
        let schema = json!({
            "type": "object",
            "properties": {"self": {"$ref": "#"}, "tree": {"$ref": "#/$defs/tree"}},
            "$defs": {"tree": {
                "type": "object",
                "properties": {"left": {"$ref": "#/$defs/tree"}, "right": {"$ref": "#/$defs/tree"}}
            }}
        });
        assert_eq!(
            convert_schema(&schema),
            json!({"type": "OBJECT", "properties": {
                "self": {},
                "tree": {"type": "OBJECT", "properties": {"left": {}, "right": {}}}
            }})
        );
    }
}
