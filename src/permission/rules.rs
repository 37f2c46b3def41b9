//! The rules of a run.

use std::cmp::Reverse;

use super::rule::Specifier;
use super::tool_name::ToolName;
use super::{Behavior, Rule};

/// The rules of a run, compiled once.
#[derive(Debug, Default)]
pub struct Rules {
    /// Stricter ones first, then in the order of their sources.
    rules: Vec<Rule>,
}

impl Rules {
    /// These rules, in the order of their sources.
    pub fn new(mut rules: Vec<Rule>) -> Self {
        rules.sort_by_key(|rule| Reverse(rule.behavior));
        Self { rules }
    }

    /// Adds a rule.
    pub fn add(&mut self, rule: Rule) {
        self.rules.push(rule);
        self.rules.sort_by_key(|rule| Reverse(rule.behavior));
    }

    /// What is wrong with rules that are well formed: a line for each that can never matter.
    pub fn warnings(&self) -> Vec<String> {
        let unmatched = self.rules.iter().filter_map(Rule::warning);
        let shadowed = self.that(Behavior::Allow).filter_map(|allow| {
            let ToolName::Exact(tool) = &allow.tool else {
                return None;
            };
            let stricter = self.rules.iter().find(|rule| {
                rule.behavior != Behavior::Allow
                    && matches!(rule.specifier, Specifier::Any)
                    && rule.tool.covers(tool)
            })?;
            Some(format!(
                "{}: the rule `{}` never matters, since `{}` of {} comes first",
                allow.source.name, allow.text, stricter.text, stricter.source.name
            ))
        });
        unmatched.chain(shadowed).collect()
    }

    /// Those that do this.
    pub(super) fn that(&self, behavior: Behavior) -> impl Iterator<Item = &Rule> {
        self.rules
            .iter()
            .filter(move |rule| rule.behavior == behavior)
    }

    /// The strictest one that restricts something.
    pub(super) fn restricting(&self, restricts: impl Fn(&Rule) -> bool) -> Option<&Rule> {
        self.rules
            .iter()
            .take_while(|rule| rule.behavior != Behavior::Allow)
            .find(|rule| restricts(rule))
    }

    /// Whether a rule may restrict a part of a command line.
    pub(super) fn restrict_commands(&self) -> bool {
        let looks_inside = |rule: &Rule| match rule.specifier {
            Specifier::Any => rule.tool.is("Edit"),
            Specifier::Argument | Specifier::Nothing => false,
            _ => true,
        };
        self.restricting(looks_inside).is_some()
    }
}
