//! The decision about a call.

use schemars::JsonSchema;
use serde::Serialize;

use super::call::ParsedCall;
use super::command::Command;
use super::hint::{Hint, suggest_for_call, suggest_for_command};
use super::path_context::{PathContext, ResolvedPath};
use super::{Action, Behavior, Mode, Request, Rule, Rules};
use crate::shell::MAX_LENGTH;
use turnpipe_core::message::{BuiltinRule, DecidedBy, Decision};

/// Permission decision for one command of a command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckedPart {
    /// The command, as written.
    pub command: String,
    /// The decision for the command.
    pub decision: Decision,
    /// The rule or mode that decided.
    #[serde(rename = "decided_by")]
    pub by: DecidedBy,
    /// A rule that would allow the command.
    #[serde(skip)]
    pub hint: Option<Hint>,
}

/// A decision and its cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// The decision. `Ask` means denial if no one can approve the call.
    pub decision: Decision,
    /// The cause.
    pub by: DecidedBy,
    /// The decision for each command of a command line; empty if it has only one.
    pub parts: Vec<CheckedPart>,
    /// A rule that would allow the call.
    pub hint: Option<Hint>,
}

/// A call, and the rules and the mode that decide on it.
struct Decider<'a> {
    rules: &'a Rules,
    mode: Mode,
    call: ParsedCall<'a>,
}

impl Rules {
    /// Decides on a call: deny rules first, then ask rules, then effects that no mode allows, then
    /// the mode and allow rules. The strictest decision on any command of a command line applies.
    pub fn decide(&self, mode: Mode, request: &Request<'_>) -> Decided {
        let context = PathContext::new(request);
        let subject = Decider {
            rules: self,
            mode,
            call: ParsedCall::new(&context),
        };
        let mut decided = subject.decide();
        if mode == Mode::DontAsk && decided.decision == Decision::Ask {
            decided.decision = Decision::Deny;
            if is_undecided(&decided.by) {
                decided.by = DecidedBy::Mode { mode };
            }
        }
        decided
    }
}

