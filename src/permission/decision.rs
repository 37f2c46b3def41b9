//! The decision about a call.

use super::call::Call;
use super::command::Command;
use super::surroundings::Surroundings;
use super::{Action, Behavior, Mode, Request, Rule, Rules, remedy};
use crate::message::{BuiltinRule, DecidedBy, Decision};
use crate::records::CheckedPart;

/// What was decided about a call, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// Whether it may run. `Ask` is a denial where nobody can be asked.
    pub decision: Decision,
    /// What decided.
    pub by: DecidedBy,
    /// The same of each command of a command line, if there are several.
    pub parts: Vec<CheckedPart>,
    /// A rule that would allow the call, if one can.
    pub remedy: Option<String>,
}

type Verdict = (Decision, DecidedBy);

impl Rules {
    /// Decides about a call: deny rules first, then ask rules, then what no mode allows, then the mode
    /// and allow rules. Of the commands of a command line, the one that is allowed the least decides.
    pub fn decide(&self, mode: Mode, request: &Request<'_>) -> Decided {
        let surroundings = Surroundings::new(request);
        let call = Call::new(&surroundings);
        let mut decided = match (self.decide_whole(&call), request.action) {
            (Some((decision, by)), _) => decided(decision, by),
            (None, Action::Command { only_reads, .. }) => {
                self.decide_commands(mode, *only_reads, &call)
            }
            (None, _) => {
                let (decision, by) = self.decide_other(mode, &call);
                let remedy = match by {
                    DecidedBy::Default { .. } => remedy::of_call(request),
                    _ => None,
                };
                Decided {
                    remedy,
                    ..decided(decision, by)
                }
            }
        };
        if mode == Mode::DontAsk && decided.decision == Decision::Ask {
            decided.decision = Decision::Deny;
            if matches!(decided.by, DecidedBy::Default { .. }) {
                decided.by = DecidedBy::Mode { mode };
            }
        }
        decided
    }

    /// By rules that restrict the call, whatever it does.
    fn decide_whole(&self, call: &Call<'_>) -> Option<Verdict> {
        let request = call.surroundings.request;
        let whole = self.restricting(|rule| rule.is_about(request))?;
        // A part may be restricted more.
        let stricter = self.that(Behavior::Deny).find(|rule| rule.restricts(call));
        Some(by_rule(stricter.unwrap_or(whole)))
    }

    fn decide_commands(&self, mode: Mode, only_reads: bool, call: &Call<'_>) -> Decided {
        let confines_reads = call.surroundings.request.confines_reads;
        if only_reads && !confines_reads && !self.restrict_commands() {
            let (decision, by) = reads_only();
            return decided(decision, by);
        }
        let commands = call.commands();
        let mut parts: Vec<CheckedPart> = commands
            .iter()
            .map(|command| {
                let (decision, by) =
                    self.decide_command(mode, only_reads, command, call.surroundings);
                let remedy = match by {
                    DecidedBy::Default { .. } => {
                        let mut rules = self.that(Behavior::Allow);
                        let is_allowed = command.is_redirection()
                            || command.only_reads(call.surroundings)
                            || rules.any(|rule| rule.allows_command(command));
                        remedy::of_command(command, is_allowed, call.surroundings)
                    }
                    _ => None,
                };
                CheckedPart {
                    command: command.text.to_owned(),
                    decision,
                    by,
                    remedy,
                }
            })
            .collect();
        if !only_reads
            && parts
                .iter()
                .all(|part| (part.decision, &part.by) == (Decision::Allow, &reads_only().1))
        {
            // Each of them reads, but not where they run now.
            for part in &mut parts {
                (part.decision, part.by) = left_open();
            }
        }
        // Of the strictest ones, one about which more is said than that it reads or is left open.
        let says_more = |by: &DecidedBy| *by != reads_only().1 && *by != left_open().1;
        let Some(deciding) = parts
            .iter()
            .rev()
            .max_by_key(|part| (part.decision, says_more(&part.by)))
        else {
            // Nothing is run.
            let (decision, by) = reads_only();
            return decided(decision, by);
        };
        let (decision, by) = (deciding.decision, deciding.by.clone());
        let mut open = parts.iter().filter(|part| part.decision != Decision::Allow);
        let remedy = match (open.next(), open.next()) {
            (Some(part), None) => part.remedy.clone(),
            _ => None,
        };
        if parts.len() == 1 {
            parts.clear();
        }
        Decided {
            decision,
            by,
            parts,
            remedy,
        }
    }

