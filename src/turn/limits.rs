//! The system prompt, the limits of a conversation, and replies that must be JSON.

use std::fmt;

use jiff::civil::Date;
use serde_json::Value;

use crate::message::Usage;
use crate::model::{Function, OutputSchema};
use crate::text::unfenced;
use crate::tools::{InvalidSchema, SchemaCheck};

/// The limits of a conversation; `None` means unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TurnLimits {
    /// Replies since the last prompt.
    pub turns: Option<u64>,
    /// US dollars.
    pub dollars: Option<f64>,
    /// Tokens read and written.
    pub tokens: Option<u64>,
}

/// The use of a conversation so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    /// Replies since the last prompt.
    pub turns: u64,
    /// US dollars; some replies may have no price.
    pub dollars: f64,
    /// Tokens read and written.
    pub tokens: u64,
}

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// A number of replies.
    Turns(u64),
    /// An amount of US dollars.
    Dollars(f64),
    /// A number of tokens.
    Tokens(u64),
}

impl Spent {
    /// Adds a reply of this price.
    pub fn add(&mut self, usage: &Usage, dollars: Option<f64>) {
        self.tokens += usage.total();
        self.dollars += dollars.unwrap_or_default();
    }
}

impl TurnLimits {
    /// Returns the first limit that is reached.
    pub fn reached(&self, spent: &Spent) -> Option<Limit> {
        let turns = self.turns.filter(|limit| spent.turns >= *limit);
        let dollars = self.dollars.filter(|limit| spent.dollars >= *limit);
        let tokens = self.tokens.filter(|limit| spent.tokens >= *limit);
        turns
            .map(Limit::Turns)
            .or(dollars.map(Limit::Dollars))
            .or(tokens.map(Limit::Tokens))
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turns(limit) => write!(formatter, "reached the limit of {limit} turns"),
            Self::Dollars(limit) => write!(formatter, "reached the budget of ${limit}"),
            Self::Tokens(limit) => write!(formatter, "reached the budget of {limit} tokens"),
        }
    }
}

/// The default instructions.
const INSTRUCTIONS: &str = include_str!("system.md");

/// Returns the instructions, or the default ones, with facts about the machine.
pub fn system_prompt(instructions: Option<&str>, directory: &str, today: Date) -> String {
    let instructions = instructions.unwrap_or(INSTRUCTIONS).trim();
    let system = std::env::consts::OS;
    format!(
        "{instructions}\n\nWorking directory: {directory}\nOperating system: {system}\nToday: {today}"
    )
}

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
        let value = serde_json::from_str(unfenced(reply))
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
    fn a_limit_is_reached_when_it_is_used_up() {
        let spent = Spent {
            turns: 3,
            dollars: 0.5,
            tokens: 900,
        };
        let rows = [
            (TurnLimits::default(), None),
            (
                TurnLimits {
                    turns: Some(4),
                    ..TurnLimits::default()
                },
                None,
            ),
            (
                TurnLimits {
                    turns: Some(3),
                    ..TurnLimits::default()
                },
                Some(Limit::Turns(3)),
            ),
            (
                TurnLimits {
                    dollars: Some(0.6),
                    ..TurnLimits::default()
                },
                None,
            ),
            (
                TurnLimits {
                    dollars: Some(0.5),
                    ..TurnLimits::default()
                },
                Some(Limit::Dollars(0.5)),
            ),
            (
                TurnLimits {
                    tokens: Some(901),
                    ..TurnLimits::default()
                },
                None,
            ),
            (
                TurnLimits {
                    turns: Some(9),
                    tokens: Some(1),
                    ..TurnLimits::default()
                },
                Some(Limit::Tokens(1)),
            ),
        ];
        for (limits, expected) in rows {
            assert_eq!(limits.reached(&spent), expected, "{limits:?}");
        }
    }

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