impl Decider<'_> {
    fn decide(&self) -> Decided {
        let request = self.call.context.request;
        if let Some(whole) = self.rules.strictest(|rule| rule.is_about(request)) {
            // A stricter rule may apply to a part.
            let mut deny_rules = self.rules.with_behavior(Behavior::Deny);
            let stricter = deny_rules.find(|rule| rule.restricts(&self.call));
            return decide_by_rule(stricter.unwrap_or(whole));
        }
        if let Action::Command { only_reads, .. } = request.action {
            return self.decide_commands(*only_reads);
        }
        let decided = self.decide_other();
        let hint = is_undecided(&decided.by).then(|| suggest_for_call(request));
        Decided {
            hint: hint.flatten(),
            ..decided
        }
    }

    fn decide_commands(&self, only_reads: bool) -> Decided {
        let context = self.call.context;
        if only_reads && !context.request.confines_reads && !self.rules.may_restrict_commands() {
            return allow(BuiltinRule::ReadOnly);
        }
        let commands = self.call.commands().iter();
        let mut parts: Vec<CheckedPart> = commands
            .map(|command| {
                let Decided { decision, by, .. } = self.decide_command(only_reads, command);
                let hint = is_undecided(&by).then(|| suggest_for_command(command));
                CheckedPart {
                    command: command.text.to_owned(),
                    decision,
                    by,
                    hint: hint.flatten(),
                }
            })
            .collect();
        let only_reading = allow(BuiltinRule::ReadOnly).by;
        let default = self.decide_by_default();
        if !only_reads && parts.iter().all(|part| part.by == only_reading) {
            // Each command only reads, but the command line as a whole does not.
            for part in &mut parts {
                (part.decision, part.by) = (default.decision, default.by.clone());
            }
        }
        // Among the strictest decisions, prefer the first one with a specific cause.
        let rank = |by: &DecidedBy| (*by != only_reading && !is_undecided(by), *by == default.by);
        let from_last = parts.iter().rev();
        let Some(strictest) = from_last.max_by_key(|part| (part.decision, rank(&part.by))) else {
            // Nothing runs, unless zsh starts `cat` for a redirection.
            let ambiguous = context.is_ambiguous().then(|| self.decide_unparsed());
            return ambiguous.unwrap_or_else(|| allow(BuiltinRule::ReadOnly));
        };
        let mut unallowed = parts.iter().filter(|part| part.decision != Decision::Allow);
        let hint = match (unallowed.next(), unallowed.next()) {
            (Some(part), None) => part.hint.clone(),
            _ => None,
        };
        Decided {
            decision: strictest.decision,
            by: strictest.by.clone(),
            hint,
            parts: if parts.len() == 1 { Vec::new() } else { parts },
        }
    }

    fn decide_command(&self, only_reads: bool, command: &Command<'_>) -> Decided {
        let (mode, context) = (self.mode, command.context);
        if let Some(rule) = self.rules.strictest(|rule| rule.restricts_command(command)) {
            return decide_by_rule(rule);
        }
        let is_too_long = context.script().len() > MAX_LENGTH && self.rules.has_command_rules();
        let asks = mode != Mode::BypassPermissions;
        if is_too_long || asks && self.rules.may_restrict_evaluated(command) {
            return ask(BuiltinRule::Unresolved);
        }
        if only_reads && !command.reads_outside() {
            return allow(BuiltinRule::ReadOnly);
        }
        if command.may_remove_critical() {
            return ask(BuiltinRule::CriticalPath);
        }
        if mode == Mode::BypassPermissions {
            return decide_by_mode(Decision::Allow, mode);
        }
        if command.effects().writes().any(PathContext::is_protected) {
            return ask(BuiltinRule::Protected);
        }
        if mode == Mode::Plan {
            return if command.effects().redirected.is_empty() && command.only_reads() {
                allow(BuiltinRule::ReadOnly)
            } else {
                decide_by_mode(Decision::Ask, mode)
            };
        }
        let mut allow_rules = self.rules.with_behavior(Behavior::Allow);
        if let Some(rule) = allow_rules.find(|rule| rule.is_about(context.request)) {
            return decide_by_rule(rule);
        }
        if context.is_ambiguous() || !command.is_parsed() {
            return self.decide_unparsed();
        }
        self.allow_command(command)
            .unwrap_or_else(|| self.decide_by_default())
    }

    /// Returns the decision of the rule or mode that allows a command and the targets of its redirections, if any does.
    fn allow_command(&self, command: &Command<'_>) -> Option<Decided> {
        let targets = command.redirection_targets()?;
        let are_inside = targets.iter().all(|path| command.context.is_inside(path));
        let write_rules = self.rules_for_writing(targets);
        let by_mode = (self.mode == Mode::AcceptEdits && are_inside)
            .then(|| decide_by_mode(Decision::Allow, self.mode));
        let mut allow_rules = self.rules.with_behavior(Behavior::Allow);
        if let Some(rule) = allow_rules.find(|rule| rule.allows_command(command))
            && (write_rules.is_some() || by_mode.is_some())
        {
            return Some(decide_by_rule(rule));
        }
        if by_mode.is_some() && command.only_edits_inside() {
            return by_mode;
        }
        if !command.has_only_redirections() && !command.only_reads() {
            return None;
        }
        // Its redirections are its only changes.
        match write_rules.as_deref() {
            Some([]) => (!command.reads_outside()).then(|| allow(BuiltinRule::ReadOnly)),
            Some([rule, ..]) => Some(decide_by_rule(rule)),
            None => by_mode,
        }
    }

    /// Decides on a call other than a command line.
    fn decide_other(&self) -> Decided {
        let context = self.call.context;
        let request = context.request;
        if let Some(rule) = self.rules.strictest(|rule| rule.restricts(&self.call)) {
            return decide_by_rule(rule);
        }
        let effects = &self.call.effects;
        let writes = &effects.changes;
        let may_only_read = matches!(request.action, Action::Files { .. } | Action::Harmless);
        if may_only_read && writes.is_empty() {
            return allow(BuiltinRule::ReadOnly);
        }
        if self.mode == Mode::BypassPermissions {
            return decide_by_mode(Decision::Allow, self.mode);
        }
        if writes.iter().any(PathContext::is_protected) {
            return ask(BuiltinRule::Protected);
        }
        if self.mode == Mode::Plan && !matches!(request.action, Action::Fetch { .. }) {
            return decide_by_mode(Decision::Ask, self.mode);
        }
        let mut allow_rules = self.rules.with_behavior(Behavior::Allow);
        let is_about = |rule: &&Rule| rule.is_about(request) || rule.is_about_host(effects);
        if let Some(rule) = allow_rules.find(is_about) {
            return decide_by_rule(rule);
        }
        if writes.is_empty() {
            return self.decide_by_default();
        }
        let are_inside = writes.iter().all(|path| context.is_inside(path));
        if self.mode == Mode::AcceptEdits && are_inside {
            return decide_by_mode(Decision::Allow, self.mode);
        }
        match self.rules_for_writing(writes).as_deref() {
            Some([rule, ..]) => decide_by_rule(rule),
            Some([]) | None => self.decide_by_default(),
        }
    }

    /// Returns for each file a rule that allows changing it, if all have one.
    fn rules_for_writing(&self, paths: &[ResolvedPath]) -> Option<Vec<&Rule>> {
        let find_rule = |path| {
            let mut allow_rules = self.rules.with_behavior(Behavior::Allow);
            allow_rules.find(|rule| rule.allows_writing(path, self.call.context))
        };
        paths.iter().map(find_rule).collect()
    }

    /// Returns the decision on a call or command that no rule matches.
    fn decide_by_default(&self) -> Decided {
        let is_confined = self.call.context.request.is_confined;
        if is_confined && !matches!(self.mode, Mode::Plan | Mode::DontAsk) {
            return allow(BuiltinRule::Confined);
        }
        decide_as(Decision::Ask, DecidedBy::Default { default: true })
    }

    /// Returns the decision on a text that cannot be parsed with certainty, so that it may be any command.
    fn decide_unparsed(&self) -> Decided {
        let default = self.decide_by_default();
        if is_undecided(&default.by) || self.rules.may_restrict_commands() {
            return ask(BuiltinRule::Unparsable);
        }
        default
    }
}

