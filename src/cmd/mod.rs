//! The command line: one file per subcommand, each an arguments struct whose doc comments are the
//! help, and a `run`.
//!
//! No rules live here. A command reads its input, calls the room whose rules apply, writes records
//! and returns how it ended.

mod admin;
mod check;
mod cli;
mod command;
mod dispatch;
mod error;
mod globals;
mod help;
mod inputs;
mod model_arguments;
mod outcome;
mod output;
mod progress;
mod run;
mod session;
mod side;
mod stop_watch;
mod table;
mod times;
mod usage;

pub use dispatch::{exit_status, run};
use error::UsageError;
use globals::Globals;
pub use outcome::Outcome;
