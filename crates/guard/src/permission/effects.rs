//! What a call does to files and servers.

use super::path_context::ResolvedPath;

/// The files and hosts that a call, or a command of a line, names.
#[derive(Default)]
pub(super) struct Effects {
    /// Files that it only reads, or that the words and input redirections of a command may name.
    pub(super) reads: Vec<ResolvedPath>,
    /// The targets of redirections.
    pub(super) redirected: Vec<ResolvedPath>,
    /// Other files that it changes.
    pub(super) changes: Vec<ResolvedPath>,
    /// Hosts that it connects to, in lower case.
    pub(super) hosts: Vec<String>,
}

impl Effects {
    /// Returns the files that it writes.
    pub(super) fn writes(&self) -> impl Iterator<Item = &ResolvedPath> {
        self.redirected.iter().chain(&self.changes)
    }
}
