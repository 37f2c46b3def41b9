//! The command line. Each command has a file with its `run` function and a struct of arguments, whose
//! doc comments are the help.
//!
//! Commands read input, call the modules with the rules, write records and return an exit status.

#[macro_use]
mod command;

mod admin;
mod check;
mod cli;
mod dispatch;
mod error;
mod globals;
mod inputs;
mod model_arguments;
mod output;
mod peers_words;
mod run;
mod session;
mod summaries;
mod times;

use crate::jsonl::RecordWriter;
use command::Run;
pub use dispatch::{exit_status, run};
pub use error::Status;
use error::UsageError;
use globals::Globals;
use inputs::InputErrors;
use output::{Form, FormArguments};
