//! Verdicts on command lines, their conditions, and the reasons for refusals.

use std::ops::Range;
use std::path::{Path, PathBuf};

/// The verdict on a command line. A read-only one changes no files, uses no network, sends no signals, leaves no
/// processes and starts no programs that data names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Verdict {
    /// The command line is read-only if in each use of git, the configuration that git finds runs no program.
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

/// A use of git in a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitUse {
    /// Successive changes of directory, relative to the directory where the shell starts.
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
pub(super) type CheckResult = Result<(), Refusal>;

/// A construct that is not known to be read-only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The reason, on one line except for quoted text.
    pub(super) why: String,
    /// Byte range of the construct; empty if the reason is not about a single one.
    pub(super) span: Range<usize>,
}

impl Refusal {
    /// Returns the refusal with a byte range, unless it has one.
    pub(super) fn with_span(mut self, span: &Range<usize>) -> Self {
        if self.span.is_empty() {
            self.span = span.clone();
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

/// Whether a list of names, separated by whitespace, contains a word.
pub(crate) fn is_one_of(names: &str, word: &str) -> bool {
    names.split_ascii_whitespace().any(|name| name == word)
}

/// Returns at most 40 characters of a text, on one line and safe for terminals.
pub(super) fn excerpt(text: &str) -> String {
    const MAX_CHARS: usize = 40;
    let line = turnpipe_core::text::terminal_safe_line(text);
    let mut excerpt: String = line.chars().take(MAX_CHARS).collect();
    if excerpt.len() < line.len() {
        excerpt.push('…');
    }
    excerpt
}
