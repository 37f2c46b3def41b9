//! The request to a model for a label.

use crate::api::truncate_json_string;
use crate::client::model::{PromptId, Request, Turn};
use crate::json::replace_lone_surrogates;
use crate::text::{redact, redact_json, truncate_utf16, utf16_length};

/// Length of an input or output in the question, in UTF-16 units.
const SHOWN_UNITS: usize = 300;

/// Length of the model's last text in the question, in UTF-16 units.
const INTENT_UNITS: usize = 200;

/// Length of the text after the shown part that is searched for secrets, in characters: part of a
/// secret is not recognisable.
const LOOKAHEAD: usize = 4096;

/// The token budget of a label.
const MAX_TOKENS: u32 = 60;

/// The system prompt.
pub const PROMPT: &str = include_str!("../../../prompts/label.md");

const TEMPERATURE: f64 = 0.3;

/// A finished call, as shown in a question.
#[derive(Debug, Clone, Copy)]
pub struct ShownCall<'a> {
    /// The tool.
    pub name: &'a str,
    /// The arguments, an excerpt.
    pub input: &'a str,
    /// The result, an excerpt.
    pub output: &'a str,
}

/// Returns the start of arguments or of an output, as shown in questions.
pub(in crate::summaries) fn json_excerpt(json: &str) -> String {
    excerpt(json, SHOWN_UNITS)
}

/// Returns at most `limit` UTF-16 units of a compact JSON value, with secrets masked. A cut ends with
/// three dots and never splits a character.
pub(in crate::summaries) fn excerpt(json: &str, limit: usize) -> String {
    const MORE: &str = "...";
    let json = truncate_json_string(json, limit + LOOKAHEAD);
    let repaired = replace_lone_surrogates(&json);
    let text = redact_json(repaired.as_deref().unwrap_or(&json).trim());
    if utf16_length(&text) <= limit {
        return text;
    }
    let kept = truncate_utf16(&text, limit.saturating_sub(MORE.len()));
    format!("{kept}{MORE}")
}

/// Returns the part of the model's last text shown in questions, with secrets masked.
pub(in crate::summaries) fn intent(said: &str) -> String {
    let said = redact(truncate_utf16(said, INTENT_UNITS + LOOKAHEAD));
    truncate_utf16(&said, INTENT_UNITS).to_owned()
}

/// Builds the question about a batch of calls. `said` is the model's last text, possibly empty.
pub fn label_question(calls: &[ShownCall<'_>], said: &str) -> String {
    let intent = match intent(said) {
        said if said.trim().is_empty() => String::new(),
        said => format!("User's intent (from assistant's last message): {said}\n\n"),
    };
    let tool = |call: &ShownCall<'_>| {
        let ShownCall {
            name,
            input,
            output,
        } = call;
        format!("Tool: {name}\nInput: {input}\nOutput: {output}")
    };
    let tools: Vec<String> = calls.iter().map(tool).collect();
    let tools = tools.join("\n\n");
    format!("{intent}Tools completed:\n\n{tools}\n\nLabel:")
}

/// Builds the request for a label.
pub fn label_request(question: String, instructions: &str) -> Request {
    Request {
        system: instructions.to_owned(),
        turns: vec![Turn::user(question)],
        temperature: Some(TEMPERATURE),
        ..Request::new(PromptId::TOOL_USE_SUMMARY, MAX_TOKENS)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::text::utf16_length;

    proptest! {
        #[test]
        fn only_the_start_of_a_long_text_is_needed(
            parts in prop::collection::vec(
                prop::sample::select(vec!["a", "é", "😀", r"\n", r"\\", r"\u00e9", r"\ud83d\ude00", r"\ud83d"]),
                0..300,
            )
        ) {
            let json = format!("\"{}\"", parts.concat());
            let repaired = replace_lone_surrogates(&json).unwrap_or(json.clone());
            let whole: Value = serde_json::from_str(&repaired).unwrap();
            let whole = whole.to_string();
            let expected = if utf16_length(&whole) <= 20 {
                whole
            } else {
                format!("{}...", truncate_utf16(&whole, 17))
            };
            prop_assert_eq!(excerpt(&json, 20), expected);
        }
    }

    #[test]
    fn secrets_are_masked_before_they_are_cut() {
        let key = format!("ghp_{}", "a1B2".repeat(9));
        let masked = "ghp_[redacted]";
        let late = "x ".repeat(140);
        for (json, expected) in [
            (format!(r#""{key}""#), format!(r#""{masked}""#)),
            // The escape of a line break ends in a letter.
            (format!(r#""a\n{key}""#), format!(r#""a\n{masked}""#)),
            (
                format!(r#"{{"env":["{key}"]}}"#),
                format!(r#"{{"env":["{masked}"]}}"#),
            ),
            (
                r#"{"password": "correcthorse"}"#.to_owned(),
                r#"{"password":"[redacted]"}"#.to_owned(),
            ),
            // The limit is inside the key.
            (format!(r#""{late}{key}""#), format!(r#""{late}{masked}""#)),
        ] {
            assert_eq!(json_excerpt(&json), expected);
        }
        let said = format!("{}{key}", "y ".repeat(92));
        assert_eq!(intent(&said), format!("{}{masked}", "y ".repeat(92)));
    }

    #[test]
    fn the_question_shows_intent_and_calls() {
        let call = ShownCall {
            name: "Grep",
            input: &json_excerpt(r#"{"pattern": "login"}"#),
            output: "\"3 matches\"",
        };
        assert_eq!(
            label_question(&[call, call], "I look for it."),
            "User's intent (from assistant's last message): I look for it.\n\n\
             Tools completed:\n\n\
             Tool: Grep\nInput: {\"pattern\":\"login\"}\nOutput: \"3 matches\"\n\n\
             Tool: Grep\nInput: {\"pattern\":\"login\"}\nOutput: \"3 matches\"\n\n\
             Label:"
        );
        let long = "a".repeat(900);
        let question = label_question(&[call], &long);
        assert!(question.contains(&format!("): {}\n\nTools", "a".repeat(200))));
        assert!(label_question(&[call], " \n").starts_with("Tools completed:"));
    }
}
