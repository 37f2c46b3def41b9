//! Analysis of shell commands: does this only read, and what does that depend on?
//!
//! The command line is parsed by tree-sitter's grammar of bash; every construct must be on a list
//! of accepted ones, every word is read again by rules of our own, and every command, subcommand
//! and option must stand in a table (`commands`). What is not listed is not known, and what is not
//! known does not count as read-only. Nothing is run or opened here.

mod analysis;
mod call;
mod command_list;
mod commands;
mod effects;
mod expansion;
mod lexer;
mod options;
mod parsed_command;
mod redirection;
mod refusal;

mod syntax;
mod table;
mod variables;
mod walk;
mod word;

pub use analysis::{Analysis, GitScope, GitUse, Requirement, Verdict, analyse};
pub use command_list::{CommandList, Follows, SimpleCommand, simple_commands};

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod table_tests;