    fn decide_command(
        &self,
        mode: Mode,
        only_reads: bool,
        command: &Command<'_>,
        surroundings: &Surroundings<'_>,
    ) -> Verdict {
        if let Some(rule) = self.restricting_command(command, surroundings) {
            return by_rule(rule);
        }
        if mode != Mode::BypassPermissions && self.may_restrict_unknown(command, surroundings) {
            return builtin(Decision::Ask, BuiltinRule::Unresolved);
        }
        if only_reads && !command.reads_outside(surroundings) {
            return reads_only();
        }
        if command.removes_critical(surroundings) {
            return builtin(Decision::Ask, BuiltinRule::CriticalPath);
        }
        if mode == Mode::BypassPermissions {
            return (Decision::Allow, DecidedBy::Mode { mode });
        }
        let mut written = command
            .redirected(surroundings)
            .iter()
            .chain(command.changed(surroundings));
        if written.any(|file| Surroundings::is_protected(&file.place())) {
            return builtin(Decision::Ask, BuiltinRule::Protected);
        }
        if mode == Mode::Plan {
            let writes = !command.redirected(surroundings).is_empty();
            return if !writes && command.only_reads(surroundings) {
                reads_only()
            } else {
                (Decision::Ask, DecidedBy::Mode { mode })
            };
        }
        if let Some(rule) = self
            .that(Behavior::Allow)
            .find(|rule| rule.is_about(surroundings.request))
        {
            return by_rule(rule);
        }
        let is_ambiguous = matches!(
            surroundings.request.action,
            Action::Command {
                is_ambiguous: true,
                ..
            }
        );
        if is_ambiguous || !command.is_understood() {
            return builtin(Decision::Ask, BuiltinRule::Unparsable);
        }
        self.allows_command(mode, command, surroundings)
            .unwrap_or_else(left_open)
    }

    /// What allows a command, and the files that it is redirected to.
    fn allows_command(
        &self,
        mode: Mode,
        command: &Command<'_>,
        surroundings: &Surroundings<'_>,
    ) -> Option<Verdict> {
        let targets = command.redirection_targets(surroundings)?;
        let rules: Option<Vec<&Rule>> = targets
            .iter()
            .map(|place| self.allowing_to_write(place, surroundings))
            .collect();
        let accepts_edits =
            mode == Mode::AcceptEdits && targets.iter().all(|place| surroundings.is_inside(place));
        let mut allowing = self.that(Behavior::Allow);
        if let Some(rule) = allowing.find(|rule| rule.allows_command(command))
            && (rules.is_some() || accepts_edits)
        {
            return Some(by_rule(rule));
        }
        if accepts_edits && command.edits_inside(surroundings) {
            return Some((Decision::Allow, DecidedBy::Mode { mode }));
        }
        if !command.is_redirection() && !command.only_reads(surroundings) {
            return None;
        }
        // Nothing but the files that it is redirected to can change.
        match rules.as_deref() {
            Some([]) => Some(reads_only()),
            Some([rule, ..]) => Some(by_rule(rule)),
            None => accepts_edits.then_some((Decision::Allow, DecidedBy::Mode { mode })),
        }
    }

    /// About a call that is no command line.
    fn decide_other(&self, mode: Mode, call: &Call<'_>) -> Verdict {
        let surroundings = call.surroundings;
        let request = surroundings.request;
        if let Some(rule) = self.restricting_call(call) {
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
        if writes.iter().any(Surroundings::is_protected) {
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
        if mode == Mode::AcceptEdits && writes.iter().all(|place| surroundings.is_inside(place)) {
            return (Decision::Allow, DecidedBy::Mode { mode });
        }
        let rules: Option<Vec<&Rule>> = writes
            .iter()
            .map(|place| self.allowing_to_write(place, surroundings))
            .collect();
        rules
            .and_then(|rules| rules.first().copied())
            .map_or_else(left_open, by_rule)
    }
}

fn decided(decision: Decision, by: DecidedBy) -> Decided {
    Decided {
        decision,
        by,
        parts: Vec::new(),
        remedy: None,
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

fn left_open() -> Verdict {
    (Decision::Ask, DecidedBy::Default { default: true })
}
