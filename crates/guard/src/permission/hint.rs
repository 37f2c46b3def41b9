//! Suggested allow rules for calls that neither a rule nor a mode decides.

use std::path::Path;
use std::sync::Arc;

use super::command::Command;
use super::domain::parse_host;
use super::file_list::table_lines;
use super::pattern::escape;
use super::{Action, Behavior, Request, Rule};
use crate::shell::{Use, UseKind, find_uses, program_name};

/// Maximum length of a command in a rule that is proposed for exactly this command, in bytes.
const MAX_EXACT_LENGTH: usize = 120;

/// A rule that would allow a call or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hint {
    /// The text of an allow rule.
    pub rule: String,
    /// Further effects of the calls that it allows, as text. `None` if they are not known, so that the rule is not
    /// proposed.
    pub also_allows: Option<&'static str>,
}

/// Suggests a rule for a call other than a command line.
pub(super) fn suggest_for_call(request: &Request<'_>) -> Option<Hint> {
    let (rule, also_allows) = match request.action {
        Action::Files { writes, .. } => match writes.as_slice() {
            [path] => return suggest_edit_rule(path, request),
            _ => return None,
        },
        Action::Fetch { url } => (
            format!("WebFetch(domain:{})", parse_host(url)?),
            Some("uses the network: every page of this host"),
        ),
        // Other tools may run commands.
        Action::Anything => (
            request.tool.to_owned(),
            request.tool.starts_with("mcp__").then_some(
                "every call of this tool, which may write outside the project and use the network",
            ),
        ),
        Action::Command { .. } | Action::Harmless => return None,
    };
    Some(Hint { rule, also_allows })
}

/// Suggests a rule for changing a file and its siblings.
fn suggest_edit_rule(path: &Path, request: &Request<'_>) -> Option<Hint> {
    let start = request.working_directories.first()?;
    let below = path.strip_prefix(start).ok();
    let parent = below.and_then(Path::parent);
    let directory = parent.filter(|directory| !directory.as_os_str().is_empty());
    let (rule, also_allows) = match (directory, below) {
        (Some(directory), _) => (
            format!("Edit(./{}/**)", directory.display()),
            "changes every file below this directory",
        ),
        (None, Some(below)) => (
            format!("Edit(./{})", below.display()),
            "changes only this file, in every project",
        ),
        (None, None) => (
            format!("Edit(/{})", path.display()),
            "writes outside the project: this file",
        ),
    };
    Some(Hint {
        rule,
        also_allows: Some(also_allows),
    })
}

/// Suggests a rule for a command without redirections to files: a listed prefix with any arguments, else exactly this
/// command.
pub(super) fn suggest_for_command(command: &Command<'_>) -> Option<Hint> {
    if !command.redirection_targets()?.is_empty() {
        return None;
    }
    let words = command.known_words()?;
    let start = words.get(..2).unwrap_or(&words).join(" ") + " ";
    let begins_with = |words: &str| start.starts_with(&format!("{words} "));
    let (rule, also_allows) = match listed_prefixes().find(|(words, _)| begins_with(words)) {
        Some((words, effects)) => (format!("Bash({words} *)"), Some(effects)),
        None => (
            format!("Bash({})", escape(command.text)),
            can_be_proposed(command.text).then_some(
                "no other command; this one may write outside the project and use the network",
            ),
        ),
    };
    let is_allowed = Rule::parse(&rule, Behavior::Allow, &Arc::default())
        .is_ok_and(|rule| rule.allows_command(command));
    (is_allowed && !rule.contains('\n')).then_some(Hint { rule, also_allows })
}

/// Whether a rule for exactly this command can be proposed: its program neither changes the files that its operands
/// name regardless of options, nor has a listed prefix with a subcommand.
fn can_be_proposed(command: &str) -> bool {
    let name = command.split(' ').next().map_or("", program_name);
    let mut listed = listed_prefixes().filter_map(|(words, _)| words.split_once(' '));
    let changes = |usage: &Use| usage.kind == UseKind::Writes && usage.options().next().is_none();
    !find_uses(name).iter().any(changes)
        && command.len() <= MAX_EXACT_LENGTH
        && !command.contains('\0')
        && !listed.any(|(program, _)| program == name)
}

