//! What has to hold outside of the text for a command line to be read-only.

use std::fmt;
use std::path::{Path, PathBuf};

/// A condition outside of the text for a command to be read-only.
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

/// One place where a command line runs git, and on what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitUse {
    /// The directories to go to from where the shell starts, one after the other.
    pub steps: Vec<String>,
    /// What git looks at there.
    pub scope: GitScope,
}

impl GitUse {
    /// Where git runs if the shell starts in `directory`.
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

/// What git looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitScope {
    /// History and settings.
    Objects,
    /// The index and the files too, or the contents of changes: hooks, monitors, filters and
    /// programs for differences can come into play.
    WorkTree,
}
