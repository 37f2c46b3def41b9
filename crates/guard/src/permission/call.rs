//! A call in the form that rules are matched against.

use std::cell::OnceCell;

use super::Action;
use super::command::{Command, build_commands};
use super::domain::parse_host;
use super::effects::Effects;
use super::path_context::PathContext;

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
