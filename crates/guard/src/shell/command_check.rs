//! The check of a command of a line, and its effects other than writes.

use std::ops::Range;

use super::verdict::{Checked, GitScope, GitUse};
use super::word::PartWord;

/// Checks a command, given its name and its arguments.
pub(super) type Own = fn(&mut CheckedCommand, &PartWord, &[PartWord]) -> Checked;

/// A command that is being checked, and the effects found so far.
#[derive(Debug, Default)]
pub(super) struct CheckedCommand {
    /// Number of enclosing wrappers.
    pub(super) level: usize,
    /// The target of every change of directory, if known.
    pub(super) moves: Vec<Option<String>>,
    /// Every use of git, in order.
    pub(super) git: Vec<GitCall>,
    /// Names of the commands that it starts, with subcommands.
    pub(super) names: Vec<String>,
    /// The first command whose arguments are a language.
    pub(super) language: Option<String>,
    /// A command that may print secrets of the environment.
    pub(super) reveals: Option<String>,
    /// Whether it only reads on its own, wherever it runs.
    pub(super) only_reads: bool,
}

/// A git command.
#[derive(Debug)]
pub(super) struct GitCall {
    /// The directories given with `-C`.
    pub(super) steps: Vec<String>,
    pub(super) scope: GitScope,
    pub(super) span: Range<usize>,
}

impl CheckedCommand {
    pub(super) fn read_language(&mut self, command: &str) {
        self.language.get_or_insert_with(|| command.to_owned());
    }

    /// Returns the uses of git by a shell that may start in each of these directories.
    pub(super) fn git_uses(&self, starts: &[Vec<String>]) -> Vec<GitUse> {
        let uses = self.git.iter().flat_map(|call| {
            starts.iter().map(|start| GitUse {
                steps: [start.as_slice(), &call.steps].concat(),
                scope: call.scope,
            })
        });
        uses.collect()
    }
}
