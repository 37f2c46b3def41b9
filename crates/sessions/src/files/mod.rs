//! The files of sessions: directories, opening, archives, lines, damage.

pub(crate) mod compressed;
pub(crate) mod dirs;
pub(crate) mod discover;
pub(crate) mod distinct;
pub(crate) mod lines;
pub(crate) mod listed;
pub(crate) mod open;
pub(crate) mod origin;
pub(crate) mod parallel;
pub(crate) mod recover;
pub(crate) mod repository;
pub(crate) mod running;
pub(crate) mod scratch_file;
pub(crate) mod side_file;
