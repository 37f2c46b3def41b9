//! Analysis of shell commands: does this only read, and what does that depend on?
//!
//! The command line is parsed by tree-sitter's grammar of bash; every construct must be on a list
//! of accepted ones, every word is read again by rules of our own, and every command, subcommand
//! and option must stand in a table (`commands`). What is not listed is not known, and what is not
//! known does not count as read-only. Nothing is run or opened here.

mod analyse;
mod analysis;
mod ansi_c;
mod command_list;
mod commands;
mod condition;
mod effects;
mod expansion;
mod here_document;
mod lexer;
mod options;
mod redirection;
mod refusal;
mod screen;
mod settle;
mod simple;
mod simple_command;
mod syntax;
mod variables;
mod walk;
mod word;

pub use analyse::analyse;
pub use analysis::{Analysis, GitScope, GitUse, Requirement, Verdict};
pub use command_list::{CommandList, Follows, SimpleCommand, simple_commands};

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod table_tests;
