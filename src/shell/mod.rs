//! Shell commands: whether they only read, and which commands they consist of.
//!
//! [`analyse`] parses the command line with tree-sitter's grammar of bash. Every construct must be
//! on a list of accepted ones, every word is read again by our own rules, and every command,
//! subcommand and option must be in a table (`tables/`). Whatever is not listed does not count as
//! read-only, and is listed as a command. Nothing is run or opened here. [`simple_commands`] reads any text as well as it can.

mod analysis;
mod bindings;
mod call;
mod command_list;
mod commands;
mod compound;
mod effects;
mod expansion;
mod lexer;
mod options;
mod parsed_command;
mod parts;
mod pieces;
mod portable;
mod redirection;
mod refusal;
mod requirement;
mod source;
mod syntax;
mod table;
mod variables;
mod walk;
mod word;

pub use analysis::{Analysis, Verdict, analyse};
pub use command_list::{CommandList, Follows, SimpleCommand, lenient_parts, simple_commands};
pub use commands::may_verify_signatures;
pub use parts::{CommandPart, PartAssignment, PartInput, PartWord};
pub use portable::differs_between_shells;
pub use requirement::{GitScope, GitUse, Requirement};
pub use word::WordPiece;

#[cfg(test)]
mod parts_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod table_tests;
