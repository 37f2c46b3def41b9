//! A simple command that is checked.

use std::ops::Range;

use crate::shell::verdict::{GitScope, GitUse, Refusal};

/// A command that is being checked, and the effects found so far.
#[derive(Debug, Default)]
pub(in crate::shell) struct CheckedCommand {
    /// Whether it changes the directory.
    pub(in crate::shell) changes_directory: bool,
    /// The directory that it changes to, if known.
    pub(in crate::shell) target: Option<String>,
    /// Its use of git.
    pub(in crate::shell) git: Option<GitCall>,
    /// Names of the commands that it starts, with subcommands.
    pub(in crate::shell) names: Vec<String>,
    /// The first command whose arguments are a language.
    pub(in crate::shell) language: Option<String>,
    /// A command that may print secrets of the environment.
    pub(in crate::shell) reveals: Option<String>,
    /// Whether it only reads on its own, wherever it runs.
    pub(in crate::shell) only_reads: bool,
    /// The reason against it as a part of the line.
    pub(in crate::shell) refusal: Option<Refusal>,
}

/// A git command.
#[derive(Debug)]
pub(in crate::shell) struct GitCall {
    /// The directories given with `-C`.
    pub(super) steps: Vec<String>,
    pub(super) scope: GitScope,
    pub(in crate::shell) span: Range<usize>,
}

impl CheckedCommand {
    pub(super) fn read_language(&mut self, command: &str) {
        self.language.get_or_insert_with(|| command.to_owned());
    }

    /// Returns the uses of git by a shell that may start in each of these directories.
    pub(in crate::shell) fn git_uses(&self, starts: &[Vec<String>]) -> Vec<GitUse> {
        let Some(call) = &self.git else {
            return Vec::new();
        };
        let uses = starts.iter().map(|start| GitUse {
            steps: [start.as_slice(), &call.steps].concat(),
            scope: call.scope,
        });
        uses.collect()
    }
}
