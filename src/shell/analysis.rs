//! What the analysis of a command line says.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What is known about a command line without running it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    /// Whether it only reads.
    pub verdict: Verdict,
    /// What decided, in one line: the construct or the word, and what is wrong with it.
    pub why: String,
    /// Where the deciding word stands, in bytes; nothing if no single word decided.
    pub span: Option<Range<usize>>,
    /// Whether the shell may end in another directory than it began in.
    pub changes_directory: bool,
    /// The names of the commands that are run, each once; empty unless the verdict is read-only.
    pub programs: Vec<String>,
}

/// Whether a command line only reads: no file changes, no network, no signals, no process left
/// behind, no program that data chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It does, if all of this holds.
    ReadOnly {
        /// What the text alone cannot tell; empty for most commands.
        requires: Vec<Requirement>,
    },
    /// It does not, as far as the text tells.
    Writes,
    /// It is not understood well enough.
    Unknown,
}

impl Verdict {
    /// Whether it is read-only, given that every requirement holds.
    pub fn is_read_only(&self) -> bool {
        matches!(self, Self::ReadOnly { .. })
    }
}

/// What must hold besides for a command to be read-only.
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
