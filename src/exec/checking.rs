//! Whether a call may run: by hooks and rules, else by whoever can be asked.

use std::sync::{Arc, PoisonError};
use std::thread;

use super::completed::Completed;
use super::hooking::Heard;
use super::judging::JudgeSeat;
use super::lifecycle::{Prepared, Ready};
use super::{Answer, Case, Judgement, Lifecycle, Question};
use crate::hooks::{HookDecision, HookEvent};
use crate::message::{BuiltinRule, DecidedBy, Decision, SessionId};
use crate::permission::{Behavior, Decided, Mode, Rule, Source};
use crate::records::{Outcome, Permission};
use crate::results::tool_use_error;
use crate::tools::{Assessment, CallContext, Input, ToolKind};

/// A call that is being checked.
struct Checked<'a> {
    ready: Ready,
    assessment: Assessment,
    decided: Decided,
    call: &'a CallContext<'a>,
    session: &'a SessionId,
}

/// What hooks and rules say together.
#[derive(Debug, PartialEq, Eq)]
enum Resolution {
    /// It may run.
    Run,
    /// It may run because a hook says so.
    RunByHook,
    /// It must not run because a hook says so.
    Blocked,
    /// A hook leaves it to whoever drives the session.
    Deferred,
    /// It must not run.
    Denied,
    /// Somebody has to say; and whether a judge may.
    Ask { is_open: bool },
}

/// The table of hooks and rules: a hook that blocks always counts, a rule that denies beats a hook that
/// allows, and what has to be asked about is asked about whatever a hook allows.
fn resolution(hook: Option<HookDecision>, decided: &Decided) -> Resolution {
    let is_open = is_open(&decided.by);
    match (hook, decided.decision) {
        (Some(HookDecision::Block), _) => Resolution::Blocked,
        (Some(HookDecision::Allow), Decision::Ask | Decision::Deny) if is_open => {
            Resolution::RunByHook
        }
        (_, Decision::Deny) => Resolution::Denied,
        (Some(HookDecision::Defer), _) => Resolution::Deferred,
        (Some(HookDecision::Ask), _) => Resolution::Ask { is_open: false },
        (_, Decision::Ask) => Resolution::Ask { is_open },
        (_, Decision::Allow) => Resolution::Run,
    }
}

/// Whether nothing but the mode decided, so that a hook or judge may decide otherwise.
fn is_open(by: &DecidedBy) -> bool {
    match by {
        DecidedBy::Default { .. } => true,
        // Planning is not acting, whoever approves.
        DecidedBy::Mode { mode } => *mode != Mode::Plan,
        // No rule forbids it, and no rule can allow it.
        DecidedBy::Builtin { builtin } => *builtin == BuiltinRule::Unparsable,
        DecidedBy::Rule { .. } | DecidedBy::Hook { .. } | DecidedBy::Prompt { .. } => false,
    }
}

impl Lifecycle {
    /// Whether something has to be waited for before the call can run.
    pub(super) fn asks_about(&self, ready: &Ready) -> bool {
        ready.clearance.is_none() && self.asks_anybody()
    }

    /// Whether somebody but the rules decides about calls.
    fn asks_anybody(&self) -> bool {
        let hooks = [HookEvent::PreToolUse, HookEvent::PermissionRequest];
        let anybody = self.prompter.is_some() || self.judge.is_some();
        anybody || hooks.iter().any(|event| self.hears(*event))
    }

    /// Whether a call about which this is decided will not run, whoever is asked.
    pub(super) fn is_final(&self, decided: &Decided) -> bool {
        match decided.decision {
            Decision::Allow => false,
            Decision::Ask => !self.asks_anybody(),
            Decision::Deny => !self.asks_anybody() || !is_open(&decided.by),
        }
    }

    /// Finds out whether a call may run, and as what. May take as long as a person does.
    pub(super) fn check(
        &self,
        ready: &Ready,
        call: &CallContext<'_>,
        session: &SessionId,
    ) -> Prepared {
        let mut heard = Heard::default();
        match self.cleared(ready, call, session, &mut heard) {
            Ok(mut ready) => {
                ready.heard = heard;
                Prepared::Ready(Arc::new(ready))
            }
            Err(mut refused) => {
                refused.hear(heard);
                Prepared::Refused(refused)
            }
        }
    }

