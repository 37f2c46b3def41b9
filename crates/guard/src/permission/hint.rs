//! Suggested rules for calls that no rule decides.

use std::path::Path;
use std::sync::Arc;

use super::command::Command;
use super::domain::host;
use super::invocation::joined;
use super::path_context::PathContext;
use super::pattern::escaped;
use super::programs;
use super::{Action, Behavior, Request, Rule};
use crate::shell::{UseKind, uses};

/// Suggests a rule for a call other than a command line.
pub(super) fn of_call(request: &Request<'_>) -> Option<String> {
    match request.action {
        Action::Files { writes, .. } => {
            let [path] = writes.as_slice() else {
                return None;
            };
            edit_rule(path, request)
        }
        Action::Fetch { url } => Some(format!("WebFetch(domain:{})", host(url)?)),
        Action::Anything => Some(request.tool.to_owned()),
        Action::Command { .. } | Action::Harmless => None,
    }
}

/// Suggests a rule for changing a file and its siblings.
fn edit_rule(path: &Path, request: &Request<'_>) -> Option<String> {
    let start = request.working_directories.first()?;
    Some(match path.strip_prefix(start) {
        Ok(below) => {
            let directory = below
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty());
            match directory {
                Some(directory) => format!("Edit(./{}/**)", directory.display()),
                None => format!("Edit(./{})", below.display()),
            }
        }
        Err(_) => format!("Edit(/{})", path.display()),
    })
}

/// Whether a program changes the files that its operands name, with any options.
pub(super) fn changes_operands(program: &str) -> bool {
    let mut uses = uses(program).iter();
    uses.any(|one| one.kind == UseKind::Writes && one.options().next().is_none())
}

/// Suggests a rule for one command without redirections to files: a listed one with any arguments, else one for exactly
/// this command.
pub(super) fn of_command(command: &Command<'_>, context: &PathContext<'_>) -> Option<String> {
    if !command.redirection_targets(context)?.is_empty() {
        return None;
    }
    let known = joined(command.known_words()?.into_iter().take(2));
    let begins = |words: &str| {
        let rest = known.strip_prefix(words);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let listed = wide_rules().find(|(words, _)| begins(words));
    let rule = match listed {
        Some((words, _)) => format!("Bash({words} *)"),
        None => format!("Bash({})", escaped(command.text)),
    };
    let parsed = Rule::parse(&rule, Behavior::Allow, &Arc::default());
    let allows = parsed.is_ok_and(|rule| rule.allows_command(command));
    (allows && !rule.contains('\n')).then_some(rule)
}

/// Returns the prefixes of commands for which rules are proposed, and the effects of these rules.
pub(super) fn wide_rules() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = programs::lines(include_str!("tables/proposals.txt"));
    let rows = rows.filter_map(|row| row.split_once(" | "));
    rows.flat_map(|(effects, commands)| commands.split(", ").map(move |words| (words, effects)))
}
