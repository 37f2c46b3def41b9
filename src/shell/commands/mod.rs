//! What is known about commands: the tables, the commands with a grammar of their own, and rules
//! that a table cannot express.
//!
//! To add a command, add a record to `tables/commands.txt` and rows to `tests/data/shell/`.

mod awk;
mod builtins;
mod conditions;
mod find;
mod git;
mod rules;
mod scripts;
mod sed;
mod wrappers;
mod writers;

use super::call::Call;
use super::options::{self, Arguments};
use super::refusal::Refusal;
use super::table::{COMMANDS, Command};
use super::word::Word;

pub(super) use conditions::{double_bracket, double_bracket_words};
pub use rules::may_verify_signatures;
pub(super) use rules::{Check, rule};

/// What is known about a name.
#[derive(Clone, Copy)]
pub(super) enum Entry {
    /// It reads, with these options.
    Listed(&'static Command),
    /// It has its own grammar.
    Own(Own),
    /// It changes something; the text says what, after the name.
    Writes(&'static str),
    /// Nothing.
    Unlisted,
}

/// Checks a command from its name and its arguments.
pub(super) type Own = fn(&mut Call<'_>, &Word, &[Word]) -> Result<(), Refusal>;

/// What is known about a name.
pub(super) fn entry(name: &str) -> Entry {
    let own: Own = match name {
        "[" => conditions::bracket,
        "test" => conditions::test,
        "awk" | "gawk" | "mawk" | "original-awk" => awk::check,
        "cd" => builtins::change_directory,
        "printf" => builtins::printf,
        "read" => builtins::read,
        "set" => builtins::set,
        "." | "eval" | "exec" | "source" => builtins::unknown_code,
        "command" => wrappers::command,
        "env" => wrappers::env,
        "time" => wrappers::time,
        "timeout" => wrappers::timeout,
        "xargs" => wrappers::xargs,
        "find" => find::check,
        "git" => git::check,
        "sed" | "gsed" => sed::check,
        "tar" => rules::tar,
        _ => {
            return match COMMANDS.get(name) {
                Some(command) => Entry::Listed(command),
                None => writers::what_it_changes(name).map_or(Entry::Unlisted, Entry::Writes),
            };
        }
    };
    Entry::Own(own)
}

/// Reads the arguments of a command by its record.
fn arguments<'words>(name: &str, words: &'words [Word]) -> Result<Arguments<'words>, Refusal> {
    match COMMANDS.get(name) {
        Some(command) => options::read(command, name, words),
        None => Err(Refusal::unknown(0..0, format!("`{name}` is not listed"))),
    }
}
