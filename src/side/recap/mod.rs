//! Recaps: where the user left off.

mod gate;
mod question;
mod watch;

pub use gate::{RecapGate, RecapSkipped};
pub use question::{PROMPT, RECAP_MESSAGES, clean_recap, recap_request};
pub use watch::watch_terminal;
