//! Conditions outside the text for a command line to be read-only.

use std::fmt;
use std::path::{Path, PathBuf};

/// A condition outside the text for a command to be read-only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Requirement {
    /// The configuration that git finds in a directory runs no program.
    CleanGitConfig(GitUse),
}

impl fmt::Display for Requirement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CleanGitConfig(_) => formatter.write_str("clean-git-config"),
        }
    }
}

/// One use of git in a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitUse {
    /// Successive changes of directory, from where the shell starts.
    pub steps: Vec<String>,
    /// The data that git accesses.
    pub scope: GitScope,
}

impl GitUse {
    /// Returns the directory of git if the shell starts in `directory`.
    pub fn directory(&self, directory: &Path) -> PathBuf {
        self.steps
            .iter()
            .fold(directory.to_owned(), |directory, step| directory.join(step))
    }

    /// Whether git runs where the shell starts.
    pub fn is_here(&self) -> bool {
        self.steps.is_empty()
    }
}

/// The data that git accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitScope {
    /// History and settings.
    Objects,
    /// Also the index, the files, or the contents of changes, so that hooks, monitors, filters and
    /// diff programs may run.
    WorkTree,
}
