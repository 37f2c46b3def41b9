//! The request to a model for a recap.

use crate::client::model::{PromptId, Request, Turn};
use crate::summaries::title::in_language;
use crate::summaries::{Language, MessageTexts};

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
