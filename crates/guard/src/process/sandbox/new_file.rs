//! New files in a workspace that tell programs outside what to run.

use std::path::{Path, PathBuf};

/// Returns the paths that are not below others.
pub(super) fn outermost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort_unstable();
    paths.dedup_by(|next, above| next.starts_with(above));
    paths
}

/// Returns the message about a file.
pub fn new_file_message(path: &Path) -> String {
    let path = path.display();
    format!("new, and tells other programs what to run: {path}")
}
