//! What a session contains: messages, titles, calls, changes of files.

pub(crate) mod check;
pub(crate) mod container;
pub(crate) mod conversation;
pub(crate) mod description;
pub(crate) mod edits;
pub(crate) mod ends;
pub(crate) mod file_state;
pub(crate) mod gist;
pub(crate) mod limits;
pub(crate) mod patch;
pub(crate) mod session;
pub(crate) mod side_threads;
pub(crate) mod tail;
pub(crate) mod title;
pub(crate) mod title_time;
pub(crate) mod tree;
#[cfg(test)]
mod vectors_tests;
