//! Proposed rules for past calls, and their other effects.

use super::hint::{changes_operands, wide_rules};
use super::{Behavior, Decided};
use crate::shell::program_name;
use turnpipe_core::message::DecidedBy;

/// Maximum length of a command in a rule for exactly this command, in bytes.
const MAX_EXACT: usize = 120;

/// A rule that would allow a call or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Proposal {
    /// The text of an allow rule.
    pub rule: String,
    /// Further effects of calls that it allows, in words.
    pub also_allows: String,
}

impl Decided {
    /// Returns rules that together would allow a call that no rule decided. `None` if there are none, or their further
    /// effects are not known.
    pub fn proposals(&self) -> Option<Vec<Proposal>> {
        let is_open = |by: &DecidedBy| matches!(by, DecidedBy::Default { .. });
        let open = self
            .parts
            .iter()
            .filter(|part| part.decision != Behavior::Allow);
        if self.decision != Behavior::Ask
            || !is_open(&self.by)
            || !open.clone().all(|part| is_open(&part.by))
        {
            return None;
        }
        let hints = self.hints()?.into_iter().map(proposal);
        let mut proposals = hints.collect::<Option<Vec<_>>>()?;
        proposals.sort_unstable();
        proposals.dedup();
        Some(proposals).filter(|proposals| !proposals.is_empty())
    }
}

/// Returns the proposal for a hint, if its effects besides the call that led to it are known.
fn proposal(rule: &str) -> Option<Proposal> {
    let (tool, specifier) = rule
        .strip_suffix(')')
        .unwrap_or(rule)
        .split_once('(')
        .unwrap_or((rule, ""));
    let also_allows = match tool {
        "Bash" => match specifier.strip_suffix(" *") {
            Some(words) => {
                wide_rules().find_map(|(known, effects)| (known == words).then_some(effects))?
            }
            None if may_be_proposed(specifier) => {
                "no other command; this one may write outside the project and use the network"
            }
            None => return None,
        },
        "Edit" if specifier.starts_with("//") => "writes outside the project: this file",
        "Edit" if specifier.ends_with("/**") => "changes every file below this directory",
        "Edit" => "changes only this file, in every project",
        "WebFetch" => "uses the network: every page of this host",
        // Other tools may run commands.
        _ if tool.starts_with("mcp__") => {
            "every call of this tool, which may write outside the project and use the network"
        }
        _ => return None,
    };
    Some(Proposal {
        rule: rule.to_owned(),
        also_allows: also_allows.to_owned(),
    })
}

/// Whether a rule for exactly this command is proposed: not if its program changes files, or has other listed rules.
fn may_be_proposed(command: &str) -> bool {
    let name = command.split(' ').next().map_or("", program_name);
    let mut listed = wide_rules().filter_map(|(words, _)| words.split_once(' '));
    !changes_operands(name)
        && command.len() <= MAX_EXACT
        && !command.contains('\0')
        && !listed.any(|(program, _)| program == name)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::permission::Mode;
    use crate::permission::decision_tests::Row;
    use crate::sample::sample;

    /// A command, and whether it only reads.
    #[derive(Deserialize)]
    struct Attack {
        command: String,
        read_only: bool,
    }

    fn all_wide_rules() -> Vec<String> {
        let rules = wide_rules().map(|(words, _)| format!("Bash({words} *)"));
        rules
            .chain(["WebFetch(domain:example.com)".to_owned()])
            .collect()
    }

    fn allow_everything_proposed(row: &mut Row) -> Behavior {
        row.allow.extend(all_wide_rules());
        row.decided().decision
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
            let before = row.decided().decision;
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
            let before = row.decided();
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
            let proposals = row.decided().proposals().unwrap();
            let [proposal] = proposals.as_slice() else {
                panic!("{command}: {proposals:?}");
            };
            assert_eq!(proposal.rule, rule);
            assert!(proposal.also_allows.contains(effect), "{proposal:?}");
        }
        for command in ["git stash", "rm -rf build", "kubectl delete x", "ls"] {
            let row = Row {
                command: Some(command.to_owned()),
                ..Row::default()
            };
            assert_eq!(row.decided().proposals(), None, "{command}");
        }
    }

    #[test]
    fn listed_rules_can_be_parsed_and_allow_their_commands() {
        for (words, effects) in wide_rules() {
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
