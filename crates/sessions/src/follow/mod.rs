//! Sessions while others write to them.

pub(crate) mod file;
pub(crate) mod sessions;
pub(crate) mod watch;
