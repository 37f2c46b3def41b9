//! The reader of command lines: the grammar of bash, by recursive descent, in linear time.
//!
//! A token that the grammar does not know ends the reading. The commands before it remain.

mod commands;
mod compounds;
mod documents;
mod read;
mod redirections;
mod state;
mod words;

pub(super) use self::read::read;
