//! The decision about a call.

use schemars::JsonSchema;
use serde::Serialize;

use super::call::ParsedCall;
use super::command::Command;
use super::hint::{of_call, of_command};
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
    pub hint: Option<String>,
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
    pub hint: Option<String>,
}

type Verdict = (Decision, DecidedBy);

impl Rules {
    /// Decides on a call: deny rules first, then ask rules, then effects that no mode allows, then
    /// the mode and allow rules. The strictest decision on any command of a command line applies.
    pub fn decide(&self, mode: Mode, request: &Request<'_>) -> Decided {
        let context = PathContext::new(request);
        let call = ParsedCall::new(&context);
        let mut decided = match (self.decide_whole(&call), request.action) {
            (Some((decision, by)), _) => decided(decision, by),
            (None, Action::Command { only_reads, .. }) => {
                self.decide_commands(mode, *only_reads, &call)
            }
            (None, _) => {
                let (decision, by) = self.decide_other(mode, &call);
                let hint = match by {
                    DecidedBy::Default { .. } => of_call(request),
                    _ => None,
                };
                Decided {
                    hint,
                    ..decided(decision, by)
                }
            }
        };
        if request.is_confined && !matches!(mode, Mode::Plan | Mode::DontAsk) {
            self.allow_confined(&mut decided);
        }
        if mode == Mode::DontAsk && decided.decision == Decision::Ask {
            decided.decision = Decision::Deny;
            if matches!(decided.by, DecidedBy::Default { .. }) {
                decided.by = DecidedBy::Mode { mode };
            }
        }
        decided
    }

    /// Allows a command in a workspace, and each of its parts, if no rule is about it.
    fn allow_confined(&self, decided: &mut Decided) {
        let is_open = |decision: Decision, by: &DecidedBy| {
            let (_, unparsable) = builtin(Decision::Ask, BuiltinRule::Unparsable);
            decision == Decision::Ask
                && (*by == left_open().1 || *by == unparsable && !self.restrict_commands())
        };
        for part in &mut decided.parts {
            if is_open(part.decision, &part.by) {
                (part.decision, part.by) = confined();
                part.hint = None;
            }
        }
        let mut parts = decided.parts.iter();
        if is_open(decided.decision, &decided.by)
            && parts.all(|part| part.decision == Decision::Allow)
        {
            (decided.decision, decided.by) = confined();
            decided.hint = None;
        }
    }

    /// Returns the verdict of rules that restrict the call regardless of its effects.
    fn decide_whole(&self, call: &ParsedCall<'_>) -> Option<Verdict> {
        let request = call.context.request;
        let whole = self.restricting(|rule| rule.is_about(request))?;
        // A stricter rule may apply to a part.
        let stricter = self.that(Behavior::Deny).find(|rule| rule.restricts(call));
        Some(by_rule(stricter.unwrap_or(whole)))
    }

    fn decide_commands(&self, mode: Mode, only_reads: bool, call: &ParsedCall<'_>) -> Decided {
        let confines_reads = call.context.request.confines_reads;
        if only_reads && !confines_reads && !self.restrict_commands() {
            let (decision, by) = reads_only();
            return decided(decision, by);
        }
        let commands = call.commands();
        let mut parts: Vec<CheckedPart> = commands
            .iter()
            .map(|command| {
                let (decision, by) = self.decide_command(mode, only_reads, command, call.context);
                let is_open = matches!(by, DecidedBy::Default { .. });
                let hint = is_open.then(|| of_command(command, call.context));
                CheckedPart {
                    command: command.text.to_owned(),
                    decision,
                    by,
                    hint: hint.flatten(),
                }
            })
            .collect();
        if !only_reads
            && parts
                .iter()
                .all(|part| (part.decision, &part.by) == (Decision::Allow, &reads_only().1))
        {
            // Each command only reads, but the command line as a whole does not.
            for part in &mut parts {
                (part.decision, part.by) = left_open();
            }
        }
        // Among the strictest decisions, prefer one with a specific cause.
        let says_more = |by: &DecidedBy| *by != reads_only().1 && *by != left_open().1;
        let Some(deciding) = parts
            .iter()
            .rev()
            .max_by_key(|part| (part.decision, says_more(&part.by)))
        else {
            // Nothing runs, unless zsh starts `cat` for a redirection.
            let (decision, by) = if call.context.is_ambiguous() {
                builtin(Decision::Ask, BuiltinRule::Unparsable)
            } else {
                reads_only()
            };
            return decided(decision, by);
        };
        let (decision, by) = (deciding.decision, deciding.by.clone());
        let mut open = parts.iter().filter(|part| part.decision != Decision::Allow);
        let hint = match (open.next(), open.next()) {
            (Some(part), None) => part.hint.clone(),
            _ => None,
        };
        if parts.len() == 1 {
            parts.clear();
        }
        Decided {
            decision,
            by,
            parts,
            hint,
        }
    }

