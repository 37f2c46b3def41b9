//! The decision about a call.

use schemars::JsonSchema;
use serde::Serialize;

use super::call::ParsedCall;
use super::command::Command;
use super::hint::{Hint, of_call, of_command};
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
    /// A rule that would allow the command, if there is one.
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
    /// The decision for each command of a command line with several.
    pub parts: Vec<CheckedPart>,
    /// A rule that would allow the call, if possible.
    pub hint: Option<Hint>,
}

/// A call that is decided on.
struct Deciding<'a> {
    rules: &'a Rules,
    mode: Mode,
    call: ParsedCall<'a>,
}

impl Rules {
    /// Decides on a call: deny rules first, then ask rules, then effects that no mode allows, then
    /// the mode and allow rules. The strictest decision on any command of a command line applies.
    pub fn decide(&self, mode: Mode, request: &Request<'_>) -> Decided {
        let context = PathContext::new(request);
        let deciding = Deciding {
            rules: self,
            mode,
            call: ParsedCall::new(&context),
        };
        let mut decided = deciding.decide();
        if mode == Mode::DontAsk && decided.decision == Decision::Ask {
            decided.decision = Decision::Deny;
            if is_open(&decided.by) {
                decided.by = DecidedBy::Mode { mode };
            }
        }
        decided
    }
}

