//! Known commands: the tables, commands with their own grammar, and rules that a table cannot
//! express.
//!
//! To add a command, add a record to `tables/commands.txt` and rows to `tests/data/shell/`.

mod awk;
mod checked_command;
mod conditions;
mod entry;
mod environment;
mod find;
mod git;
mod rules;
mod sed;

pub(super) use checked_command::CheckedCommand;
pub(super) use conditions::may_evaluate_operand;
pub(super) use environment::may_be_secret;
pub(super) use rules::{Check, conversions, find_rule};
