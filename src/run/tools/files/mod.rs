//! Tools that read, search and change files.

mod apply_patch;
mod edit;
mod glob;
mod grep;
mod line_window;
mod ls;
mod patch;
mod read;
mod regular_file;
mod replace_file;
mod replacement;
mod walk;

pub(super) use apply_patch::ApplyPatch;
pub(super) use edit::{Edit, Write};
pub(super) use glob::Glob;
pub(super) use grep::Grep;
pub(super) use ls::Ls;
pub(super) use read::Read;
