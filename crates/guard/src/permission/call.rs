//! A call in the form that rules are matched against, and its effects.

use std::cell::OnceCell;

use super::Action;
use super::command::{Command, build_commands};
use super::domain::parse_host;
use super::path_context::{PathContext, ResolvedPath};

/// A parsed call.
pub(super) struct ParsedCall<'a> {
    pub(super) context: &'a PathContext<'a>,
    /// The effects of a call that is not a command line; else empty.
    pub(super) effects: Effects,
    commands: OnceCell<Vec<Command<'a>>>,
}

impl<'a> ParsedCall<'a> {
    pub(super) fn new(context: &'a PathContext<'a>) -> Self {
        let effects = match context.request.action {
            Action::Files { reads, writes } => Effects {
                reads: reads.iter().map(|path| context.resolve(path)).collect(),
                changes: writes.iter().map(|path| context.resolve(path)).collect(),
                ..Effects::default()
            },
            Action::Fetch { url } => Effects {
                hosts: parse_host(url).into_iter().collect(),
                ..Effects::default()
            },
            Action::Command { .. } | Action::Harmless | Action::Anything => Effects::default(),
        };
        Self {
            context,
            effects,
            commands: OnceCell::new(),
        }
    }

    /// Returns the commands of a command line; none for another call.
    pub(super) fn commands(&self) -> &[Command<'a>] {
        self.commands
            .get_or_init(|| match self.context.request.action {
                Action::Command { script, line, .. } => build_commands(script, line, self.context),
                _ => Vec::new(),
            })
    }
}

/// The files and hosts that a call, or one command of a command line, reads, writes or connects to.
#[derive(Default)]
pub(super) struct Effects {
    /// Files that the call reads, or that the words and input redirections of a command may name.
    pub(super) reads: Vec<ResolvedPath>,
    /// The targets of redirections.
    pub(super) redirected: Vec<ResolvedPath>,
    /// Other files that are changed.
    pub(super) changes: Vec<ResolvedPath>,
    /// Hosts, in lower case.
    pub(super) hosts: Vec<String>,
}

impl Effects {
    /// Returns the files that are written.
    pub(super) fn writes(&self) -> impl Iterator<Item = &ResolvedPath> {
        self.redirected.iter().chain(&self.changes)
    }
}
