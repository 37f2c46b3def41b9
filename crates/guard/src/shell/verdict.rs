//! Verdicts on command lines: their conditions, and the reasons against read-only ones.

use std::ops::Range;
use std::path::{Path, PathBuf};

/// Verdict whether a command line is read-only: no file changes, network, signals, remaining processes, or
/// programs chosen by data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Verdict {
    /// Read-only if the configuration that git finds runs no program, in each use.
    ReadOnly {
        /// The uses of git; empty for most commands.
        requires: Vec<GitUse>,
    },
    /// The command line is not known to be read-only.
    #[default]
    Unknown,
}

impl Verdict {
    /// Whether it is read-only, given that every requirement holds.
    pub fn is_read_only(&self) -> bool {
        matches!(self, Self::ReadOnly { .. })
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
    /// The condition as named in records: the configuration that git finds runs no program.
    pub const CONDITION: &str = "clean-git-config";

    /// Returns the directory of git if the shell starts in `directory`.
    pub fn directory(&self, directory: &Path) -> PathBuf {
        directory.join(PathBuf::from_iter(&self.steps))
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

/// Acceptance, or the reason for a refusal.
pub(super) type Checked = Result<(), Refusal>;

/// The first construct that is not known to be read-only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) why: String,
    pub(super) span: Range<usize>,
}

impl Refusal {
    /// Returns it about a place, unless it is about another one.
    pub(super) fn at(mut self, place: &Range<usize>) -> Self {
        if self.span.is_empty() {
            self.span = place.clone();
        }
        self
    }

    pub(super) fn new(span: Range<usize>, why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            span,
        }
    }
}

/// Whether a word is among names that are separated by blanks.
pub(crate) fn is_one_of(names: &str, word: &str) -> bool {
    names.split_ascii_whitespace().any(|name| name == word)
}

/// Returns the start of a text, on one line.
pub(super) fn excerpt(text: &str) -> String {
    /// Enough to recognise a word, in characters.
    const SHOWN: usize = 40;
    let line = turnpipe_core::text::terminal_safe_line(text);
    let mut shown: String = line.chars().take(SHOWN).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    shown
}