    fn decide_command(
        &self,
        mode: Mode,
        only_reads: bool,
        command: &Command<'_>,
        context: &PathContext<'_>,
    ) -> Verdict {
        if let Some(rule) = self.restricting(|rule| rule.restricts_command(command, context)) {
            return by_rule(rule);
        }
        let is_long = context.script().len() > MAX_LENGTH && self.are_about_commands();
        let asks = mode != Mode::BypassPermissions;
        if is_long || asks && self.may_restrict_evaluated(command, context) {
            return builtin(Decision::Ask, BuiltinRule::Unresolved);
        }
        if only_reads && !command.reads_outside(context) {
            return reads_only();
        }
        if command.removes_critical(context) {
            return builtin(Decision::Ask, BuiltinRule::CriticalPath);
        }
        if mode == Mode::BypassPermissions {
            return (Decision::Allow, DecidedBy::Mode { mode });
        }
        if command.written(context).any(PathContext::is_protected) {
            return builtin(Decision::Ask, BuiltinRule::Protected);
        }
        if mode == Mode::Plan {
            let writes = !command.files(context).redirected.is_empty();
            return if !writes && command.only_reads(context) {
                reads_only()
            } else {
                (Decision::Ask, DecidedBy::Mode { mode })
            };
        }
        if let Some(rule) = self
            .that(Behavior::Allow)
            .find(|rule| rule.is_about(context.request))
        {
            return by_rule(rule);
        }
        if context.is_ambiguous() || !command.is_understood() {
            return builtin(Decision::Ask, BuiltinRule::Unparsable);
        }
        self.allows_command(mode, command, context)
            .unwrap_or_else(left_open)
    }

    /// Returns the rule or mode that allows a command and the targets of its redirections.
    fn allows_command(
        &self,
        mode: Mode,
        command: &Command<'_>,
        context: &PathContext<'_>,
    ) -> Option<Verdict> {
        let targets = command.redirection_targets(context)?;
        let are_inside = targets.iter().all(|path| context.is_inside(path));
        let rules = self.allowing_to_write(targets.into_iter(), context);
        let accepts_edits = mode == Mode::AcceptEdits && are_inside;
        let mut allowing = self.that(Behavior::Allow);
        if let Some(rule) = allowing.find(|rule| rule.allows_command(command))
            && (rules.is_some() || accepts_edits)
        {
            return Some(by_rule(rule));
        }
        if accepts_edits && command.edits_inside(context) {
            return Some((Decision::Allow, DecidedBy::Mode { mode }));
        }
        if !command.is_redirection() && !command.only_reads(context) {
            return None;
        }
        // Its redirections are its only changes.
        match rules.as_deref() {
            Some([]) => (!command.reads_outside(context)).then(reads_only),
            Some([rule, ..]) => Some(by_rule(rule)),
            None => accepts_edits.then_some((Decision::Allow, DecidedBy::Mode { mode })),
        }
    }

    /// Decides on a call other than a command line.
    fn decide_other(&self, mode: Mode, call: &ParsedCall<'_>) -> Verdict {
        let context = call.context;
        let request = context.request;
        if let Some(rule) = self.restricting(|rule| rule.restricts(call)) {
            return by_rule(rule);
        }
        let writes = &call.writes;
        let only_reads = match request.action {
            Action::Files { writes, .. } => writes.is_empty(),
            Action::Harmless => true,
            Action::Command { .. } | Action::Fetch { .. } | Action::Anything => false,
        };
        if only_reads {
            return reads_only();
        }
        if mode == Mode::BypassPermissions {
            return (Decision::Allow, DecidedBy::Mode { mode });
        }
        if writes.iter().any(PathContext::is_protected) {
            return builtin(Decision::Ask, BuiltinRule::Protected);
        }
        if mode == Mode::Plan && !matches!(request.action, Action::Fetch { .. }) {
            return (Decision::Ask, DecidedBy::Mode { mode });
        }
        if let Some(rule) = self.that(Behavior::Allow).find(|rule| {
            rule.is_about(request)
                || call
                    .host
                    .as_deref()
                    .is_some_and(|host| rule.is_about_host(host))
        }) {
            return by_rule(rule);
        }
        if writes.is_empty() {
            return left_open();
        }
        if mode == Mode::AcceptEdits && writes.iter().all(|path| context.is_inside(path)) {
            return (Decision::Allow, DecidedBy::Mode { mode });
        }
        let rules = self.allowing_to_write(writes.iter(), context);
        rules
            .and_then(|rules| rules.first().copied())
            .map_or_else(left_open, by_rule)
    }

    /// Returns for each file a rule that allows changing it, if all have one.
    fn allowing_to_write<'p>(
        &self,
        paths: impl Iterator<Item = &'p ResolvedPath>,
        context: &PathContext<'_>,
    ) -> Option<Vec<&Rule>> {
        let allowing = |path| {
            let mut rules = self.that(Behavior::Allow);
            rules.find(|rule| rule.allows_writing(path, context))
        };
        paths.map(allowing).collect()
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

fn by_rule(rule: &Rule) -> Verdict {
    let by = DecidedBy::Rule {
        rule: rule.text.clone(),
        behavior: rule.behavior,
        source: rule.source.name.clone(),
    };
    (rule.behavior, by)
}

fn builtin(decision: Decision, builtin: BuiltinRule) -> Verdict {
    (decision, DecidedBy::Builtin { builtin })
}

fn reads_only() -> Verdict {
    builtin(Decision::Allow, BuiltinRule::ReadOnly)
}

fn confined() -> Verdict {
    builtin(Decision::Allow, BuiltinRule::Confined)
}

fn left_open() -> Verdict {
    (Decision::Ask, DecidedBy::Default { default: true })
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
