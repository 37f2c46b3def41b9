//! A call in the form that rules are matched against, parsed once.

use std::cell::OnceCell;

use super::Action;
use super::command::{Command, commands};
use super::domain::host;
use super::effects::Effects;
use super::path_context::PathContext;

/// A parsed call.
pub(super) struct ParsedCall<'a> {
    pub(super) context: &'a PathContext<'a>,
    /// What it does, unless it is a command line.
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
                hosts: host(url).into_iter().collect(),
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

    /// Returns the commands of its command line.
    pub(super) fn commands(&self) -> &[Command<'a>] {
        self.commands
            .get_or_init(|| match self.context.request.action {
                Action::Command { script, line, .. } => commands(script, line, self.context),
                _ => Vec::new(),
            })
    }
}
