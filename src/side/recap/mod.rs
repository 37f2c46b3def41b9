//! Recaps: where the user left off.

mod gate;
mod question;

pub use gate::{Away, AwayAction, RecapGate, RecapSkipped, Situation};
pub use question::{PROMPT, RECAP_MESSAGES, clean_recap, recap_request};
