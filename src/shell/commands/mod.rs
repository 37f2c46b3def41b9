//! The commands that are known, as tables: one entry a command, with the options it accepts.
//!
//! An option that is not listed is not accepted. To add a command, add its entry and rows to
//! `tests/data/shell/`. Entries say what is safe; `writers` only serves better messages.

mod archives;
mod awk;
mod builtins;
mod files;
mod find;
mod fixed_forms;
mod git;
mod git_tables;
mod printf;
mod search;
mod sed;
mod system;
mod tar;
mod test;
mod texts;
mod wrappers;
mod writers;
mod xargs;

use super::options::Command;
use super::refusal::Refusal;
use super::simple_command::Call;
use super::word::Word;

/// What is known about a name.
#[derive(Clone, Copy)]
pub(super) enum Entry {
    /// It reads, with these options.
    Options(&'static Command),
    /// It has a grammar of its own.
    Own(Own),
    /// It changes something; the text says what, after the name.
    Writes(&'static str),
    /// Nothing.
    Unlisted,
}

/// Looks at the arguments of a command; gets its name besides.
pub(super) type Own = fn(&mut Call<'_>, &Word, &[Word]) -> Result<(), Refusal>;

const TABLES: &[&[Command]] = &[
    files::COMMANDS,
    texts::COMMANDS,
    search::COMMANDS,
    system::COMMANDS,
    archives::COMMANDS,
    builtins::COMMANDS,
];

const OWN: &[(&str, Own)] = &[
    (".", builtins::unknown_code),
    ("[", test::bracket),
    ("awk", awk::check),
    ("cd", builtins::change_directory),
    ("command", wrappers::command),
    ("env", wrappers::env),
    ("eval", builtins::unknown_code),
    ("exec", builtins::unknown_code),
    ("find", find::check),
    ("gawk", awk::check),
    ("git", git::check),
    ("gsed", sed::check),
    ("mawk", awk::check),
    ("nice", wrappers::nice),
    ("nohup", wrappers::nohup),
    ("original-awk", awk::check),
    ("printf", printf::check),
    ("read", builtins::read),
    ("sed", sed::check),
    ("set", builtins::set),
    ("source", builtins::unknown_code),
    ("stdbuf", wrappers::stdbuf),
    ("tar", tar::check),
    ("test", test::check),
    ("time", wrappers::time),
    ("timeout", wrappers::timeout),
    ("xargs", xargs::check),
];

/// What is known about a name.
pub(super) fn entry(name: &str) -> Entry {
    let listed = TABLES
        .iter()
        .copied()
        .flatten()
        .find(|command| command.names.contains(&name));
    if let Some(command) = listed {
        return Entry::Options(command);
    }
    if let Some((_, check)) = OWN.iter().find(|(own, _)| *own == name) {
        return Entry::Own(*check);
    }
    if fixed_forms::knows(name) {
        return Entry::Own(fixed_forms::check);
    }
    writers::what_it_changes(name).map_or(Entry::Unlisted, Entry::Writes)
}
