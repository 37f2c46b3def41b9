//! The rules that a search for files applies.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::workspace::WorkspaceFiles;
use crate::permission::DeniedFiles;
use crate::process::Privilege;
use turnpipe_core::io::Environment;

/// The rules from which masks are derived: deny rules and the files of a workspace.
#[derive(Debug)]
pub(super) struct MaskRules {
    pub(super) patterns: Vec<DeniedFiles>,
    pub(super) working_directories: Vec<PathBuf>,
    pub(super) home: Option<PathBuf>,
    pub(super) environment: Arc<Environment>,
    pub(super) privilege: Privilege,
    pub(super) workspace: Option<WorkspaceFiles>,
}

impl MaskRules {
    /// Whether patterns with wildcards are expanded in a directory.
    pub(super) fn is_expanded(&self, path: &Path) -> bool {
        let mut directories = self.working_directories.iter().chain(&self.home);
        directories.any(|directory| path.starts_with(directory))
    }
}
