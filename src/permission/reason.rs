//! Why a call did not run, for the model.

use super::{Behavior, Decided, Mode};
use crate::message::{BuiltinRule, DecidedBy, Decision};

impl Decided {
    /// Returns why a call of this tool did not run without approval, in one line for the model.
    pub fn reason(&self, tool: &str, effect: Option<&str>) -> String {
        let why = self.explanation(effect);
        format!("Permission to use {tool} was denied: {why}")
    }

    /// Returns the same without the tool. `effect` is why the call needs permission at all, or the reason
    /// of a hook that asks.
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
                "the rule `{rule}` of {source} wants {what} approved, and nobody can be asked"
            ),
            DecidedBy::Rule { rule, source, .. } => {
                format!("the rule `{rule}` of {source} denies {what}")
            }
            DecidedBy::Builtin {
                builtin: BuiltinRule::Unparsable,
            } => "the command cannot be parsed, and no rule allows all commands".to_owned(),
            DecidedBy::Builtin { builtin } => {
                format!("{what} {}, and nobody can be asked", builtin.effect())
            }
            DecidedBy::Hook { hook } => format!(
                "a {hook} hook wants {what} approved, and nobody can be asked{}",
                effect
                    .filter(|reason| !reason.is_empty())
                    .map_or(String::new(), |reason| format!(": {reason}"))
            ),
            DecidedBy::Mode { mode: Mode::Plan } => {
                "in the mode `plan` only calls that read are run".to_owned()
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
        let remedy = match self.remedies().as_deref() {
            None | Some([]) => String::new(),
            Some(rules) => {
                let flags = rules
                    .iter()
                    .map(|rule| format!("--allow {}", shlex::try_quote(rule).unwrap_or_default()));
                let flags: Vec<String> = flags.collect();
                format!("; `{}` would allow it", flags.join(" "))
            }
        };
        format!("{why}{remedy}.")
    }

    /// Rules that together would allow the call, if rules can.
    fn remedies(&self) -> Option<Vec<&str>> {
        if self.parts.is_empty() {
            return Some(self.remedy.as_deref().into_iter().collect());
        }
        let open = self
            .parts
            .iter()
            .filter(|part| part.decision != Decision::Allow);
        open.map(|part| part.remedy.as_deref()).collect()
    }
}
