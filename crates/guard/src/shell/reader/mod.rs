//! Reads command lines by a grammar of bash: recursive descent, in linear time.
//!
//! Reading ends at a token that the grammar does not have. The commands before it remain.

mod command_line;
mod commands;
mod compounds;
mod documents;
mod redirections;
mod state;
mod words;

pub(super) use command_line::read_command_line;
