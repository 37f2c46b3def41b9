//! The request to a model for a recap.

use crate::client::model::{PromptId, Request, Turn};
use crate::summaries::excerpt::beginning_and_end;
use crate::summaries::title::in_language;
use crate::summaries::{Language, MessageTexts};

/// Number of messages that the model sees, from the end.
pub const RECAP_MESSAGES: usize = 30;

/// The question after the conversation.
const QUESTION: &str =
    "Generate the recap now. Wrap it in <recap>...</recap>; nothing outside the tags.";

/// The system prompt.
pub const PROMPT: &str = include_str!("../../../prompts/recap.md");

/// The system prompt of the recap of a period.
pub const PERIOD_PROMPT: &str = include_str!("../../../prompts/recap-period.md");

/// Maximum size of the list of sessions that the model sees, in bytes.
const MAX_DIGEST_BYTES: usize = 32 * 1024;

/// The token budget of a recap.
const MAX_TOKENS: u32 = 300;

/// The token budget of the recap of a period.
const MAX_PERIOD_TOKENS: u32 = 800;

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

/// Builds the request for one recap over the sessions of a list, whose middle is left out if it is long.
pub fn period_request(digest: &str, instructions: &str, language: Option<Language>) -> Request {
    let digest = beginning_and_end(digest, MAX_DIGEST_BYTES / 2, "\n[…]\n");
    Request {
        system: in_language(instructions, language),
        turns: vec![Turn::user(format!("Sessions:\n{digest}\n\n{QUESTION}"))],
        temperature: Some(TEMPERATURE),
        ..Request::new(PromptId::SESSION_RECAP, MAX_PERIOD_TOKENS)
    }
}
