//! Recaps: where somebody left off.

mod away;
mod extract;
mod gate;

pub use away::{Away, AwayAction, Moment};
pub use extract::clean_recap;
pub use gate::{AWAY, Held, RecapGate};

use crate::side::{Said, Speaker};

/// So many messages are shown to the model, from the end.
pub const RECAP_MESSAGES: usize = 30;

/// What is asked after the conversation.
pub const RECAP_QUESTION: &str =
    "Generate the recap now. Wrap it in <recap>...</recap>; nothing outside the tags.";

/// Whether anything is there to be told.
pub fn can_be_told(said: &[Said]) -> bool {
    said.iter().any(|said| said.speaker == Speaker::User)
}
