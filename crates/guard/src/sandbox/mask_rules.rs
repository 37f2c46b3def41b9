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
        self.expanded_root(path).is_some()
    }

    /// Returns the innermost working directory that contains a path, or the home directory.
    pub(super) fn expanded_root(&self, path: &Path) -> Option<&Path> {
        let directories = self.working_directories.iter().chain(&self.home);
        let above = directories.filter(|directory| path.starts_with(directory));
        let innermost = above.max_by_key(|directory| directory.as_os_str().len());
        innermost.map(PathBuf::as_path)
    }
}
