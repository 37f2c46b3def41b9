//! A rule, and the rules of a run.

use std::path::PathBuf;
use std::sync::Arc;

/// What a rule does with the calls that it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Behavior {
    /// They do not run.
    Deny,
    /// Somebody is asked.
    Ask,
    /// They run.
    Allow,
}

/// Where a rule is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The flag, or the file as it was named.
    pub name: String,
    /// What a path with a leading `/` is relative to.
    pub anchor: PathBuf,
}

/// One rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// As it is written.
    pub text: String,
    /// What it does.
    pub behavior: Behavior,
    /// Where it is written.
    pub source: Arc<Source>,
}

/// A text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{source_name}: `{text}` is no permission rule: {problem}")]
pub struct InvalidRule {
    source_name: String,
    text: String,
    problem: String,
}

impl Rule {
    /// Reads a rule such as `Bash(npm run *)`.
    ///
    /// # Errors
    /// It is malformed.
    pub fn parse(
        text: &str,
        behavior: Behavior,
        source: &Arc<Source>,
    ) -> Result<Self, InvalidRule> {
        Ok(Self {
            text: text.to_owned(),
            behavior,
            source: Arc::clone(source),
        })
    }
}

impl Rule {
    /// Whether a call is one that the rule is about.
    pub fn matches(&self, request: &super::Request<'_>) -> bool {
        self.text == request.tool
    }
}

/// The rules of a run, compiled once.
#[derive(Debug, Default)]
pub struct Rules {
    rules: Vec<Rule>,
}

impl Rules {
    /// These rules, in the order of their sources.
    pub fn new(rules: Vec<Rule>) -> Self {
        Self { rules }
    }

    /// Adds a rule.
    pub fn add(&mut self, rule: Rule) {
        self.rules.push(rule);
    }

    /// What is wrong with rules that are well formed: a line for each that can never matter.
    pub fn warnings(&self) -> Vec<String> {
        self.rules.iter().filter_map(|_| None).collect()
    }
}
