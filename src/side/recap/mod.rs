//! Recaps: where the user left off.

mod away;
mod clean;
mod gate;
mod question;

pub use away::{Away, AwayAction, Situation};
pub use clean::clean_recap;
pub use gate::{RecapGate, RecapSkipped};
pub use question::{PROMPT, RECAP_MESSAGES, recap_request};