    /// What allows a call, where nothing has to be waited for.
    pub(super) fn permission(
        &self,
        ready: &Ready,
        call: &CallContext<'_>,
    ) -> Result<Permission, Box<Completed>> {
        let assessment = self.assessment_now(ready, call.session);
        let decided = self.decide(&ready.request(&assessment, call.session));
        match decided.decision {
            Decision::Allow => Ok(permission(decided)),
            Decision::Ask | Decision::Deny => {
                Err(denied(ready.tool.name(), decided, Some(&assessment.why)))
            }
        }
    }

    fn cleared(
        &self,
        ready: &Ready,
        call: &CallContext<'_>,
        session: &SessionId,
        heard: &mut Heard,
    ) -> Result<Ready, Box<Completed>> {
        let checked = self.checked(ready.clone(), call, session);
        // Most of the time hooks say nothing, and the judge need not have waited for them.
        let (merged, judgement) = thread::scope(|scope| {
            let is_shell = ready.tool.kind() == ToolKind::Shell;
            let is_open = checked.decided.decision == Decision::Ask && is_open(&checked.decided.by);
            let judging = (is_shell && is_open && self.mode == Mode::Auto)
                .then(|| scope.spawn(|| self.judgement(&checked)));
            let merged = self.before(&checked.ready, call, session, heard);
            (merged, judging.and_then(|judging| judging.join().ok()?))
        });
        let (checked, judgement) = match merged.updated_input {
            None => (checked, judgement),
            Some(input) => (self.with_input(&checked, input)?, None),
        };
        let (hook, reason) = merged.decision.unzip();
        let hook_asks = hook == Some(HookDecision::Ask);
        let reason = reason.unwrap_or_default();
        match resolution(hook, &checked.decided) {
            Resolution::Run => Ok(checked.run(None)),
            Resolution::RunByHook => Ok(checked.run(Some(by_hook(HookEvent::PreToolUse)))),
            Resolution::Denied => Err(checked.denied()),
            Resolution::Blocked => Err(checked.blocked(HookEvent::PreToolUse, &reason)),
            Resolution::Deferred => Err(checked.deferred(&reason)),
            Resolution::Ask { is_open } => {
                let asker = hook_asks.then_some(reason.as_str());
                self.asked(checked, is_open, judgement, asker, heard)
            }
        }
    }

    /// Has a judge, hooks or the user say whether a call may run. `hook_reason` is the reason of a hook
    /// that asks.
    fn asked(
        &self,
        checked: Checked<'_>,
        is_open: bool,
        judgement: Option<Judgement>,
        hook_reason: Option<&str>,
        heard: &mut Heard,
    ) -> Result<Ready, Box<Completed>> {
        if is_open
            && self.mode == Mode::Auto
            && let Some(seat) = &self.judge
        {
            let judgement = judgement.or_else(|| self.judgement(&checked));
            if let Some(judgement) = &judgement {
                seat.count(judgement);
            }
            match judgement {
                Some(Judgement::Allow) => return Ok(checked.run(Some(by_judge()))),
                Some(Judgement::Deny(reason)) => {
                    return Err(checked.refused(by_judge(), Some(reason)));
                }
                Some(Judgement::None(problem)) => heard.messages.push(format!("judge: {problem}")),
                None => {}
            }
        }
        let merged = self.request(&checked.ready, checked.call, checked.session, heard);
        match merged.decision {
            Some((HookDecision::Allow, _)) => {
                let by = Some(by_hook(HookEvent::PermissionRequest));
                return match merged.updated_input {
                    None => Ok(checked.run(by)),
                    Some(input) => self.with_input(&checked, input)?.run_unless_denied(by),
                };
            }
            Some((HookDecision::Block, reason)) => {
                return Err(checked.blocked(HookEvent::PermissionRequest, &reason));
            }
            Some((HookDecision::Ask | HookDecision::Defer, _)) | None => {}
        }
        let Some(prompter) = &self.prompter else {
            return Err(checked.unapproved(hook_reason));
        };
        let question = Question {
            id: checked.call.id,
            tool: checked.ready.tool.name(),
            input: &checked.ready.input,
            why: hook_reason
                .filter(|reason| !reason.is_empty())
                .unwrap_or(&checked.assessment.why),
            remedy: checked.decided.remedy.as_deref(),
        };
        let answer = prompter.ask(&question, checked.call.cancel);
        let by = DecidedBy::Prompt {
            prompt: prompter.name().to_owned(),
        };
        if matches!(answer, Answer::Allow(_) | Answer::AllowAlso(_))
            && let Some(seat) = &self.judge
        {
            seat.count(&Judgement::Allow);
        }
        match answer {
            Answer::Allow(None) => Ok(checked.run(Some(by))),
            Answer::Allow(Some(input)) => self
                .with_input(&checked, input)?
                .run_unless_denied(Some(by)),
            Answer::AllowAlso(rule) => {
                self.allow_from_now_on(&rule);
                Ok(checked.run(Some(by)))
            }
            Answer::Deny(text) => Err(checked.refused(by, text)),
            Answer::Nobody(problem) => {
                heard.messages.push(problem);
                Err(checked.unapproved(hook_reason))
            }
        }
    }