/// Returns the prefixes of commands for which rules are proposed, each with the effects of its rule.
fn listed_prefixes() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = table_lines(include_str!("tables/proposals.txt"));
    let rows = lines.filter_map(|row| row.split_once(" | "));
    rows.flat_map(|(effects, commands)| commands.split(", ").map(move |words| (words, effects)))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::permission::Mode;
    use crate::permission::decision_tests::Row;
    use crate::sample::sample;
    use turnpipe_core::message::DecidedBy;

    /// A command, and whether it only reads.
    #[derive(Deserialize)]
    struct Attack {
        command: String,
        read_only: bool,
    }

    fn all_wide_rules() -> Vec<String> {
        let rules = listed_prefixes().map(|(words, _)| format!("Bash({words} *)"));
        rules
            .chain(["WebFetch(domain:example.com)".to_owned()])
            .collect()
    }

    fn allow_everything_proposed(row: &mut Row) -> Behavior {
        row.allow.extend(all_wide_rules());
        row.decide().decision
    }

    #[test]
    fn no_proposed_rule_allows_an_attack() {
        let lines = include_str!("../../../../tests/data/shell/attacks.jsonl").lines();
        let attacks = lines.map(|line| serde_json::from_str::<Attack>(line).unwrap());
        let attacks = attacks.filter(|attack| !attack.read_only);
        for attack in sample(attacks, 4, |_| ()) {
            let mut row = Row {
                command: Some(attack.command),
                ..Row::default()
            };
            let before = row.decide().decision;
            let after = allow_everything_proposed(&mut row);
            assert_eq!(before, after, "{row:?}");
        }
    }

    #[test]
    fn proposed_rules_lose_against_deny_and_ask_rules() {
        let lines = include_str!("../../../../tests/data/permission/decisions.jsonl").lines();
        let rows = lines.map(|line| serde_json::from_str::<Row>(line).unwrap());
        let rows = rows.filter(|row| !row.deny.is_empty() || !row.ask.is_empty());
        for mut row in sample(rows, 10, |row| (row.decision.clone(), row.by.clone())) {
            let before = row.decide();
            let after = allow_everything_proposed(&mut row);
            if matches!(before.by, DecidedBy::Rule { .. }) {
                assert_eq!(before.decision, after, "{row:?}");
            }
        }
    }

    #[test]
    fn every_proposal_names_its_further_effects() {
        let rows = [
            ("cargo test --lib", "Bash(cargo test *)", "runs code"),
            (
                "pytest specs -q",
                "Bash(pytest *)",
                "outside the project and use the network",
            ),
            (
                "git push origin main",
                "Bash(git push *)",
                "uses the network",
            ),
            ("sh ./check.sh", "Bash(sh ./check.sh)", "no other command"),
            ("cd src && npm run x -- -y", "Bash(npm run *)", "runs code"),
            ("mytool", "Bash(mytool)", "no other command"),
        ];
        for (command, rule, effect) in rows {
            let row = Row {
                command: Some(command.to_owned()),
                ..Row::default()
            };
            let proposals = row.decide().proposals().unwrap();
            let [proposal] = proposals.as_slice() else {
                panic!("{command}: {proposals:?}");
            };
            assert_eq!(proposal.rule, rule);
            let also_allows = proposal.also_allows.unwrap();
            assert!(also_allows.contains(effect), "{proposal:?}");
        }
        for command in ["git stash", "rm -rf build", "kubectl delete x", "ls"] {
            let row = Row {
                command: Some(command.to_owned()),
                ..Row::default()
            };
            assert_eq!(row.decide().proposals(), None, "{command}");
        }
    }

    #[test]
    fn listed_rules_can_be_parsed_and_allow_their_commands() {
        for (words, effects) in listed_prefixes() {
            let row = Row {
                allow: vec![format!("Bash({words} *)")],
                command: Some(format!("{words} x")),
                ..Row::default()
            };
            let decided = row.with_request(|request| row.rules().decide(Mode::Default, request));
            assert_eq!(decided.decision, Behavior::Allow, "{words}");
            assert!(!effects.is_empty());
        }
    }
}
