//! The rules of a run.

use std::cmp::Reverse;
use std::path::PathBuf;

use super::command::Command;
use super::effects::Effects;
use super::path_context::{PathContext, ResolvedPath};
use super::rule::{OutsideAccess, Specifier};
use super::{Behavior, Request, Rule};

/// The rules of a run, compiled once.
#[derive(Debug, Default)]
pub struct Rules {
    /// Stricter rules first, then in source order.
    all: Vec<Rule>,
}

impl Rules {
    /// Creates a set from rules in source order.
    pub fn new(mut rules: Vec<Rule>) -> Self {
        rules.sort_by_key(|rule| Reverse(rule.behavior));
        Self { all: rules }
    }

    /// Adds a rule.
    pub fn add(&mut self, rule: Rule) {
        self.all.push(rule);
        self.all.sort_by_key(|rule| Reverse(rule.behavior));
    }

    /// Returns the rules that deny files.
    #[must_use]
    pub fn file_denials(&self) -> Self {
        let denying = self.of(Behavior::Deny).filter(|rule| rule.denies_files());
        Self::new(denying.cloned().collect())
    }

    /// Returns a predicate for files that must not be read, by name and after following links.
    /// `request` has the directories of the session. `None` if no rule denies files.
    pub fn unreadable<'a>(
        &'a self,
        request: &'a Request<'a>,
    ) -> Option<impl Fn(PathBuf, PathBuf) -> bool + use<'a>> {
        let context = PathContext::new(request);
        let rules = move |name: PathBuf, real: PathBuf| {
            let real = Some(real.into());
            let file = ResolvedPath {
                name,
                real,
                has_gap: false,
            };
            let effects = Effects {
                reads: vec![file],
                ..Effects::default()
            };
            self.of(Behavior::Deny)
                .any(|rule| rule.restricts_effects(&effects, &context))
        };
        self.of(Behavior::Deny)
            .any(Rule::denies_files)
            .then_some(rules)
    }

    /// Returns a warning for each well-formed rule that has no effect. `has_tool` knows the names of tools that
    /// are not those of a coding agent.
    pub fn warnings(&self, has_tool: &dyn Fn(&str) -> bool) -> Vec<String> {
        let warnings = self.all.iter().filter_map(|rule| rule.warning(has_tool));
        warnings.collect()
    }

    /// Returns the rules with a behavior.
    pub(super) fn of(&self, behavior: Behavior) -> impl Iterator<Item = &Rule> {
        self.all
            .iter()
            .filter(move |rule| rule.behavior == behavior)
    }

    /// Whether a command needs approval because of what it evaluates. An allow rule for a program trusts the texts that
    /// the program evaluates.
    pub(super) fn may_restrict_evaluated(&self, command: &Command<'_>) -> bool {
        let is_trusted = |program: &str| self.of(Behavior::Allow).any(|rule| rule.starts(program));
        self.strictest(|rule| rule.may_restrict_evaluated(command, is_trusted))
            .is_some()
    }

    /// Whether a deny or ask rule is about commands.
    pub(super) fn are_about_commands(&self) -> bool {
        let is_about = |rule: &Rule| matches!(rule.specifier, Specifier::Command(_));
        self.strictest(is_about).is_some()
    }

    /// Returns the strictest restricting rule that satisfies `restricts`.
    pub(super) fn strictest(&self, restricts: impl Fn(&Rule) -> bool) -> Option<&Rule> {
        self.all
            .iter()
            .take_while(|rule| rule.behavior != Behavior::Allow)
            .find(|rule| restricts(rule))
    }

    /// Whether a rule may restrict part of a command line.
    pub(super) fn restrict_commands(&self) -> bool {
        let looks_inside = |rule: &Rule| match rule.specifier {
            Specifier::Any => rule.tool.is("Edit"),
            Specifier::Outside(access) => access == OutsideAccess::Command,
            Specifier::Argument | Specifier::Nothing => false,
            _ => true,
        };
        self.strictest(looks_inside).is_some()
    }
}
