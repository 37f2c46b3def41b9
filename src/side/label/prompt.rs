//! What a model is asked for a label.

use std::fmt::Write;

use super::excerpt;
use crate::model::{PromptId, Request, Turn};
use crate::side::javascript::trim;
use crate::text::truncate_utf16;

/// As much of an input or output is shown, in UTF-16 units.
const SHOWN: usize = 300;

/// As much of the last thing that the model said is shown, in UTF-16 units.
const INTENT: usize = 200;

/// The tokens that a label may have.
const MOST_TOKENS: u32 = 60;

const TEMPERATURE: f64 = 0.3;

/// A call that succeeded, as a prompt shows it.
#[derive(Debug, Clone, Copy)]
pub struct FinishedCall<'a> {
    /// The tool.
    pub name: &'a str,
    /// The arguments, [`shown`].
    pub input: &'a str,
    /// What came out, [`shown`].
    pub output: &'a str,
}

/// What prompts show of arguments and outputs: JSON.
pub fn shown(json: &str) -> String {
    excerpt(json, SHOWN)
}

/// As much of what the model said as prompts show.
pub fn intent(said: &str) -> &str {
    truncate_utf16(said, INTENT)
}

/// The question about a batch of calls. `said` is what the model said last, if anything.
pub fn label_question(calls: &[FinishedCall<'_>], said: &str) -> String {
    let mut question = String::new();
    if !trim(said).is_empty() {
        question.push_str("User's intent (from assistant's last message): ");
        question.push_str(intent(said));
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
        let _ = write!(question, "Tool: {name}\nInput: {input}\nOutput: {output}");
    }
    question.push_str("\n\nLabel:");
    question
}

/// The request for a label.
pub fn label_request(question: String, instructions: &str) -> Request {
    Request {
        system: instructions.to_owned(),
        turns: vec![Turn::user(question)],
        temperature: Some(TEMPERATURE),
        ..Request::new(PromptId::TOOL_USE_SUMMARY, MOST_TOKENS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_shows_intent_and_calls() {
        let call = FinishedCall {
            name: "Grep",
            input: &shown(r#"{"pattern": "login"}"#),
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
