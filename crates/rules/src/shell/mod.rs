//! Analysis of shell command lines: whether they are read-only, and the commands in them.
//!
//! [`analyse`] parses the command line with tree-sitter's grammar of bash. Every construct must be
//! accepted explicitly, every word is parsed again by our own rules, and every command, subcommand
//! and option must be in a table (`tables/`). Anything else is not read-only, but its commands are
//! still listed. The analysis has no side effects. [`simple_commands`] parses any text leniently.

mod analysis;
mod bindings;
mod call;
mod command_list;
mod command_words;
mod commands;
mod common_tokens;
mod compound;
mod expansion;
mod lenient_lexer;
mod lexer;
mod line;
mod options;
mod parsed_command;
mod parts;
mod pattern;
mod portable;
#[cfg(test)]
mod rows;
mod sandbox_call;
mod source;
mod syntax;
mod table;
mod verdict;
mod walk;
mod word;

pub use analysis::{Analysis, analyse};
pub use command_list::{CommandList, Follows, SimpleCommand, lenient_parts, simple_commands};
pub use command_words::{is_subcommand, program_and_subcommand, program_name};
pub use commands::{has_reading_form, may_verify_signatures};
pub use expansion::is_identifier;
pub use line::{Line, Unread, parse};
pub use parsed_command::is_connection;
pub use parts::{CommandPart, PartAssignment, PartInput, PartWord};
pub use pattern::pattern_index;
pub use portable::is_read_alike;
pub use sandbox_call::inside_sandbox;
pub use source::keeps_ascii;
pub use syntax::MAX_LENGTH;
pub use verdict::{GitScope, GitUse, Requirement, Verdict};
pub use word::WordPiece;

#[cfg(test)]
mod parts_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod table_tests;
