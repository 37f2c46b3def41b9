//! Checks arguments against a JSON Schema, with messages a model can act on.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

/// The most problems named in one message.
const MOST_PROBLEMS: usize = 10;

/// A compiled schema.
#[derive(Debug)]
pub(super) struct SchemaCheck {
    validator: Validator,
}

/// A schema that cannot be used; the text says why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a usable JSON Schema: {0}")]
pub(super) struct InvalidSchema(String);

impl SchemaCheck {
    /// Compiles a schema. References to other documents are never fetched.
    pub(super) fn new(schema: &Value) -> Result<Self, InvalidSchema> {
        jsonschema::validator_for(schema)
            .map(|validator| Self { validator })
            .map_err(|error| InvalidSchema(error.to_string()))
    }

    /// What is wrong with an input, one sentence each: missing parameters first, then unexpected
    /// ones, then the others in the order of the schema. Empty: nothing.
    pub(super) fn problems(&self, input: &Value) -> Vec<String> {
        let mut problems: Vec<Problem> = self
            .validator
            .iter_errors(input)
            .flat_map(|error| Problem::all_of(&error))
            .collect();
        problems.sort_by_key(Problem::rank);
        let mut sentences: Vec<String> = Vec::new();
        for sentence in problems.iter().map(Problem::sentence) {
            if !sentences.contains(&sentence) {
                sentences.push(sentence);
            }
        }
        if sentences.len() > MOST_PROBLEMS {
            let more = sentences.len() - MOST_PROBLEMS;
            sentences.truncate(MOST_PROBLEMS);
            sentences.push(format!("... and {more} more"));
        }
        sentences
    }
}

/// The message for the model.
pub(super) fn message(tool: &str, problems: &[String]) -> String {
    let issues = if problems.len() == 1 {
        "issue"
    } else {
        "issues"
    };
    format!(
        "{tool} failed due to the following {issues}:\n{}",
        problems.join("\n")
    )
}

/// One thing that is wrong; `at` is a path such as `todos[0].content`.
#[derive(Debug, PartialEq, Eq)]
enum Problem {
    Missing {
        at: String,
    },
    Unexpected {
        at: String,
    },
    WrongType {
        at: String,
        expected: String,
        provided: &'static str,
    },
    NotAllowed {
        at: String,
        allowed: String,
    },
    Other {
        at: String,
        reason: String,
    },
}

impl Problem {
    fn all_of(error: &ValidationError<'_>) -> Vec<Self> {
        let parent = path_of(error.instance_path());
        match error.kind() {
            ValidationErrorKind::Required { property } => vec![Self::Missing {
                at: member(&parent, property.as_str().unwrap_or_default()),
            }],
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => unexpected
                .iter()
                .map(|name| Self::Unexpected {
                    at: member(&parent, name),
                })
                .collect(),
            ValidationErrorKind::Type { kind } => vec![Self::WrongType {
                at: parent,
                expected: types_of(kind),
                provided: type_name(error.instance()),
            }],
            ValidationErrorKind::Enum { options } => vec![Self::NotAllowed {
                at: parent,
                allowed: options_of(options),
            }],
            ValidationErrorKind::Constant { expected_value } => vec![Self::NotAllowed {
                at: parent,
                allowed: format!("`{expected_value}`"),
            }],
            // The library's own words, without the value: it may be large.
            _ => vec![Self::Other {
                at: parent,
                reason: error.masked_with("the value").to_string(),
            }],
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Missing { .. } => 0,
            Self::Unexpected { .. } => 1,
            Self::WrongType { .. } | Self::NotAllowed { .. } | Self::Other { .. } => 2,
        }
    }

    fn sentence(&self) -> String {
        match self {
            Self::Missing { at } => format!("The required parameter `{at}` is missing"),
            Self::Unexpected { at } => format!("An unexpected parameter `{at}` was provided"),
            Self::WrongType {
                at,
                expected,
                provided,
            } => format!(
                "The parameter `{at}` type is expected as `{expected}` but provided as `{provided}`"
            ),
            Self::NotAllowed { at, allowed } => {
                format!("The parameter `{at}` must be one of {allowed}")
            }
            Self::Other { at, reason } if at.is_empty() => format!("The input is wrong: {reason}"),
            Self::Other { at, reason } => format!("The parameter `{at}` is wrong: {reason}"),
        }
    }
}

