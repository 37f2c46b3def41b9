//! Replies that must be JSON.

use serde_json::Value;

use crate::client::model::{Function, OutputSchema};
use crate::run::tools::{InvalidSchema, SchemaCheck};
use crate::text::strip_fence;

/// The JSON Schema of the last reply of a run.
pub(crate) struct OutputCheck {
    schema: Value,
    check: SchemaCheck,
}

/// Maximum number of requests to correct a reply, within one request of the conversation.
pub(crate) const MAX_CORRECTIONS: usize = 2;

/// Name of the schema in requests.
const NAME: &str = "reply";

impl OutputCheck {
    /// Compiles a schema.
    ///
    /// # Errors
    /// It is not a JSON object, or not a JSON Schema.
    pub(crate) fn new(json: &str) -> Result<Self, InvalidSchema> {
        let schema: Value = serde_json::from_str(json)?;
        let check = SchemaCheck::new(&schema)?;
        Ok(Self { schema, check })
    }

    /// Returns the schema for the first request.
    pub(crate) fn schema(&self) -> OutputSchema {
        let schema = Function {
            name: NAME.to_owned(),
            description: String::new(),
            parameters: self.schema.clone(),
        };
        OutputSchema {
            schema,
            is_retry: false,
        }
    }

    /// Returns the JSON of a reply, which may be in a code fence.
    ///
    /// # Errors
    /// It is not JSON, or does not match the schema; the reason is one line per problem.
    pub(crate) fn value(&self, reply: &str) -> Result<Value, String> {
        let value = serde_json::from_str(strip_fence(reply))
            .map_err(|error| format!("The reply is not JSON: {error}"))?;
        match self.check.problems(&value) {
            problems if problems.is_empty() => Ok(value),
            problems => Err(problems.join("\n")),
        }
    }

    /// Returns the message that asks the model for a correction. It contains the schema, since servers
    /// may have ignored it.
    pub(crate) fn correction(&self, problems: &str) -> String {
        format!(
            "The last reply must be JSON that fits this JSON Schema: {}\n\nThis reply does not fit:\n\
             {problems}\n\nReply with the corrected JSON and nothing else.",
            self.schema
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reply_fits_or_the_reason_is_a_message_for_the_model() {
        let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
        let check = OutputCheck::new(schema).unwrap();
        for reply in [r#"{"n":1}"#, " {\"n\":1}\n", "```json\n{\"n\": 1}\n```\n"] {
            assert_eq!(check.value(reply), Ok(json!({"n": 1})), "{reply}");
        }
        let wrong = [
            ("{}", "The required parameter `n` is missing"),
            (
                r#"{"n":"1"}"#,
                "The parameter `n` type is expected as `integer` but provided as `string`",
            ),
            ("[1]", "The input is wrong: want object, but got array"),
            (
                "Here: {\"n\":1}",
                "The reply is not JSON: expected value at line 1 column 1",
            ),
            (
                "{\"n\":1} {}",
                "The reply is not JSON: trailing characters at line 1 column 9",
            ),
        ];
        for (reply, problem) in wrong {
            assert_eq!(check.value(reply), Err(problem.to_owned()), "{reply}");
        }
    }

    #[test]
    fn an_invalid_schema_is_refused() {
        for schema in [
            "",
            "3",
            r#"{"type":"text"}"#,
            r##"{"$ref":"#/none"}"##,
            r#"{"$ref":"file:///x"}"#,
        ] {
            assert!(OutputCheck::new(schema).is_err(), "{schema}");
        }
    }
}
