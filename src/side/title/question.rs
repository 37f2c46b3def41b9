//! The request to a model for a title.

use serde_json::json;

use crate::message::Role;
use crate::model::{Answer, Function, PromptId, Request, Turn};
use crate::side::{Language, Said};

/// The system prompt.
pub const PROMPT: &str = include_str!("../../../prompts/title.md");

/// The system prompt for titles in the form `fix-login-button`.
pub const KEBAB_PROMPT: &str = include_str!("../../../prompts/title-kebab.md");

/// The function that the model calls with the title.
pub const TITLE_FUNCTION: &str = "respond_in_schema";

/// The token budget of a title.
const MAX_TOKENS: u32 = 100;

const TEMPERATURE: f64 = 0.2;

/// Number of messages that the question shows, from the end.
pub const TITLE_MESSAGES: usize = 20;

/// Minimum number of messages of a session with a title or recap by a model.
pub const MIN_MESSAGES: usize = 2;

/// Length of the end of the conversation in the question, in UTF-16 units.
const SHOWN_UNITS: usize = 1000;

/// Builds the question for a title; `None` if the conversation is empty.
pub fn title_question(said: &[Said]) -> Option<String> {
    let conversation = tail(said, SHOWN_UNITS);
    if conversation.trim().is_empty() {
        return None;
    }
    Some(format!(
        "Conversation so far:\n{conversation}\n\nGenerate the session title now. Populate the \
         schema with a single short title string."
    ))
}

/// Builds the request for a title, in `language` if it is known.
pub fn title_request(question: String, instructions: &str, language: Option<Language>) -> Request {
    let function = Function {
        name: TITLE_FUNCTION.to_owned(),
        description: "Provide the response in provided schema".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "title": {
                    "type": "string",
                    "description":
                        "A concise sentence-case session title, 3-7 words, no trailing punctuation.",
                },
            },
            "required": ["title"],
        }),
    };
    Request {
        system: in_language(instructions, language),
        turns: vec![Turn::user(question)],
        answer: Answer::Forced(function),
        temperature: Some(TEMPERATURE),
        ..Request::new(PromptId::SESSION_TITLE, MAX_TOKENS)
    }
}

/// Adds the language of the answer to instructions.
pub(in crate::side) fn in_language(instructions: &str, language: Option<Language>) -> String {
    match language {
        Some(language) => format!(
            "{}\n\nAnswer in {}.\n",
            instructions.trim_end(),
            language.name()
        ),
        None => instructions.to_owned(),
    }
}

/// Returns the last `units` UTF-16 units of a conversation, one line per message, without half a
/// character at the start.
pub(in crate::side) fn tail(said: &[Said], units: usize) -> String {
    let lines: Vec<String> = said
        .iter()
        .filter_map(|said| {
            let text = said.text();
            let text = text.trim();
            let name = match said.role {
                Role::User | Role::System => "User",
                Role::Assistant => "Assistant",
            };
            (!text.is_empty()).then(|| format!("{name}: {text}"))
        })
        .collect();
    let text = lines.join("\n");
    let mut shown = 0;
    let fits = |(_, character): &(usize, char)| {
        shown += character.len_utf16();
        shown <= units
    };
    let start = text.char_indices().rev().take_while(fits).last();
    text[start.map_or(text.len(), |(at, _)| at)..].to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::utf16_length;

    fn said(role: Role, text: &str) -> Said {
        Said {
            role,
            parts: vec![text.to_owned()],
        }
    }

    #[test]
    fn the_end_is_shown() {
        let talk = [said(Role::User, " fix it "), said(Role::Assistant, "Done.")];
        assert_eq!(tail(&talk, 1000), "User: fix it\nAssistant: Done.");
        assert_eq!(tail(&talk, 5), "Done.");
        let question = title_question(&talk).unwrap();
        assert!(question.starts_with("Conversation so far:\nUser: fix it\n"));
        assert_eq!(title_question(&[]), None);
        assert_eq!(title_question(&[said(Role::User, " ")]), None);
    }

    #[test]
    fn secrets_are_masked_before_they_are_cut() {
        let key = format!("ghp_{}", "a1B2".repeat(9));
        let talk = [said(Role::User, &format!("deploy with {key} now"))];
        assert_eq!(tail(&talk, 18), "ghp_[redacted] now");
    }

    #[test]
    fn no_half_character_is_shown() {
        let talk = [said(Role::User, "aaaa😀bbbbb")];
        assert_eq!(tail(&talk, 7), "😀bbbbb");
        assert_eq!(tail(&talk, 6), "bbbbb");
    }

    proptest! {
        #[test]
        fn the_tail_is_an_end_that_fits(text in "\\PC{1,60}", units in 0_usize..80) {
            let talk = [said(Role::User, &text)];
            let whole = tail(&talk, usize::MAX);
            let end = tail(&talk, units);
            prop_assert!(whole.ends_with(&end));
            prop_assert!(utf16_length(&end) <= units);
        }
    }
}
