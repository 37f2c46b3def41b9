//! Recaps: where the user left off.

mod clean;
mod gate;
mod question;
mod watch;

pub use clean::clean_recap;
pub use gate::{RecapGate, RecapSkipped};
pub use question::{PROMPT, RECAP_MESSAGES, recap_request};
pub use watch::watch_terminal;
