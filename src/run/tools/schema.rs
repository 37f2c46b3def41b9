//! Checks arguments against a JSON Schema, with messages for models.

use std::fmt;

use boon::{
    CompileError, Compiler, ErrorKind, Format, InstanceToken, SchemaIndex, Schemas,
    SchemeUrlLoader, ValidationError,
};
use serde_json::{Number, Value};

/// Maximum number of problems in a message.
const MAX_PROBLEMS: usize = 10;

/// The URL under which a schema is compiled.
const ADDRESS: &str = "json-schema:///";

/// A compiled schema.
pub(crate) struct SchemaCheck {
    schemas: Schemas,
    index: SchemaIndex,
}

/// An invalid schema, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a usable JSON Schema: {0}")]
pub(crate) struct InvalidSchema(String);

impl From<CompileError> for InvalidSchema {
    fn from(error: CompileError) -> Self {
        let lines = format!("{error:#}");
        Self(lines.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

impl From<serde_json::Error> for InvalidSchema {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

impl SchemaCheck {
    /// Compiles a schema. References to other documents are not resolved.
    pub(crate) fn new(schema: &Value) -> Result<Self, InvalidSchema> {
        let mut compiler = Compiler::new();
        compiler.use_loader(Box::new(SchemeUrlLoader::new()));
        // Drafts with format checks do not define these formats.
        for name in ["duration", "period", "uuid"] {
            let func = |_: &Value| Ok(());
            compiler.register_format(Format { name, func });
        }
        compiler.add_resource(ADDRESS, schema.clone())?;
        let mut schemas = Schemas::new();
        let index = compiler.compile(ADDRESS, &mut schemas)?;
        Ok(Self { schemas, index })
    }

    /// Returns the problems of an input, one sentence each: missing parameters, then unexpected ones, then
    /// others in the order of their paths.
    pub(crate) fn problems(&self, input: &Value) -> Vec<String> {
        let Err(error) = self.schemas.validate(input, self.index) else {
            return Vec::new();
        };
        let mut errors = collect_leaves(&error);
        // The library returns some of them in random order.
        errors.sort_by_cached_key(|error| path_key(error));
        let mut problems: Vec<_> = errors.into_iter().flat_map(describe).collect();
        problems.sort_by(|(first, _), (second, _)| first.cmp(second));
        let mut sentences: Vec<String> = Vec::new();
        for (_, sentence) in problems {
            if !sentences.contains(&sentence) {
                sentences.push(sentence);
            }
        }
        if sentences.len() > MAX_PROBLEMS {
            let more = sentences.len() - MAX_PROBLEMS;
            sentences.truncate(MAX_PROBLEMS);
            sentences.push(format!("... and {more} more"));
        }
        sentences
    }
}

/// Checks that a tool can be declared with this schema of its arguments.
///
/// # Errors
/// The reason why it cannot.
pub(crate) fn check_input_schema(schema: &Value) -> Result<(), String> {
    if schema["type"] != "object" {
        return Err("must have the type \"object\"".to_owned());
    }
    let check = SchemaCheck::new(schema);
    check.map(drop).map_err(|error| error.to_string())
}

/// Returns the message for the model.
pub(super) fn format_problems(tool: &str, problems: &[String]) -> String {
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

/// The order in a message.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Missing,
    Unexpected,
    Other,
}

/// Returns the sentences for an error.
fn describe(error: &ValidationError<'_, '_>) -> Vec<(Rank, String)> {
    let at = path_of(error);
    let missing = |name| format!("The required parameter `{}` is missing", member(&at, name));
    let unexpected = |at: &str| format!("An unexpected parameter `{at}` was provided");
    let sentence = match &error.kind {
        ErrorKind::Required { want: names }
        | ErrorKind::Dependency { missing: names, .. }
        | ErrorKind::DependentRequired { missing: names, .. } => {
            let sentences = names.iter().map(|name| (Rank::Missing, missing(name)));
            return sentences.collect();
        }
        ErrorKind::AdditionalProperties { got } => {
            let names = got.iter().map(|name| member(&at, name));
            return names
                .map(|at| (Rank::Unexpected, unexpected(&at)))
                .collect();
        }
        ErrorKind::FalseSchema if error.schema_url.ends_with("/unevaluatedProperties") => {
            return vec![(Rank::Unexpected, unexpected(&at))];
        }
        ErrorKind::MultipleOf { got, want } if is_multiple(got, want) => return Vec::new(),
        kind if at.is_empty() => format!("The input is wrong: {}", describe_kind(kind)),
        ErrorKind::Type { got, want } => format!(
            "The parameter `{at}` type is expected as `{}` but provided as `{got}`",
            join(want.iter(), "` or `")
        ),
        ErrorKind::Enum { want } => format!(
            "The parameter `{at}` must be one of {}",
            join(want.iter().map(quote), ", ")
        ),
        ErrorKind::Const { want } => format!("The parameter `{at}` must be one of `{want}`"),
        kind => format!("The parameter `{at}` is wrong: {}", describe_kind(kind)),
    };
    vec![(Rank::Other, sentence)]
}

/// Collects the errors that have no nested errors.
fn collect_leaves<'e, 's, 'v>(
    error: &'e ValidationError<'s, 'v>,
) -> Vec<&'e ValidationError<'s, 'v>> {
    match error.kind {
        ErrorKind::Schema { .. }
        | ErrorKind::Group
        | ErrorKind::Reference { .. }
        | ErrorKind::AllOf
            if !error.causes.is_empty() =>
        {
            error.causes.iter().flat_map(collect_leaves).collect()
        }
        _ => vec![error],
    }
}

/// Returns the library's message, unless it repeats the value, which may be large.
fn describe_kind(kind: &ErrorKind<'_, '_>) -> String {
    match kind {
        ErrorKind::Format { want, .. } => format!("the value is not a valid {want}"),
        ErrorKind::Pattern { want, .. } => format!("the value does not match the pattern `{want}`"),
        ErrorKind::PropertyName { .. } => "the name of a member is not allowed".to_owned(),
        ErrorKind::MinContains { want, .. } => format!("fewer than {want} items match"),
        ErrorKind::MaxContains { want, .. } => format!("more than {want} items match"),
        ErrorKind::AnyOf | ErrorKind::OneOf(None) => {
            "the value matches none of the allowed schemas".to_owned()
        }
        ErrorKind::OneOf(Some(_)) => {
            "the value matches more than one of the allowed schemas".to_owned()
        }
        ErrorKind::Not => "the value matches a schema that it must not match".to_owned(),
        ErrorKind::FalseSchema => "no value is allowed here".to_owned(),
        kind => kind.to_string(),
    }
}

/// Whether a number is a multiple up to rounding: for the library, 0.07 is not a multiple of 0.01.
fn is_multiple(number: &Number, of: &Number) -> bool {
    let (Some(number), Some(of)) = (number.as_f64(), of.as_f64()) else {
        return false;
    };
    let ratio = number / of;
    (ratio - ratio.round()).abs() <= 4.0 * f64::EPSILON * ratio.abs()
}

/// Returns a key that sorts errors by path.
fn path_key<'e>(error: &'e ValidationError<'_, '_>) -> Vec<(usize, &'e str)> {
    let tokens = error.instance_location.tokens.iter();
    tokens
        .map(|token| match token {
            InstanceToken::Prop(name) => (0, name.as_ref()),
            InstanceToken::Item(index) => (*index, ""),
        })
        .collect()
}

fn path_of(error: &ValidationError<'_, '_>) -> String {
    let tokens = error.instance_location.tokens.iter();
    tokens.fold(String::new(), |path, token| match token {
        InstanceToken::Prop(name) => member(&path, name),
        InstanceToken::Item(index) => format!("{path}[{index}]"),
    })
}

fn member(parent: &str, name: &str) -> String {
    if parent.is_empty() {
        name.to_owned()
    } else {
        format!("{parent}.{name}")
    }
}

fn join<T: fmt::Display>(parts: impl Iterator<Item = T>, separator: &str) -> String {
    let parts: Vec<String> = parts.map(|part| part.to_string()).collect();
    parts.join(separator)
}

fn quote(option: &Value) -> String {
    match option {
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
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
                vec!["The parameter `timeout` is wrong: must be > 0 but got 0"],
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
        assert_eq!(problems.len(), MAX_PROBLEMS + 1);
        assert_eq!(problems.last().unwrap(), "... and 31 more");
    }

    #[test]
    fn large_values_are_not_repeated() {
        let check = SchemaCheck::new(&json!({"properties": {"a": {"maxLength": 3}}})).unwrap();
        let problems = check.problems(&json!({"a": "x".repeat(100_000)}));
        assert!(problems[0].len() < 200, "{problems:?}");
    }

    #[test]
    fn other_kinds_of_problems_are_explained_without_the_value() {
        let long = "x".repeat(1000);
        let draft_7 = "http://json-schema.org/draft-07/schema#";
        let rows = [
            (
                json!({"properties": {"a": {"pattern": "^[0-9]$"}}}),
                json!({"a": long}),
                vec!["The parameter `a` is wrong: the value does not match the pattern `^[0-9]$`"],
            ),
            (
                json!({"$schema": draft_7, "properties": {"a": {"format": "date"}}}),
                json!({"a": long}),
                vec!["The parameter `a` is wrong: the value is not a valid date"],
            ),
            (
                json!({"$schema": draft_7, "properties": {"a": {"format": "uuid"}}}),
                json!({"a": long}),
                vec![],
            ),
            // From draft 2019-09 on, a format is only an annotation.
            (
                json!({"properties": {"a": {"format": "date"}}}),
                json!({"a": long}),
                vec![],
            ),
            (
                json!({"properties": {"a": {"anyOf": [{"type": "null"}, {"maxLength": 3}]}}}),
                json!({"a": long}),
                vec!["The parameter `a` is wrong: the value matches none of the allowed schemas"],
            ),
            (
                json!({"propertyNames": {"maxLength": 3}}),
                json!({"long": 1}),
                vec!["The input is wrong: the name of a member is not allowed"],
            ),
            (
                json!({"allOf": [{"required": ["a"]}, {"$ref": "#/$defs/b"}],
                       "$defs": {"b": {"required": ["b"]}}}),
                json!({}),
                vec![
                    "The required parameter `a` is missing",
                    "The required parameter `b` is missing",
                ],
            ),
            (
                json!({"dependentRequired": {"a": ["b"]}}),
                json!({"a": 1}),
                vec!["The required parameter `b` is missing"],
            ),
            (
                json!({"unevaluatedProperties": false}),
                json!({"b": 1, "a": 1, "c": 1}),
                vec![
                    "An unexpected parameter `a` was provided",
                    "An unexpected parameter `b` was provided",
                    "An unexpected parameter `c` was provided",
                ],
            ),
            (
                json!({"properties": {"a": {"multipleOf": 0.01}, "b": {"multipleOf": 2}}}),
                json!({"a": 0.07, "b": 3}),
                vec!["The parameter `b` is wrong: 3 is not multipleOf 2"],
            ),
        ];
        for (schema, input, expected) in rows {
            let check = SchemaCheck::new(&schema).unwrap();
            assert_eq!(check.problems(&input), expected, "{schema}");
        }
    }

    #[test]
    fn other_documents_are_never_fetched() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("schema.json");
        std::fs::write(&file, "{}").unwrap();
        let address = format!("file://{}", file.display());
        for reference in [address.as_str(), "https://example.com/schema", "other.json"] {
            assert!(SchemaCheck::new(&json!({ "$ref": reference })).is_err());
        }
    }

    #[test]
    fn issues_are_counted() {
        assert_eq!(
            format_problems("Read", &["A".to_owned()]),
            "Read failed due to the following issue:\nA"
        );
        assert_eq!(
            format_problems("Read", &["A".to_owned(), "B".to_owned()]),
            "Read failed due to the following issues:\nA\nB"
        );
    }

    #[test]
    fn an_invalid_schema_is_refused() {
        assert!(SchemaCheck::new(&json!({"type": "strung"})).is_err());
    }
}
