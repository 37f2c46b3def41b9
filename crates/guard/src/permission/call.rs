//! A call in the form that rules are matched against, parsed once.

use std::cell::OnceCell;

use super::Action;
use super::command::{Command, commands};
use super::domain::host;
use super::path_context::{PathContext, ResolvedPath};

/// A parsed call.
pub(super) struct ParsedCall<'a> {
    pub(super) context: &'a PathContext<'a>,
    /// Files that it only reads.
    pub(super) reads: Vec<ResolvedPath>,
    /// Files that it writes.
    pub(super) writes: Vec<ResolvedPath>,
    /// Host that it connects to.
    pub(super) host: Option<String>,
    commands: OnceCell<Vec<Command<'a>>>,
}

impl<'a> ParsedCall<'a> {
    pub(super) fn new(context: &'a PathContext<'a>) -> Self {
        let (reads, writes) = match context.request.action {
            Action::Files { reads, writes } => (reads.as_slice(), writes.as_slice()),
            _ => Default::default(),
        };
        Self {
            context,
            reads: reads.iter().map(|path| context.resolve(path)).collect(),
            writes: writes.iter().map(|path| context.resolve(path)).collect(),
            host: match context.request.action {
                Action::Fetch { url } => host(url),
                _ => None,
            },
            commands: OnceCell::new(),
        }
    }

    /// Returns the commands of its command line.
    pub(super) fn commands(&self) -> &[Command<'a>] {
        self.commands
            .get_or_init(|| match self.context.request.action {
                Action::Command { script, line, .. } => commands(script, line, self.context),
                _ => Vec::new(),
            })
    }
}
