//! Suggested rules for calls that no rule decides.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::command::Command;
use super::domain::host;
use super::path_context::PathContext;
use super::pattern::escaped;
use super::programs::Kind;
use super::{Action, Behavior, Request, Rule, RuleSource, programs};
use crate::shell::{is_subcommand, is_wrapper};

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

/// Whether a rule that allows anything behind the name of a program would allow anything: the program starts others,
/// evaluates code or changes files.
fn needs_exact_rule(program: &str) -> bool {
    const OTHERS: [&str; 7] = ["make", "just", "docker", "podman", "ssh", "su", "curl"];
    OTHERS.contains(&program)
        || changes_operands(program)
        || is_wrapper(program)
        || programs::known(program)
            .iter()
            .any(|(kind, usage)| match kind {
                Kind::Starts => true,
                Kind::Shell | Kind::Code | Kind::Text => {
                    ["stdin", "all", "first"].iter().any(|form| usage.has(form))
                }
                Kind::Writer => false,
            })
}

/// Whether a program changes the files that its operands name, with any options.
pub(super) fn changes_operands(program: &str) -> bool {
    programs::known(program)
        .iter()
        .any(|(kind, usage)| *kind == Kind::Writer && usage.options().next().is_none())
}

/// Suggests a rule for one command: its program and subcommand with any arguments. Programs that
/// run other programs or change files get a rule for exactly this command. If the command is
/// allowed except for its redirection (`is_allowed`), the rule is for the target.
pub(super) fn of_command(
    command: &Command<'_>,
    is_allowed: bool,
    context: &PathContext<'_>,
) -> Option<String> {
    match command.redirection_targets(context)?.as_slice() {
        [] => {}
        [path] if is_allowed && context.is_inside(path) => {
            return edit_rule(&path.name, context.request);
        }
        _ => return None,
    }
    let words = command.known_words()?;
    let program = *words.first()?;
    let name = programs::name(program);
    let pattern = if needs_exact_rule(name) {
        escaped(command.text)
    } else if let Some(subcommand) = words.get(1).filter(|word| is_subcommand(word)) {
        format!("{program} {subcommand} *")
    } else {
        format!("{program} *")
    };
    let rule = format!("Bash({pattern})");
    let source = Arc::new(RuleSource {
        name: String::new(),
        anchor: PathBuf::new(),
    });
    let allows =
        Rule::parse(&rule, Behavior::Allow, &source).is_ok_and(|rule| rule.allows_command(command));
    (allows && !rule.contains('\n')).then_some(rule)
}
