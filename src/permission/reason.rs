//! The reason for a denial, for the model.

use super::{Behavior, Decided, Mode};
use crate::message::{BuiltinRule, DecidedBy, Decision};

impl Decided {
    /// Returns the reason for a denial, on one line for the model.
    pub fn reason(&self, tool: &str, effect: Option<&str>) -> String {
        let why = self.explanation(effect);
        format!("Permission to use {tool} was denied: {why}")
    }

    /// Returns the reason without the tool. `effect` is the reason why the call needs permission,
    /// or the reason given by a hook that asks.
    pub fn explanation(&self, effect: Option<&str>) -> String {
        let part = self
            .parts
            .iter()
            .find(|part| part.decision != Decision::Allow && part.by == self.by);
        let what = part.map_or("it".to_owned(), |part| format!("`{}`", part.command));
        let why = match &self.by {
            DecidedBy::Rule {
                rule,
                behavior: Behavior::Ask,
                source,
            } => format!(
                "the rule `{rule}` of {source} requires approval for {what}, and no approver is available"
            ),
            DecidedBy::Rule { rule, source, .. } => {
                format!("the rule `{rule}` of {source} denies {what}")
            }
            DecidedBy::Builtin {
                builtin: BuiltinRule::Unparsable,
            } => "the command cannot be parsed, and no rule allows all commands".to_owned(),
            DecidedBy::Builtin { builtin } => {
                format!("{what} {}, and no approver is available", builtin.effect())
            }
            DecidedBy::Hook { hook } => format!(
                "a {hook} hook requires approval for {what}, and no approver is available{}",
                effect
                    .filter(|reason| !reason.is_empty())
                    .map_or(String::new(), |reason| format!(": {reason}"))
            ),
            DecidedBy::Mode { mode: Mode::Plan } => {
                "the mode `plan` allows only read-only calls".to_owned()
            }
            DecidedBy::Mode { mode } => format!(
                "{}the mode `{}` denies what no rule allows",
                effect.map_or(String::new(), |effect| format!("{effect}, and ")),
                mode.name()
            ),
            DecidedBy::Default { .. } | DecidedBy::Prompt { .. } => match effect {
                Some(effect) => format!("{effect}, and no rule allows {what}"),
                None => format!("no rule allows {what}"),
            },
        };
        let hint = match self.hints().as_deref() {
            None | Some([]) => String::new(),
            Some(rules) => {
                let flags = rules
                    .iter()
                    .map(|rule| format!("--allow {}", shlex::try_quote(rule).unwrap_or_default()));
                let flags: Vec<String> = flags.collect();
                format!("; `{}` would allow it", flags.join(" "))
            }
        };
        format!("{why}{hint}.")
    }

    /// Returns rules that together would allow the call, if possible.
    pub fn hints(&self) -> Option<Vec<&str>> {
        if self.parts.is_empty() {
            return Some(self.hint.as_deref().into_iter().collect());
        }
        let open = self
            .parts
            .iter()
            .filter(|part| part.decision != Decision::Allow);
        open.map(|part| part.hint.as_deref()).collect()
    }
}