impl Deciding<'_> {
    fn decide(&self) -> Decided {
        let request = self.call.context.request;
        if let Some(whole) = self.rules.strictest(|rule| rule.is_about(request)) {
            // A stricter rule may apply to a part.
            let mut denying = self.rules.of(Behavior::Deny);
            let stricter = denying.find(|rule| rule.restricts(&self.call));
            return by_rule(stricter.unwrap_or(whole));
        }
        if let Action::Command { only_reads, .. } = request.action {
            return self.decide_commands(*only_reads);
        }
        let decided = self.decide_other();
        let hint = is_open(&decided.by).then(|| of_call(request));
        Decided {
            hint: hint.flatten(),
            ..decided
        }
    }

    fn decide_commands(&self, only_reads: bool) -> Decided {
        let context = self.call.context;
        if only_reads && !context.request.confines_reads && !self.rules.restrict_commands() {
            return allow(BuiltinRule::ReadOnly);
        }
        let commands = self.call.commands().iter();
        let mut parts: Vec<CheckedPart> = commands
            .map(|command| {
                let Decided { decision, by, .. } = self.decide_command(only_reads, command);
                let hint = is_open(&by).then(|| of_command(command));
                CheckedPart {
                    command: command.text.to_owned(),
                    decision,
                    by,
                    hint: hint.flatten(),
                }
            })
            .collect();
        let reading = allow(BuiltinRule::ReadOnly).by;
        if !only_reads && parts.iter().all(|part| part.by == reading) {
            // Each command only reads, but the command line as a whole does not.
            for part in &mut parts {
                let open = self.leave_open();
                (part.decision, part.by) = (open.decision, open.by);
            }
        }
        // Among the strictest decisions, prefer one with a specific cause.
        let rank = |by: &DecidedBy| (*by != reading && !is_open(by), *by == self.leave_open().by);
        let parts_in_reverse = parts.iter().rev();
        let Some(deciding) = parts_in_reverse.max_by_key(|part| (part.decision, rank(&part.by)))
        else {
            // Nothing runs, unless zsh starts `cat` for a redirection.
            let unclear = context.is_ambiguous().then(|| self.fail_to_parse());
            return unclear.unwrap_or_else(|| allow(BuiltinRule::ReadOnly));
        };
        let mut open = parts.iter().filter(|part| part.decision != Decision::Allow);
        let hint = match (open.next(), open.next()) {
            (Some(part), None) => part.hint.clone(),
            _ => None,
        };
        Decided {
            decision: deciding.decision,
            by: deciding.by.clone(),
            hint,
            parts: if parts.len() == 1 { Vec::new() } else { parts },
        }
    }

    fn decide_command(&self, only_reads: bool, command: &Command<'_>) -> Decided {
        let (mode, context) = (self.mode, command.context);
        if let Some(rule) = self.rules.strictest(|rule| rule.restricts_command(command)) {
            return by_rule(rule);
        }
        let is_long = context.script().len() > MAX_LENGTH && self.rules.are_about_commands();
        let asks = mode != Mode::BypassPermissions;
        if is_long || asks && self.rules.may_restrict_evaluated(command) {
            return ask(BuiltinRule::Unresolved);
        }
        if only_reads && !command.reads_outside() {
            return allow(BuiltinRule::ReadOnly);
        }
        if command.removes_critical() {
            return ask(BuiltinRule::CriticalPath);
        }
        if mode == Mode::BypassPermissions {
            return by_mode(Decision::Allow, mode);
        }
        if command.effects().writes().any(PathContext::is_protected) {
            return ask(BuiltinRule::Protected);
        }
        if mode == Mode::Plan {
            return if command.effects().redirected.is_empty() && command.only_reads() {
                allow(BuiltinRule::ReadOnly)
            } else {
                by_mode(Decision::Ask, mode)
            };
        }
        let mut allowing = self.rules.of(Behavior::Allow);
        if let Some(rule) = allowing.find(|rule| rule.is_about(context.request)) {
            return by_rule(rule);
        }
        if context.is_ambiguous() || !command.is_understood() {
            return self.fail_to_parse();
        }
        let allowed = self.allow_command(command);
        allowed.unwrap_or_else(|| self.leave_open())
    }

    /// Returns the decision of the rule or mode that allows a command and the targets of its redirections.
    fn allow_command(&self, command: &Command<'_>) -> Option<Decided> {
        let targets = command.redirection_targets()?;
        let are_inside = targets.iter().all(|path| command.context.is_inside(path));
        let rules = self.rules_for_writing(targets);
        let by_mode = (self.mode == Mode::AcceptEdits && are_inside)
            .then(|| by_mode(Decision::Allow, self.mode));
        let mut allowing = self.rules.of(Behavior::Allow);
        if let Some(rule) = allowing.find(|rule| rule.allows_command(command))
            && (rules.is_some() || by_mode.is_some())
        {
            return Some(by_rule(rule));
        }
        if by_mode.is_some() && command.edits_inside() {
            return by_mode;
        }
        if !command.is_redirection() && !command.only_reads() {
            return None;
        }
        // Its redirections are its only changes.
        match rules.as_deref() {
            Some([]) => (!command.reads_outside()).then(|| allow(BuiltinRule::ReadOnly)),
            Some([rule, ..]) => Some(by_rule(rule)),
            None => by_mode,
        }
    }

    /// Decides on a call other than a command line.
    fn decide_other(&self) -> Decided {
        let context = self.call.context;
        let request = context.request;
        if let Some(rule) = self.rules.strictest(|rule| rule.restricts(&self.call)) {
            return by_rule(rule);
        }
        let effects = &self.call.effects;
        let writes = &effects.changes;
        let may_only_read = matches!(request.action, Action::Files { .. } | Action::Harmless);
        if may_only_read && writes.is_empty() {
            return allow(BuiltinRule::ReadOnly);
        }
        if self.mode == Mode::BypassPermissions {
            return by_mode(Decision::Allow, self.mode);
        }
        if writes.iter().any(PathContext::is_protected) {
            return ask(BuiltinRule::Protected);
        }
        if self.mode == Mode::Plan && !matches!(request.action, Action::Fetch { .. }) {
            return by_mode(Decision::Ask, self.mode);
        }
        let mut allowing = self.rules.of(Behavior::Allow);
        let is_about = |rule: &&Rule| rule.is_about(request) || rule.is_about_host(effects);
        if let Some(rule) = allowing.find(is_about) {
            return by_rule(rule);
        }
        if writes.is_empty() {
            return self.leave_open();
        }
        let are_inside = writes.iter().all(|path| context.is_inside(path));
        if self.mode == Mode::AcceptEdits && are_inside {
            return by_mode(Decision::Allow, self.mode);
        }
        match self.rules_for_writing(writes).as_deref() {
            Some([rule, ..]) => by_rule(rule),
            Some([]) | None => self.leave_open(),
        }
    }

    /// Returns for each file a rule that allows changing it, if all have one.
    fn rules_for_writing(&self, paths: &[ResolvedPath]) -> Option<Vec<&Rule>> {
        let allowing = |path| {
            let mut rules = self.rules.of(Behavior::Allow);
            rules.find(|rule| rule.allows_writing(path, self.call.context))
        };
        paths.iter().map(allowing).collect()
    }

    /// Returns the decision on what no rule is about.
    fn leave_open(&self) -> Decided {
        let is_confined = self.call.context.request.is_confined;
        if is_confined && !matches!(self.mode, Mode::Plan | Mode::DontAsk) {
            return allow(BuiltinRule::Confined);
        }
        decided(Decision::Ask, DecidedBy::Default { default: true })
    }

    /// Returns the decision on a text that may be any command.
    fn fail_to_parse(&self) -> Decided {
        let open = self.leave_open();
        if is_open(&open.by) || self.rules.restrict_commands() {
            return ask(BuiltinRule::Unparsable);
        }
        open
    }
}

