//! The `check` commands, which check one line at a time and change nothing.

pub(crate) mod input;
pub(crate) mod permission;
pub(crate) mod shell_and_text;