fn path_of(location: &Location) -> String {
    let mut path = String::new();
    for segment in location {
        match segment {
            LocationSegment::Property(name) => path = member(&path, &name),
            LocationSegment::Index(index) => path = format!("{path}[{index}]"),
        }
    }
    path
}

fn member(parent: &str, name: &str) -> String {
    if parent.is_empty() {
        name.to_owned()
    } else {
        format!("{parent}.{name}")
    }
}

fn types_of(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(single) => single.to_string(),
        TypeKind::Multiple(several) => several
            .iter()
            .map(|single| single.to_string())
            .collect::<Vec<_>>()
            .join("` or `"),
    }
}

fn options_of(options: &Value) -> String {
    options
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
        .iter()
        .map(|option| match option {
            Value::String(text) => format!("`{text}`"),
            other => format!("`{other}`"),
        })
        .collect::<Vec<_>>()
        .join(", ")
}

/// The name of a value's JSON type.
fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "command": {"type": "string"},
                "timeout": {"type": "number", "exclusiveMinimum": 0},
                "mode": {"enum": ["content", "count"]},
                "either": {"type": ["string", "null"]},
                "todos": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"content": {"type": "string", "minLength": 1}},
                        "required": ["content"],
                        "additionalProperties": false
                    }
                }
            },
            "required": ["command"],
            "additionalProperties": false
        })
    }

    #[test]
    fn every_kind_of_problem_has_its_sentence() {
        let check = SchemaCheck::new(&schema()).unwrap();
        let rows = [
            (json!({"command": "ls"}), vec![]),
            (
                json!({}),
                vec!["The required parameter `command` is missing"],
            ),
            (
                json!({"cmd": "ls", "timeout": "5"}),
                vec![
                    "The required parameter `command` is missing",
                    "An unexpected parameter `cmd` was provided",
                    "The parameter `timeout` type is expected as `number` but provided as `string`",
                ],
            ),
            (
                json!({"command": 3}),
                vec![
                    "The parameter `command` type is expected as `string` but provided as `number`",
                ],
            ),
            (
                json!({"command": "", "either": 1}),
                vec![
                    "The parameter `either` type is expected as `null` or `string` but provided as `number`",
                ],
            ),
            (
                json!({"command": "", "mode": "x"}),
                vec!["The parameter `mode` must be one of `content`, `count`"],
            ),
            (
                json!({"command": "", "timeout": 0}),
                vec![
                    "The parameter `timeout` is wrong: the value is less than or equal to the minimum of 0",
                ],
            ),
            (
                json!({"command": "", "todos": [{"content": "a"}, {"id": 1}]}),
                vec![
                    "The required parameter `todos[1].content` is missing",
                    "An unexpected parameter `todos[1].id` was provided",
                ],
            ),
        ];
        for (input, expected) in rows {
            assert_eq!(check.problems(&input), expected, "{input}");
        }
    }

    #[test]
    fn the_list_of_problems_is_bounded() {
        let check = SchemaCheck::new(&schema()).unwrap();
        let input: Value = (0..40)
            .map(|number| (format!("field{number}"), Value::Null))
            .collect();
        let problems = check.problems(&input);
        assert_eq!(problems.len(), MOST_PROBLEMS + 1);
        assert_eq!(problems.last().unwrap(), "... and 31 more");
    }

    #[test]
    fn large_values_are_not_repeated() {
        let check = SchemaCheck::new(&json!({"properties": {"a": {"maxLength": 3}}})).unwrap();
        let problems = check.problems(&json!({"a": "x".repeat(100_000)}));
        assert!(problems[0].len() < 200, "{problems:?}");
    }

    #[test]
    fn one_issue_or_several() {
        assert_eq!(
            message("Read", &["A".to_owned()]),
            "Read failed due to the following issue:\nA"
        );
        assert_eq!(
            message("Read", &["A".to_owned(), "B".to_owned()]),
            "Read failed due to the following issues:\nA\nB"
        );
    }

    #[test]
    fn an_invalid_schema_is_refused() {
        assert!(SchemaCheck::new(&json!({"type": "strung"})).is_err());
    }
}
