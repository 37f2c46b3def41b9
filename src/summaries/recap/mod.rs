//! Recaps: where the user left off.

mod clean;
mod gate;
mod question;
mod watch;

pub use clean::{clean_period_recap, clean_recap};
pub use gate::{RecapGate, RecapSkipped};
pub use question::{PERIOD_PROMPT, PROMPT, RECAP_MESSAGES, period_request, recap_request};
pub use watch::watch_terminal;