fn decided(decision: Decision, by: DecidedBy) -> Decided {
    Decided {
        decision,
        by,
        parts: Vec::new(),
        hint: None,
    }
}

fn by_rule(rule: &Rule) -> Decided {
    let by = DecidedBy::Rule {
        rule: rule.text.clone(),
        behavior: rule.behavior,
        source: rule.source.name.clone(),
    };
    decided(rule.behavior, by)
}

fn by_mode(decision: Decision, mode: Mode) -> Decided {
    decided(decision, DecidedBy::Mode { mode })
}

fn allow(builtin: BuiltinRule) -> Decided {
    decided(Decision::Allow, DecidedBy::Builtin { builtin })
}

fn ask(builtin: BuiltinRule) -> Decided {
    decided(Decision::Ask, DecidedBy::Builtin { builtin })
}

/// Whether no rule and no mode decided.
fn is_open(by: &DecidedBy) -> bool {
    matches!(by, DecidedBy::Default { .. })
}

impl Decided {
    /// Returns the reason for a denial, on one line for the model.
    pub fn reason(&self, tool: &str, effect: Option<&str>) -> String {
        let why = self.explanation(effect);
        format!("Permission to use {tool} was denied: {why}")
    }

    /// Returns the reason without the tool. `effect` is the reason why the call needs permission,
    /// or the reason given by a hook that asks.
    pub fn explanation(&self, effect: Option<&str>) -> String {
        let part = self.parts_left().find(|part| part.by == self.by);
        let what = part.map_or("it".to_owned(), |part| format!("`{}`", part.command));
        let no_approver = ", and no approver is available";
        let why = match &self.by {
            DecidedBy::Rule {
                rule,
                behavior,
                source,
            } => {
                let effect = match behavior {
                    Behavior::Ask => format!("requires approval for {what}{no_approver}"),
                    Behavior::Allow | Behavior::Deny => format!("denies {what}"),
                };
                format!("the rule `{rule}` of {source} {effect}")
            }
            DecidedBy::Builtin {
                builtin: BuiltinRule::Unparsable,
            } => "the command cannot be parsed, and no rule allows all commands".to_owned(),
            DecidedBy::Builtin { builtin } => {
                format!("{what} {}{no_approver}", builtin.effect())
            }
            DecidedBy::Hook { hook } => {
                let reason = effect.filter(|reason| !reason.is_empty());
                let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
                format!("a {hook} hook requires approval for {what}{no_approver}{reason}")
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
                Some(effect) => format!("{effect}, and no rule allows {what}"),
                None => format!("no rule allows {what}"),
            },
        };
        let hints = self.hints().unwrap_or_default().into_iter();
        let options = hints.map(|hint| {
            let rule = shlex::try_quote(&hint.rule).unwrap_or_default();
            format!("--allow {rule}")
        });
        let options: Vec<String> = options.collect();
        match options.as_slice() {
            [] => format!("{why}."),
            options => format!("{why}; `{}` would allow it.", options.join(" ")),
        }
    }

    /// Returns rules that together would allow a call that no rule decided. `None` if there are none, or their further
    /// effects are not known.
    pub fn proposals(&self) -> Option<Vec<Hint>> {
        let mut open = self.parts_left();
        if self.decision != Behavior::Ask
            || !is_open(&self.by)
            || !open.all(|part| is_open(&part.by))
        {
            return None;
        }
        let mut proposals: Vec<Hint> = self.hints()?.into_iter().cloned().collect();
        proposals.sort_unstable();
        proposals.dedup();
        let are_known = proposals.iter().all(|hint| hint.also_allows.is_some());
        Some(proposals).filter(|proposals| are_known && !proposals.is_empty())
    }

    /// Returns rules that together would allow the call, if possible.
    pub fn hints(&self) -> Option<Vec<&Hint>> {
        if self.parts.is_empty() {
            return Some(self.hint.iter().collect());
        }
        self.parts_left().map(|part| part.hint.as_ref()).collect()
    }

    /// Returns the commands that are not allowed.
    fn parts_left(&self) -> impl Iterator<Item = &CheckedPart> {
        let parts = self.parts.iter();
        parts.filter(|part| part.decision != Decision::Allow)
    }
}
