//! Recaps: where a person left off.

mod away;
mod extract;
mod gate;

pub use away::{Away, AwayAction, Moment};
pub use extract::clean_recap;
pub use gate::{AWAY, Held, RecapGate};

use crate::model::{PromptId, Request, Turn};
use crate::side::title::in_language;
use crate::side::{Language, Said};

/// How many messages are shown to the model, from the end.
pub const RECAP_MESSAGES: usize = 30;

/// What is asked after the conversation.
const QUESTION: &str =
    "Generate the recap now. Wrap it in <recap>...</recap>; nothing outside the tags.";

/// The token budget of a recap.
const MOST_TOKENS: u32 = 300;

const TEMPERATURE: f64 = 0.3;

/// The request for a recap of what was said, in `language` if it is known; nothing if nothing was
/// said.
pub fn recap_request(
    said: &[Said],
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
        ..Request::new(PromptId::SESSION_RECAP, MOST_TOKENS)
    })
}
