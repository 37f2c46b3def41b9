//! The check of one simple command: its assignments, then its name.

use tree_sitter::Node;

use super::{awk, builtins, conditions, find, git, rules, sed, wrappers, writers};
use crate::shell::call::{Call, Entry, Own};
use crate::shell::effects::{CommandContext, Effects};
use crate::shell::parsed_command::ParsedCommand;
use crate::shell::refusal::{Refusal, excerpt};
use crate::shell::table::COMMANDS;
use crate::shell::variables::{may_be_passed, may_be_set};

/// Checks a simple command.
pub(in crate::shell) fn check(
    text: &str,
    simple: &ParsedCommand<'_>,
    context: CommandContext,
    effects: &mut Effects,
) -> Result<(), Refusal> {
    for assignment in &simple.assignments {
        let name = assignment.name.as_str();
        let is_passed = !simple.words.is_empty();
        let accepted = if is_passed {
            may_be_passed(name, &assignment.value)
        } else {
            may_be_set(name)
        };
        if !accepted {
            let shown = excerpt(text.get(assignment.span.clone()).unwrap_or(name));
            let why = if is_passed {
                format!("`{shown}` may change what the command does")
            } else {
                format!("`{shown}`: `{name}` has a special meaning for the shell or programs")
            };
            return Err(Refusal::unknown(assignment.span.clone(), why));
        }
    }
    if simple.words.is_empty() {
        return Ok(());
    }
    let mut call = Call {
        entry,
        context,
        effects,
        level: 0,
    };
    call.check(&simple.words)
}

/// Whether a command is known to change nothing in any directory. Substitutions and assignments
/// before its words are ignored.
pub(in crate::shell) fn reads_anywhere(text: &str, simple: &ParsedCommand<'_>) -> bool {
    let mut effects = Effects::default();
    let context = CommandContext::default();
    let checked = if simple.words.is_empty() {
        check(text, simple, context, &mut effects)
    } else {
        let mut call = Call {
            entry,
            context,
            effects: &mut effects,
            level: 0,
        };
        call.check(&simple.words)
    };
    let waits_for_all = |node: &Node<'_>| node.kind() != "process_substitution";
    checked.is_ok()
        && effects.language.is_none()
        && effects.git_uses().is_ok_and(|uses| uses.is_empty())
        && simple.substitutions.iter().all(waits_for_all)
}

/// Returns the entry for a command name.
fn entry(name: &str) -> Entry {
    let own: Own = match name {
        "[" => conditions::bracket,
        "test" => conditions::test,
        "awk" | "gawk" | "mawk" | "original-awk" => awk::check,
        "cd" => builtins::change_directory,
        "printf" => builtins::printf,
        "read" => builtins::read,
        "set" => builtins::set,
        "." | "eval" | "exec" | "source" => builtins::unknown_code,
        "command" => wrappers::command,
        "env" => wrappers::env,
        "time" => wrappers::time,
        "timeout" => wrappers::timeout,
        "xargs" => wrappers::xargs,
        "find" => find::check,
        "git" => git::check,
        "sed" | "gsed" => sed::check,
        "tar" => rules::tar,
        _ => {
            return match COMMANDS.get(name) {
                Some(command) => Entry::Listed(command),
                None => writers::what_it_changes(name).map_or(Entry::Unlisted, Entry::Writes),
            };
        }
    };
    Entry::Own(own)
}
