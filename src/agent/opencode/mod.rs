//! opencode: the database `~/.local/share/opencode/opencode.db`, and documents of `opencode export`.
//!
//! Both are read as the same rows: one of the session, then one of each message with its parts.

mod database;
mod record;

pub(super) use database::{DATABASE, OPENCODE};
pub(super) use record::stream_row;
