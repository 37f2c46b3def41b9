//! Which files the rules of a run name, and the masks that protect them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::search::{Basis, Found, NamedFiles, Search};
use super::walk::Walk;
use super::workspace::WorkspaceFiles;
use crate::io::{Environment, Lock};
use crate::permission::DeniedFiles;
use crate::process::{Mask, MaskList, MaskSource, Privilege};

/// The file rules of a run.
#[derive(Debug)]
pub struct FileRules {
    pub(super) patterns: Vec<DeniedFiles>,
    pub(super) working_directories: Vec<PathBuf>,
    home: Option<PathBuf>,
    pub(super) environment: Arc<Environment>,
    pub(super) privilege: Privilege,
    pub(super) workspace: Option<WorkspaceFiles>,
    earlier: Mutex<Earlier>,
}

/// What earlier searches have seen.
#[derive(Debug, Default)]
pub(super) struct Earlier {
    pub(super) files: Walk,
    pub(super) services: Walk,
    /// What was found in the directories of the last walk for files.
    pub(super) named: HashMap<PathBuf, NamedFiles>,
    found: Option<Found>,
}

/// The masks for the files that exist now, and what they do not protect.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FoundMasks {
    /// The masks, in the order in which they have to be mounted.
    pub masks: Vec<Mask>,
    /// Reasons why a rule does not hold for all files that it names, each on one line.
    pub gaps: Vec<String>,
}

impl FoundMasks {
    /// Whether a mask is over a path or a directory above it.
    pub fn covers(&self, path: &Path) -> bool {
        self.masks.iter().any(|mask| path.starts_with(&mask.path))
    }
}

impl FileRules {
    /// Returns the rules for these files. Patterns with wildcards are expanded in the working directories and in the
    /// home directory.
    pub fn new(
        patterns: Vec<DeniedFiles>,
        working_directories: &[PathBuf],
        environment: Arc<Environment>,
    ) -> Self {
        Self {
            patterns,
            working_directories: working_directories.to_vec(),
            home: environment.get("HOME").map(PathBuf::from),
            environment,
            privilege: Privilege::of_process(),
            workspace: None,
            earlier: Mutex::default(),
        }
    }

    /// Adds what a workspace protects besides.
    #[must_use]
    pub fn with_workspace(self, workspace: WorkspaceFiles) -> Self {
        Self {
            workspace: Some(workspace),
            ..self
        }
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty() && self.workspace.is_none()
    }

    /// Whether patterns are expanded in a directory.
    pub(super) fn is_expanded(&self, path: &Path) -> bool {
        let mut directories = self.working_directories.iter().chain(&self.home);
        directories.any(|directory| path.starts_with(directory))
    }

    /// Returns the masks for the files that exist now. Walks through directories.
    pub fn find_masks(&self) -> FoundMasks {
        self.search(|found| found.masks.clone())
    }

    /// Searches again only if something has changed that the last search depended on: a search looks up each file.
    fn search<T>(&self, result: impl FnOnce(&Found) -> T) -> T {
        let mut earlier = self.earlier.locked();
        let basis = Basis::look(self, &mut earlier);
        let before = earlier.found.take();
        let current = before.filter(|found| found.is_current(&basis));
        let found = current.unwrap_or_else(|| Search::new(self, basis).run(&mut earlier.named));
        result(earlier.found.insert(found))
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
