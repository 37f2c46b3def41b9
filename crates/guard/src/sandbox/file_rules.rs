//! Which files the rules of a run name, and the masks that protect them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::search::{Earlier, Found, FoundMasks};
use super::sought_files::SoughtFiles;
use super::workspace::WorkspaceFiles;
use crate::permission::DeniedFiles;
use crate::process::{MaskList, MaskSource, Privilege};
use turnpipe_core::io::{Environment, Lock};

/// The file rules of a run.
#[derive(Debug)]
pub struct FileRules {
    sought: SoughtFiles,
    earlier: Mutex<Earlier>,
}

impl FileRules {
    /// Returns the rules for these files. Patterns with wildcards are expanded in the working directories and in the
    /// home directory.
    pub fn new(
        patterns: Vec<DeniedFiles>,
        working_directories: &[PathBuf],
        environment: Arc<Environment>,
    ) -> Self {
        let sought = SoughtFiles {
            patterns,
            working_directories: working_directories.to_vec(),
            home: environment.get("HOME").map(PathBuf::from),
            environment,
            privilege: Privilege::from_process(),
            workspace: None,
        };
        Self {
            sought,
            earlier: Mutex::default(),
        }
    }

    /// Adds what a workspace protects besides.
    #[must_use]
    pub fn with_workspace(mut self, workspace: WorkspaceFiles) -> Self {
        self.sought.workspace = Some(workspace);
        self
    }

    /// Returns the masks for the files that exist now. Walks through directories.
    pub fn find_masks(&self) -> FoundMasks {
        self.search(|found| found.masks.clone())
    }

    fn search<T>(&self, result: impl FnOnce(&Found) -> T) -> T {
        result(self.earlier.lock_anyway().search(&self.sought))
    }
}

impl MaskSource for FileRules {
    fn list(&self) -> MaskList {
        self.search(|found| MaskList {
            masks: found.masks.masks.clone(),
            version: found.version,
            protected: found.protected.clone(),
        })
    }
}
