//! What a model is asked for a label.

use serde_json::value::RawValue;

use super::excerpt;
use crate::side::javascript::trim;
use crate::text::truncate_utf16;

/// As much of an input or output is shown, in UTF-16 units.
const SHOWN: usize = 300;

/// As much of the last thing that the model said is shown, in UTF-16 units.
const INTENT: usize = 200;

/// A call that succeeded.
#[derive(Debug, Clone, Copy)]
pub struct FinishedCall<'a> {
    /// The tool.
    pub name: &'a str,
    /// The arguments.
    pub input: &'a RawValue,
    /// What came out, as JSON.
    pub output: &'a RawValue,
}

/// The question about a batch of calls. `said` is what the model said last, if anything.
pub fn label_question(calls: &[FinishedCall<'_>], said: &str) -> String {
    let mut question = String::new();
    if !trim(said).is_empty() {
        question.push_str("User's intent (from assistant's last message): ");
        question.push_str(truncate_utf16(said, INTENT));
        question.push_str("\n\n");
    }
    question.push_str("Tools completed:\n\n");
    for (number, call) in calls.iter().enumerate() {
        if number > 0 {
            question.push_str("\n\n");
        }
        let FinishedCall {
            name,
            input,
            output,
        } = call;
        question.push_str(&format!(
            "Tool: {name}\nInput: {}\nOutput: {}",
            excerpt(input.get(), SHOWN),
            excerpt(output.get(), SHOWN)
        ));
    }
    question.push_str("\n\nLabel:");
    question
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    #[test]
    fn the_question_shows_intent_and_calls() {
        let (input, output) = (raw(r#"{"pattern": "login"}"#), raw("\"3 matches\""));
        let call = FinishedCall {
            name: "Grep",
            input: &input,
            output: &output,
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
        assert!(
            label_question(&[call], &long).contains(&format!("): {}\n\nTools", "a".repeat(200)))
        );
        assert!(label_question(&[call], " \n").starts_with("Tools completed:"));
    }
}
