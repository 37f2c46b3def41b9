//! The `check` commands, which check one line at a time and change nothing.

pub(crate) mod history;
pub(crate) mod input;
pub(crate) mod lines;
pub(crate) mod permission;
