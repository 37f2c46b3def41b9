//! The file rules of a run, as a source of masks.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::mask_rules::MaskRules;
use super::search::{FoundMasks, SearchCache, SearchResult};
use super::workspace::WorkspaceFiles;
use crate::permission::DeniedFiles;
use crate::process::{MaskList, MaskSource, Privilege};
use turnpipe_core::io::{Environment, Lock};

/// The file rules of a run.
#[derive(Debug)]
pub struct FileRules {
    rules: MaskRules,
    cache: Mutex<SearchCache>,
}

impl FileRules {
    /// Creates rules that deny files. Patterns with wildcards are expanded in the working directories and in the home
    /// directory.
    pub fn new(
        patterns: Vec<DeniedFiles>,
        working_directories: &[PathBuf],
        environment: Arc<Environment>,
    ) -> Self {
        let rules = MaskRules {
            patterns,
            working_directories: working_directories.to_vec(),
            home: environment.get("HOME").map(PathBuf::from),
            environment,
            privilege: Privilege::from_process(),
            workspace: None,
        };
        Self {
            rules,
            cache: Mutex::default(),
        }
    }

    /// Adds the files that a workspace protects.
    #[must_use]
    pub fn with_workspace(mut self, workspace: WorkspaceFiles) -> Self {
        self.rules.workspace = Some(workspace);
        self
    }

    /// Finds the masks for the files that exist now. Walks through directories.
    pub fn find_masks(&self) -> FoundMasks {
        self.search(|found| found.masks.clone())
    }

    /// Searches, and returns a part of the result.
    fn search<T>(&self, result: impl FnOnce(&SearchResult) -> T) -> T {
        result(self.cache.lock_anyway().search(&self.rules))
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
