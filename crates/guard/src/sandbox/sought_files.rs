//! What a search for files looks for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::workspace::WorkspaceFiles;
use crate::permission::DeniedFiles;
use crate::process::Privilege;
use turnpipe_core::io::Environment;

/// The files that a sandbox protects, as rules and a workspace name them.
#[derive(Debug)]
pub(super) struct SoughtFiles {
    pub(super) patterns: Vec<DeniedFiles>,
    pub(super) working_directories: Vec<PathBuf>,
    pub(super) home: Option<PathBuf>,
    pub(super) environment: Arc<Environment>,
    pub(super) privilege: Privilege,
    pub(super) workspace: Option<WorkspaceFiles>,
}

impl SoughtFiles {
    /// Whether patterns are expanded in a directory.
    pub(super) fn is_expanded(&self, path: &Path) -> bool {
        let mut directories = self.working_directories.iter().chain(&self.home);
        directories.any(|directory| path.starts_with(directory))
    }
}