    fn judgement(&self, checked: &Checked<'_>) -> Option<Judgement> {
        let seat = self
            .judge
            .as_ref()
            .filter(|seat| JudgeSeat::is_trusted(seat))?;
        let case = Case {
            tool: checked.ready.tool.name(),
            input: &checked.ready.input,
            directory: &checked.call.session.directory,
            earlier: &checked.ready.earlier,
        };
        Some(seat.judge.judge(&case, checked.call.cancel))
    }

    /// The same call with other arguments: looked at as if it had come like this.
    fn with_input<'a>(
        &self,
        checked: &Checked<'a>,
        input: Input,
    ) -> Result<Checked<'a>, Box<Completed>> {
        let tool = checked.ready.tool.name();
        let ready = self.ready_with(tool, input, checked.call.session)?;
        Ok(self.checked(ready, checked.call, checked.session))
    }

    fn checked<'a>(
        &self,
        ready: Ready,
        call: &'a CallContext<'a>,
        session: &'a SessionId,
    ) -> Checked<'a> {
        let assessment = self.assessment_now(&ready, call.session);
        Checked {
            decided: self.decide(&ready.request(&assessment, call.session)),
            ready,
            assessment,
            call,
            session,
        }
    }

    /// Adds a rule for the rest of the run.
    fn allow_from_now_on(&self, rule: &str) {
        let source = Arc::new(Source {
            name: "session".to_owned(),
            anchor: self.anchor.clone(),
        });
        if let Ok(rule) = Rule::parse(rule, Behavior::Allow, &source) {
            let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
            rules.add(rule);
        }
    }
}

impl Checked<'_> {
    /// The call may run: by somebody, or by the rules.
    fn run(self, by: Option<DecidedBy>) -> Ready {
        let permission = Permission {
            decision: Decision::Allow,
            by: by.unwrap_or(self.decided.by),
        };
        self.ready.cleared(permission, self.assessment)
    }

    /// The same, for arguments that the rules have not been asked about.
    fn run_unless_denied(self, by: Option<DecidedBy>) -> Result<Ready, Box<Completed>> {
        match self.decided.decision {
            Decision::Deny => Err(self.denied()),
            Decision::Allow | Decision::Ask => Ok(self.run(by)),
        }
    }

    fn denied(self) -> Box<Completed> {
        denied(
            self.ready.tool.name(),
            self.decided,
            Some(&self.assessment.why),
        )
    }

    /// The result of a call that needs approval and gets no answer; `hook_reason` is that of a hook which
    /// asks.
    fn unapproved(mut self, hook_reason: Option<&str>) -> Box<Completed> {
        let needs_approval = self.decided.decision == Decision::Ask && !is_open(&self.decided.by);
        if let Some(reason) = hook_reason
            && !needs_approval
        {
            self.decided.by = by_hook(HookEvent::PreToolUse);
            self.decided.parts.clear();
            self.decided.remedy = None;
            reason.trim().clone_into(&mut self.assessment.why);
        }
        self.denied()
    }

    /// The result of a call that a hook blocks.
    fn blocked(self, event: HookEvent, reason: &str) -> Box<Completed> {
        let tool = self.ready.tool.name();
        let event_name = event.name();
        let text = match reason.trim() {
            "" => format!("A {event_name} hook blocked this call of {tool}."),
            reason => format!("A {event_name} hook blocked this call of {tool}: {reason}"),
        };
        let permission = Permission {
            decision: Decision::Deny,
            by: by_hook(event),
        };
        Box::new(Completed {
            permission: Some(permission),
            ..Completed::refused(Outcome::HookBlocked, text)
        })
    }

    /// The result of a call that a hook leaves to whoever drives the session.
    fn deferred(self, reason: &str) -> Box<Completed> {
        let tool = self.ready.tool.name();
        let text = format!("This call of {tool} was deferred by a hook and has not run.");
        Box::new(Completed {
            stop: Some(if reason.is_empty() {
                text.clone()
            } else {
                reason.to_owned()
            }),
            ..Completed::refused(Outcome::NotRun, text)
        })
    }

    /// The result of a call that somebody said no to.
    fn refused(self, by: DecidedBy, text: Option<String>) -> Box<Completed> {
        let tool = self.ready.tool.name();
        let text = match text {
            Some(text) => format!("The use of {tool} was refused: {text}"),
            None => format!(
                "The use of {tool} was refused. Do not try to reach the same by other means; ask \
                 what to do instead."
            ),
        };
        let permission = Permission {
            decision: Decision::Deny,
            by,
        };
        Box::new(Completed {
            permission: Some(permission),
            ..Completed::refused(Outcome::Denied, tool_use_error(&text))
        })
    }
}