fn decide_as(decision: Decision, by: DecidedBy) -> Decided {
    Decided {
        decision,
        by,
        parts: Vec::new(),
        hint: None,
    }
}

fn decide_by_rule(rule: &Rule) -> Decided {
    let by = DecidedBy::Rule {
        rule: rule.text.clone(),
        behavior: rule.behavior,
        source: rule.source.name.clone(),
    };
    decide_as(rule.behavior, by)
}

fn decide_by_mode(decision: Decision, mode: Mode) -> Decided {
    decide_as(decision, DecidedBy::Mode { mode })
}

fn allow(builtin: BuiltinRule) -> Decided {
    decide_as(Decision::Allow, DecidedBy::Builtin { builtin })
}

fn ask(builtin: BuiltinRule) -> Decided {
    decide_as(Decision::Ask, DecidedBy::Builtin { builtin })
}

/// Whether neither a rule nor a mode decided.
fn is_undecided(by: &DecidedBy) -> bool {
    matches!(by, DecidedBy::Default { .. })
}

impl Decided {
    /// Returns the reason for a denial, on one line for the model. `effect` is as for [`Self::explanation`].
    pub fn reason(&self, tool: &str, effect: Option<&str>) -> String {
        let why = self.explanation(effect);
        format!("Permission to use {tool} was denied: {why}")
    }

    /// Returns the reason for a denial without the name of the tool. `effect` is the reason why the call needs
    /// permission, or the reason that a hook gave.
    pub fn explanation(&self, effect: Option<&str>) -> String {
        let part = self.unallowed_parts().find(|part| part.by == self.by);
        let target = part.map_or("it".to_owned(), |part| format!("`{}`", part.command));
        let no_approver = ", and no approver is available";
        let why = match &self.by {
            DecidedBy::Rule {
                rule,
                behavior,
                source,
            } => {
                let effect = match behavior {
                    Behavior::Ask => format!("requires approval for {target}{no_approver}"),
                    Behavior::Allow | Behavior::Deny => format!("denies {target}"),
                };
                format!("the rule `{rule}` of {source} {effect}")
            }
            DecidedBy::Builtin {
                builtin: BuiltinRule::Unparsable,
            } => "the command cannot be parsed, and no rule allows all commands".to_owned(),
            DecidedBy::Builtin { builtin } => {
                format!("{target} {}{no_approver}", builtin.effect())
            }
            DecidedBy::Hook { hook } => {
                let given = effect.filter(|reason| !reason.is_empty());
                let reason = given.map_or(String::new(), |reason| format!(": {reason}"));
                format!("a {hook} hook requires approval for {target}{no_approver}{reason}")
            }
            DecidedBy::Mode { mode: Mode::Plan } => {
                "the mode `plan` allows only read-only calls".to_owned()
            }
            DecidedBy::Mode { mode } => format!(
                "{}the mode `{}` denies what no rule allows",
                effect.map_or(String::new(), |effect| format!("{effect}, and ")),
                mode.name()
            ),
            DecidedBy::Default { .. } | DecidedBy::Prompt { .. } => match effect {
                Some(effect) => format!("{effect}, and no rule allows {target}"),
                None => format!("no rule allows {target}"),
            },
        };
        let hints = self.hints().unwrap_or_default().into_iter();
        let options = hints.map(|hint| {
            // Fails only for a NUL, which no argument can have.
            let rule = shlex::try_quote(&hint.rule).unwrap_or_default();
            format!("--allow {rule}")
        });
        match options.collect::<Vec<_>>().as_slice() {
            [] => format!("{why}."),
            options => format!("{why}; `{}` would allow it.", options.join(" ")),
        }
    }

    /// Returns rules that together would allow a call that neither a rule nor a mode decided, sorted. `None` if there
    /// are none, or if their further effects are not known.
    pub fn proposals(&self) -> Option<Vec<Hint>> {
        let mut unallowed = self.unallowed_parts();
        if self.decision != Behavior::Ask
            || !is_undecided(&self.by)
            || !unallowed.all(|part| is_undecided(&part.by))
        {
            return None;
        }
        let mut proposals: Vec<Hint> = self.hints()?.into_iter().cloned().collect();
        proposals.sort_unstable();
        proposals.dedup();
        let are_known = proposals.iter().all(|hint| hint.also_allows.is_some());
        Some(proposals).filter(|proposals| are_known && !proposals.is_empty())
    }

    /// Returns rules that together would allow the call; `None` if a command that is not allowed has no such rule.
    pub fn hints(&self) -> Option<Vec<&Hint>> {
        if self.parts.is_empty() {
            return Some(self.hint.iter().collect());
        }
        let unallowed = self.unallowed_parts();
        unallowed.map(|part| part.hint.as_ref()).collect()
    }

    /// Returns the decisions on commands that are not allowed.
    fn unallowed_parts(&self) -> impl Iterator<Item = &CheckedPart> {
        let parts = self.parts.iter();
        parts.filter(|part| part.decision != Decision::Allow)
    }
}
