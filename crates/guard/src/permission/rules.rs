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
    /// All rules: stricter ones first, then in source order.
    all: Vec<Rule>,
}

impl Rules {
    /// Creates a set from rules in source order.
    pub fn new(mut rules: Vec<Rule>) -> Self {
        rules.sort_by_key(|rule| Reverse(rule.behavior));
        Self { all: rules }
    }

    /// Adds a rule behind those with the same behavior.
    pub fn add(&mut self, rule: Rule) {
        self.all.push(rule);
        self.all.sort_by_key(|rule| Reverse(rule.behavior));
    }

    /// Returns the rules that deny files.
    #[must_use]
    pub fn file_denials(&self) -> Self {
        let deny_rules = self.with_behavior(Behavior::Deny);
        let on_files = deny_rules.filter(|rule| rule.is_about_files());
        Self::new(on_files.cloned().collect())
    }

    /// Returns a predicate for files that must not be read, given by their path and their path after following links.
    /// `request` has the directories of the session. `None` if no rule denies files.
    pub fn unreadable<'a>(
        &'a self,
        request: &'a Request<'a>,
    ) -> Option<impl Fn(PathBuf, PathBuf) -> bool + use<'a>> {
        let context = PathContext::new(request);
        let is_unreadable = move |name: PathBuf, real: PathBuf| {
            let file = ResolvedPath {
                name,
                real: Some(real.into()),
                has_gap: false,
            };
            let effects = Effects {
                reads: vec![file],
                ..Effects::default()
            };
            self.with_behavior(Behavior::Deny)
                .any(|rule| rule.restricts_effects(&effects, &context))
        };
        let mut denying = self.with_behavior(Behavior::Deny);
        denying.any(Rule::is_about_files).then_some(is_unreadable)
    }

    /// Returns a warning for each rule that can have no effect. `has_tool` is true of tools that are not those of a
    /// coding agent.
    pub fn warnings(&self, has_tool: &dyn Fn(&str) -> bool) -> Vec<String> {
        let warnings = self.all.iter().filter_map(|rule| rule.warning(has_tool));
        warnings.collect()
    }

    /// Returns the rules with a behavior, in source order.
    pub(super) fn with_behavior(&self, behavior: Behavior) -> impl Iterator<Item = &Rule> {
        let all = self.all.iter();
        all.filter(move |rule| rule.behavior == behavior)
    }

    /// Whether a deny or ask rule may match a text that a command evaluates. The texts of a program with an allow rule
    /// of its own are trusted.
    pub(super) fn may_restrict_evaluated(&self, command: &Command<'_>) -> bool {
        let is_trusted = |name: &str| {
            self.with_behavior(Behavior::Allow)
                .any(|rule| rule.is_for(name))
        };
        self.strictest(|rule| rule.may_restrict_evaluated(command, is_trusted))
            .is_some()
    }

    /// Whether a deny or ask rule is about commands.
    pub(super) fn has_command_rules(&self) -> bool {
        let is_about = |rule: &Rule| matches!(rule.specifier, Specifier::Command(_));
        self.strictest(is_about).is_some()
    }

    /// Returns the strictest deny or ask rule that satisfies `restricts`.
    pub(super) fn strictest(&self, restricts: impl Fn(&Rule) -> bool) -> Option<&Rule> {
        let mut stricter = self
            .all
            .iter()
            .take_while(|rule| rule.behavior != Behavior::Allow);
        stricter.find(|rule| restricts(rule))
    }

    /// Whether a deny or ask rule may match a part of a command line.
    pub(super) fn may_restrict_commands(&self) -> bool {
        let is_about_parts = |rule: &Rule| match rule.specifier {
            Specifier::Any => rule.tool.names("Edit"),
            Specifier::Outside(access) => access == OutsideAccess::Command,
            Specifier::Argument | Specifier::Nothing => false,
            _ => true,
        };
        self.strictest(is_about_parts).is_some()
    }
}
