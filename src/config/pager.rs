//! Which pager people use.

use super::variables;
use crate::io::Environment;

/// The pager where none is named.
const USUAL: &str = "less";

/// The command of the pager; `None` if there is to be none.
pub fn pager(environment: &Environment) -> Option<&str> {
    let command = variables::PAGER.set(environment).unwrap_or(USUAL);
    (!command.is_empty() && command != "cat").then_some(command)
}

/// Whether the options of `less` are chosen already.
pub fn has_options_of_less(environment: &Environment) -> bool {
    variables::LESS.set(environment).is_some()
}
