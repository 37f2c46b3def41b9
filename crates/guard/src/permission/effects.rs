//! The files and hosts that calls touch.

use super::path_context::ResolvedPath;

/// The files and hosts that a call, or one command of a command line, reads, writes or connects to.
#[derive(Default)]
pub(super) struct Effects {
    /// Files that the call reads, or that the words and input redirections of a command may name.
    pub(super) reads: Vec<ResolvedPath>,
    /// The targets of redirections.
    pub(super) redirected: Vec<ResolvedPath>,
    /// Other files that are changed.
    pub(super) changes: Vec<ResolvedPath>,
    /// Hosts, in lower case.
    pub(super) hosts: Vec<String>,
}

impl Effects {
    /// Returns the files that are written.
    pub(super) fn writes(&self) -> impl Iterator<Item = &ResolvedPath> {
        self.redirected.iter().chain(&self.changes)
    }
}
