//! Analysis of shell command lines: whether they are read-only, and the commands in them.
//!
//! [`parse`] reads a line by a strict grammar of bash, up to the first token that the grammar does not have.
//! [`analyse`] checks what was read: every command, subcommand and option must be in a table (`tables/`), else the line
//! is not known to be read-only. Both take linear time and have no side effects.

mod analysis;
mod command_words;
mod commands;
mod expansion;
mod line;
mod options;
mod parts;
mod pattern;
mod portability;
mod reader;
mod redirection;
mod sandbox_call;
mod table;
mod variables;
mod verdict;
mod word;

pub use analysis::{Analysis, analyse, parse};
pub(crate) use command_words::{find_wrapped_words, listed_names};
pub use command_words::{program_and_subcommand, program_name};
pub(crate) use expansion::is_identifier;
pub use line::{CommandLine, Unread};
pub use parts::{CommandContext, CommandPart, Follows, MAX_LENGTH, PartAssignment, PartInput};
pub(crate) use pattern::pattern_index;
pub use redirection::Redirection;
pub(crate) use redirection::is_connection;
pub use sandbox_call::parse_sandbox_call;
pub(crate) use table::{Use, UseKind, find_uses};
pub use variables::keeps_ascii;
pub(crate) use verdict::is_one_of;
pub use verdict::{GitScope, GitUse, Verdict};
pub use word::{PartWord, WordPiece};

#[cfg(test)]
mod parts_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
pub(crate) use property_tests::cpu_time;
#[cfg(test)]
mod table_tests;
