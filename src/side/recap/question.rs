//! The request to a model for a recap.

use std::sync::LazyLock;

use regex::Regex;

use crate::model::{PromptId, Request, Turn};
use crate::records::TextRejection;
use crate::side::ask::{is_echo, is_refusal};
use crate::side::title::in_language;
use crate::side::{Language, MessageTexts};
use crate::text::{pattern, redact, terminal_safe, terminal_safe_line, truncate_utf16};

/// Number of messages that the model sees, from the end.
pub const RECAP_MESSAGES: usize = 30;

/// The question after the conversation.
const QUESTION: &str =
    "Generate the recap now. Wrap it in <recap>...</recap>; nothing outside the tags.";

/// The system prompt.
pub const PROMPT: &str = include_str!("../../../prompts/recap.md");

/// The token budget of a recap.
const MAX_TOKENS: u32 = 300;

const TEMPERATURE: f64 = 0.3;

/// Builds the request for a recap, in `language` if known; `None` if the conversation has no text.
pub fn recap_request(
    said: &[MessageTexts],
    instructions: &str,
    language: Option<Language>,
) -> Option<Request> {
    if said.is_empty() {
        return None;
    }
    let turns = said.iter().map(|said| Turn::new(said.role, said.text()));
    Some(Request {
        system: in_language(instructions, language),
        turns: turns.chain([Turn::user(QUESTION)]).collect(),
        temperature: Some(TEMPERATURE),
        ..Request::new(PromptId::SESSION_RECAP, MAX_TOKENS)
    })
}

/// Maximum length of a recap, in UTF-16 units.
const MAX_UNITS: usize = 400;

/// Text between tags, or from an opening tag to the end of a truncated reply.
static TAGGED: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?is)<recap>(.*?)(?:</recap>|\z)"));

/// Extracts the recap: the text between the tags, or after the first one if the reply was truncated.
/// It is one terminal-safe line of at most 400 UTF-16 units, without secrets.
///
/// # Errors
/// There is no tag (the text may be the model's reasoning), or the text has no word, repeats the
/// prompt's example, or is a refusal.
pub fn clean_recap(reply: &str) -> Result<String, TextRejection> {
    let safe = redact(&terminal_safe(reply)).into_owned();
    let recap = terminal_safe_line(tagged(&safe).ok_or(TextRejection::NoTag)?);
    let recap = truncate_utf16(&recap, MAX_UNITS).trim();
    // A model that repeats the question writes `<recap>...</recap>`.
    if !recap.contains(char::is_alphanumeric) {
        return Err(TextRejection::Empty);
    }
    let examples = PROMPT.split("<recap>").skip(1);
    let mut examples = examples.filter_map(|rest| rest.split("</recap>").next());
    if examples.any(|example| is_echo(recap, example)) {
        return Err(TextRejection::PromptEcho);
    }
    if is_refusal(recap) {
        return Err(TextRejection::Refusal);
    }
    Ok(recap.to_owned())
}

/// Returns the first non-blank text between tags.
fn tagged(reply: &str) -> Option<&str> {
    let tagged = TAGGED.captures_iter(reply);
    let mut texts = tagged.filter_map(|tagged| Some(tagged.get(1)?.as_str().trim()));
    let first = texts.next()?;
    std::iter::once(first)
        .chain(texts)
        .find(|text| !text.is_empty())
        .or(Some(first))
}

#[cfg(test)]
mod clean_tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn recaps_are_extracted_from_tags() {
        let rows = [
            (
                "<recap>Porting it. Next: tests.</recap>",
                Ok("Porting it. Next: tests."),
            ),
            ("Let me think.\n<Recap> a\nb </RECAP> done", Ok("a b")),
            ("thinking <recap>cut o", Ok("cut o")),
            ("just reasoning", Err(TextRejection::NoTag)),
            ("</recap>x", Err(TextRejection::NoTag)),
            ("<recap >x</recap>", Err(TextRejection::NoTag)),
            ("<recap></recap>", Err(TextRejection::Empty)),
            ("<recap> </recap><recap>x</recap>", Ok("x")),
            ("<recap>", Err(TextRejection::Empty)),
            ("Wrapped in <recap>...</recap>", Err(TextRejection::Empty)),
            (PROMPT, Err(TextRejection::Empty)),
            (
                "<recap>Debugging a race in the retry of logins. Next, give the integration test \
                 a clock that it controls.</recap>",
                Err(TextRejection::PromptEcho),
            ),
            (
                "<recap>**debugging a race in the retry of logins. Next, give the integration test \
                 a clock that it controls**</recap>",
                Err(TextRejection::PromptEcho),
            ),
            (
                "<recap>I'm sorry, I can't tell.</recap>",
                Err(TextRejection::Refusal),
            ),
            ("<recap>\u{1b}[31mred\u{1b}[0m</recap>", Ok("red")),
        ];
        for (reply, expected) in rows {
            assert_eq!(
                clean_recap(reply).as_deref(),
                expected.as_ref().map(|text| *text),
                "{reply}"
            );
        }
    }

    proptest! {
        #[test]
        fn recaps_are_short_and_safe(reply in "(<recap>)?\\PC{0,600}(</recap>)?") {
            if let Ok(recap) = clean_recap(&reply) {
                prop_assert!(crate::text::utf16_length(&recap) <= MAX_UNITS);
                prop_assert_eq!(terminal_safe_line(&recap), recap);
            }
        }
    }
}
