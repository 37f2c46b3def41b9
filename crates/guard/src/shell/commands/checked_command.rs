//! The result of the check of a simple command.

use std::ops::Range;

use crate::shell::verdict::{GitScope, GitUse, Refusal};

/// The effects of a command that its check found.
#[derive(Debug, Default)]
pub(in crate::shell) struct CheckedCommand {
    /// Whether it changes the directory.
    pub(in crate::shell) changes_directory: bool,
    /// The directory that it changes to, if known.
    pub(in crate::shell) target: Option<String>,
    /// The command, if it is `git`.
    pub(in crate::shell) git: Option<GitCall>,
    /// Names of the commands that run, with the subcommands of git.
    pub(in crate::shell) names: Vec<String>,
    /// The first command whose arguments are a language, such as `awk`.
    pub(in crate::shell) language: Option<String>,
    /// A command that may print secrets of the environment.
    pub(in crate::shell) reveals: Option<String>,
    /// Whether it only reads on its own, in any directory.
    pub(in crate::shell) only_reads: bool,
    /// The first reason why it is not known to be read-only as a part of the line.
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
    /// Sets the language, unless an earlier command did.
    pub(super) fn record_language(&mut self, command: &str) {
        self.language.get_or_insert_with(|| command.to_owned());
    }

    /// Returns the uses of git, one for each directory in which it may start.
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
