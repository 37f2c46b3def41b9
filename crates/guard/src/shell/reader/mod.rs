//! The reader of command lines: the grammar of bash, by recursive descent, in linear time.
//!
//! A token that the grammar does not know ends the reading. The commands before it remain. Each token that zsh or
//! dash may read otherwise makes the line not portable.

mod commands;
mod compounds;
mod documents;
mod portability;
mod read;
mod redirections;
mod state;
mod words;

pub(super) use self::read::read;
pub(super) use self::state::Reading;