fn permission(decided: Decided) -> Permission {
    Permission {
        decision: decided.decision,
        by: decided.by,
    }
}

fn by_hook(event: HookEvent) -> DecidedBy {
    DecidedBy::Hook {
        hook: event.name().to_owned(),
    }
}

fn by_judge() -> DecidedBy {
    DecidedBy::Mode { mode: Mode::Auto }
}

/// The result of a call that must not run.
pub(super) fn denied(tool: &str, decided: Decided, why: Option<&str>) -> Box<Completed> {
    let text = decided.reason(tool, why);
    Box::new(Completed {
        denial: Some(decided.explanation(why)),
        permission: Some(Permission {
            decision: Decision::Deny,
            by: decided.by,
        }),
        ..Completed::refused(Outcome::Denied, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is decided by whom, as the rows of the table write it.
    fn decided(text: &str) -> Decided {
        let (decision, by) = text.split_once(" by ").unwrap();
        let decision = match decision {
            "allow" => Decision::Allow,
            "ask" => Decision::Ask,
            _ => Decision::Deny,
        };
        let by = match by {
            "default" => DecidedBy::Default { default: true },
            "rule" => DecidedBy::Rule {
                rule: "Bash".to_owned(),
                behavior: decision,
                source: "s".to_owned(),
            },
            "critical-path" => DecidedBy::Builtin {
                builtin: BuiltinRule::CriticalPath,
            },
            "unparsable" => DecidedBy::Builtin {
                builtin: BuiltinRule::Unparsable,
            },
            mode => DecidedBy::Mode {
                mode: clap::ValueEnum::from_str(mode, false).unwrap(),
            },
        };
        Decided {
            decision,
            by,
            parts: Vec::new(),
            remedy: None,
        }
    }

    #[test]
    fn hooks_and_rules_together() {
        use HookDecision::{Allow, Ask, Block, Defer};
        use Resolution::{Blocked, Deferred, Denied, Run, RunByHook};
        let asked = |is_open| Resolution::Ask { is_open };
        let table = [
            (None, "allow by rule", Run),
            (None, "ask by default", asked(true)),
            (None, "ask by rule", asked(false)),
            (None, "deny by rule", Denied),
            (Some(Allow), "allow by rule", Run),
            (Some(Allow), "ask by default", RunByHook),
            (Some(Allow), "ask by rule", asked(false)),
            (Some(Allow), "ask by critical-path", asked(false)),
            (Some(Allow), "ask by unparsable", RunByHook),
            (Some(Allow), "ask by plan", asked(false)),
            (Some(Allow), "deny by rule", Denied),
            (Some(Allow), "deny by plan", Denied),
            (Some(Allow), "deny by dontAsk", RunByHook),
            (Some(Ask), "allow by rule", asked(false)),
            (Some(Ask), "allow by bypassPermissions", asked(false)),
            (Some(Ask), "deny by rule", Denied),
            (Some(Defer), "allow by rule", Deferred),
            (Some(Defer), "deny by rule", Denied),
            (Some(Block), "allow by bypassPermissions", Blocked),
            (Some(Block), "deny by rule", Blocked),
        ];
        for (hook, rules, expected) in table {
            assert_eq!(
                resolution(hook, &decided(rules)),
                expected,
                "{hook:?}, {rules}"
            );
        }
    }
}
