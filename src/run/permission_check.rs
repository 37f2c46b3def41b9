//! Decides whether a call may run, by hooks and rules, else by a judge or the user.

use std::sync::{Arc, PoisonError};
use std::thread;

use super::call::{CallState, ReadyCall};
use super::call_hooks::HookedCall;
use super::call_result::{CallResult, HookFeedback};
use super::lifecycle::{Lifecycle, denied_result, is_open};
use super::prompting::{GuardedJudge, JudgedCall, Judgement, PromptResponse, Question};
use crate::message::{DecidedBy, Decision, SessionId};
use crate::permission::{Behavior, Decided, Mode, Rule, RuleSource};
use crate::records::{Outcome, Permission};
use crate::run::hooks::{HookDecision, HookEvent};
use crate::run::results::tool_use_error;
use crate::run::tools::{Assessment, CallContext, Input, ToolKind};

/// A call with the decision of the rules.
struct Candidate<'a> {
    ready: ReadyCall,
    assessment: Assessment,
    decided: Decided,
    call: &'a CallContext<'a>,
    session: &'a SessionId,
}

/// The combined decision of hooks and rules.
#[derive(Debug, PartialEq, Eq)]
enum Resolution {
    /// The call runs.
    Run,
    /// The call runs by the decision of a hook.
    RunByHook,
    /// A hook blocks the call.
    Blocked,
    /// A hook leaves the call to the program that drives the session.
    Deferred,
    /// The rules or the mode deny the call.
    Denied,
    /// The user has to decide, or, if `is_open`, a judge.
    Ask { is_open: bool },
}

/// Combines the decisions of hooks and rules. A hook that blocks always wins, a rule that denies beats a hook
/// that allows, and a rule that asks takes effect even if a hook allows the call.
fn resolve(hook: Option<HookDecision>, decided: &Decided) -> Resolution {
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

impl Lifecycle {
    /// Determines whether a call may run, and with which arguments. Waits for hooks, the judge and the
    /// user. Returns the call, queued with its permission or done with a denial.
    pub(super) fn check(
        &self,
        ready: &ReadyCall,
        call: &CallContext<'_>,
        session: &SessionId,
    ) -> CallState {
        let mut feedback = HookFeedback::default();
        match self.permit(ready, call, session, &mut feedback) {
            Ok(mut ready) => {
                ready.feedback = feedback;
                CallState::Queued(Arc::new(ready))
            }
            Err(mut refused) => {
                refused.add_feedback(feedback);
                CallState::Done(refused)
            }
        }
    }

    fn permit(
        &self,
        ready: &ReadyCall,
        call: &CallContext<'_>,
        session: &SessionId,
        feedback: &mut HookFeedback,
    ) -> Result<ReadyCall, Box<CallResult>> {
        let candidate = self.build_candidate(ready.clone(), call, session);
        // Hooks rarely decide, so the judge does not wait for them.
        let (merged, judgement) = thread::scope(|scope| {
            let is_shell = ready.tool.kind() == ToolKind::Shell;
            let decided = &candidate.decided;
            let is_open = decided.decision == Decision::Ask && is_open(&decided.by);
            let judge_thread = (is_shell && is_open && self.mode == Mode::Auto)
                .then(|| scope.spawn(|| self.judge_call(&candidate)));
            let event = HookEvent::PreToolUse;
            let merged = self
                .hooks
                .run_before_call(event, candidate.hooked_call(), feedback);
            (
                merged,
                judge_thread.and_then(|judge_thread| judge_thread.join().ok()?),
            )
        });
        let (candidate, judgement) = match merged.updated_input {
            None => (candidate, judgement),
            Some(input) => (self.with_input(&candidate, input)?, None),
        };
        let (hook, reason) = merged.decision.unzip();
        let reason = reason.unwrap_or_default();
        match resolve(hook, &candidate.decided) {
            Resolution::Run => Ok(candidate.into_permitted(None)),
            Resolution::RunByHook => {
                Ok(candidate.into_permitted(Some(hook_decider(HookEvent::PreToolUse))))
            }
            Resolution::Denied => Err(candidate.into_denied()),
            Resolution::Blocked => Err(candidate.into_blocked(HookEvent::PreToolUse, &reason)),
            Resolution::Deferred => Err(candidate.into_deferred(reason)),
            Resolution::Ask { is_open } => {
                let hook_reason = (hook == Some(HookDecision::Ask)).then_some(reason.as_str());
                self.ask(candidate, is_open, judgement, hook_reason, feedback)
            }
        }
    }

    /// Asks the judge, hooks and the user, in this order. `hook_reason` is the reason of a hook that requires
    /// approval.
    fn ask(
        &self,
        candidate: Candidate<'_>,
        is_open: bool,
        judgement: Option<Judgement>,
        hook_reason: Option<&str>,
        feedback: &mut HookFeedback,
    ) -> Result<ReadyCall, Box<CallResult>> {
        if is_open
            && self.mode == Mode::Auto
            && let Some(judge) = &self.judge
        {
            let judgement = judgement.or_else(|| self.judge_call(&candidate));
            if let Some(judgement) = &judgement {
                judge.count(judgement);
            }
            match judgement {
                Some(Judgement::Allow) => {
                    return Ok(candidate.into_permitted(Some(judge_decider())));
                }
                Some(Judgement::Deny(reason)) => {
                    return Err(candidate.into_refused(judge_decider(), Some(reason)));
                }
                Some(Judgement::None(problem)) => {
                    feedback.messages.push(format!("judge: {problem}"));
                }
                None => {}
            }
        }
        let event = HookEvent::PermissionRequest;
        let merged = self
            .hooks
            .run_before_call(event, candidate.hooked_call(), feedback);
        match merged.decision {
            Some((HookDecision::Allow, _)) => {
                let by = hook_decider(HookEvent::PermissionRequest);
                return self.permit_with(candidate, merged.updated_input, by);
            }
            Some((HookDecision::Block, reason)) => {
                return Err(candidate.into_blocked(HookEvent::PermissionRequest, &reason));
            }
            Some((HookDecision::Ask | HookDecision::Defer, _)) | None => {}
        }
        self.ask_user(candidate, hook_reason, feedback)
    }

    fn ask_user(
        &self,
        candidate: Candidate<'_>,
        hook_reason: Option<&str>,
        feedback: &mut HookFeedback,
    ) -> Result<ReadyCall, Box<CallResult>> {
        let Some(prompter) = &self.prompter else {
            return Err(candidate.into_unapproved(hook_reason));
        };
        let question = Question {
            id: candidate.call.id,
            tool: candidate.ready.tool.name(),
            input: &candidate.ready.input,
            reason: hook_reason
                .filter(|reason| !reason.is_empty())
                .unwrap_or(&candidate.assessment.why),
            rule: candidate.decided.hint.as_ref().map(|hint| &*hint.rule),
        };
        let answer = prompter.ask(&question, candidate.call.cancel);
        let by = DecidedBy::Prompt {
            prompt: prompter.name().to_owned(),
        };
        if matches!(
            answer,
            PromptResponse::Allow(_) | PromptResponse::AllowAlways(_)
        ) && let Some(judge) = &self.judge
        {
            judge.count(&Judgement::Allow);
        }
        match answer {
            PromptResponse::Allow(input) => self.permit_with(candidate, input, by),
            PromptResponse::AllowAlways(rule) => {
                self.add_allow_rule(&rule);
                Ok(candidate.into_permitted(Some(by)))
            }
            PromptResponse::Deny(text) => Err(candidate.into_refused(by, text)),
            PromptResponse::None(problem) => {
                feedback.messages.push(problem);
                Err(candidate.into_unapproved(hook_reason))
            }
        }
    }

    fn judge_call(&self, candidate: &Candidate<'_>) -> Option<Judgement> {
        let judge = self
            .judge
            .as_ref()
            .filter(|judge| GuardedJudge::is_trusted(judge))?;
        let case = JudgedCall {
            tool: candidate.ready.tool.name(),
            input: &candidate.ready.input,
            directory: &candidate.call.session.directory,
            earlier: &candidate.ready.earlier,
        };
        Some(judge.judge.judge(&case, candidate.call.cancel))
    }

    /// Returns the call with other arguments, which are checked as in a new call.
    fn with_input<'a>(
        &self,
        candidate: &Candidate<'a>,
        input: Input,
    ) -> Result<Candidate<'a>, Box<CallResult>> {
        let tool = candidate.ready.tool.name();
        let ready = self.prepare_call(tool, input, candidate.call.session)?;
        Ok(self.build_candidate(ready, candidate.call, candidate.session))
    }

    /// Returns the call with the permission of `by`. Other arguments, if `by` gives some, may be denied by the rules.
    fn permit_with(
        &self,
        mut candidate: Candidate<'_>,
        input: Option<Input>,
        by: DecidedBy,
    ) -> Result<ReadyCall, Box<CallResult>> {
        if let Some(input) = input {
            candidate = self.with_input(&candidate, input)?;
            if candidate.decided.decision == Decision::Deny {
                return Err(candidate.into_denied());
            }
        }
        Ok(candidate.into_permitted(Some(by)))
    }

    fn build_candidate<'a>(
        &self,
        ready: ReadyCall,
        call: &'a CallContext<'a>,
        session: &'a SessionId,
    ) -> Candidate<'a> {
        let assessment = self.current_assessment(&ready, call.session);
        Candidate {
            decided: self.decide(&ready.request(&assessment, call.session)),
            ready,
            assessment,
            call,
            session,
        }
    }

    /// Adds a rule for the rest of the run.
    fn add_allow_rule(&self, rule: &str) {
        let source = Arc::new(RuleSource {
            name: "session".to_owned(),
            anchor: self.anchor.clone(),
        });
        if let Ok(rule) = Rule::parse(rule, Behavior::Allow, &source) {
            let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
            rules.add(rule);
        }
    }
}

impl Candidate<'_> {
    /// Returns the call for hooks.
    fn hooked_call(&self) -> HookedCall<'_> {
        HookedCall {
            ready: &self.ready,
            context: self.call,
            session: self.session,
        }
    }

    /// Returns the call with its permission, decided by `by` or else by the rules.
    fn into_permitted(self, by: Option<DecidedBy>) -> ReadyCall {
        let permission = Permission {
            decision: Decision::Allow,
            by: by.unwrap_or(self.decided.by),
        };
        self.ready.with_permission(permission, self.assessment)
    }

    fn into_denied(self) -> Box<CallResult> {
        let effect = Some(self.assessment.why.as_str());
        denied_result(self.ready.tool.name(), self.decided, effect)
    }

    /// Returns the result of a call that needs approval but gets no response.
    fn into_unapproved(mut self, hook_reason: Option<&str>) -> Box<CallResult> {
        let needs_approval = self.decided.decision == Decision::Ask && !is_open(&self.decided.by);
        if let Some(reason) = hook_reason
            && !needs_approval
        {
            self.decided.by = hook_decider(HookEvent::PreToolUse);
            self.decided.parts.clear();
            self.decided.hint = None;
            reason.trim().clone_into(&mut self.assessment.why);
        }
        self.into_denied()
    }

    /// Returns the result of a call that a hook blocks.
    fn into_blocked(self, event: HookEvent, reason: &str) -> Box<CallResult> {
        let tool = self.ready.tool.name();
        let event_name = event.name();
        let text = match reason.trim() {
            "" => format!("A {event_name} hook blocked this call of {tool}."),
            reason => format!("A {event_name} hook blocked this call of {tool}: {reason}"),
        };
        Box::new(CallResult {
            permission: Some(denial(hook_decider(event))),
            ..CallResult::refusal(Outcome::HookBlocked, text)
        })
    }

    /// Returns the result of a call that a hook leaves to the program that drives the session.
    fn into_deferred(self, reason: String) -> Box<CallResult> {
        let tool = self.ready.tool.name();
        let text = format!("This call of {tool} was deferred by a hook and has not run.");
        Box::new(CallResult {
            stop: Some(if reason.is_empty() {
                text.clone()
            } else {
                reason
            }),
            ..CallResult::refusal(Outcome::NotRun, text)
        })
    }

    /// Returns the result of a call that the judge or the user denies, with their text for the model.
    fn into_refused(self, by: DecidedBy, text: Option<String>) -> Box<CallResult> {
        let tool = self.ready.tool.name();
        let text = match text {
            Some(text) => format!("The use of {tool} was refused: {text}"),
            None => format!(
                "The use of {tool} was refused. Do not try to reach the same by other means; ask \
                 what to do instead."
            ),
        };
        Box::new(CallResult {
            permission: Some(denial(by)),
            denial: Some(text.clone()),
            ..CallResult::refusal(Outcome::Denied, tool_use_error(&text))
        })
    }
}

fn denial(by: DecidedBy) -> Permission {
    Permission {
        decision: Decision::Deny,
        by,
    }
}

fn hook_decider(event: HookEvent) -> DecidedBy {
    DecidedBy::Hook {
        hook: event.name().to_owned(),
    }
}

fn judge_decider() -> DecidedBy {
    DecidedBy::Mode { mode: Mode::Auto }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::BuiltinRule;

    /// Parses a decision of the table below: `DECISION by WHAT`.
    fn rule_decision(text: &str) -> Decided {
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
            hint: None,
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
                resolve(hook, &rule_decision(rules)),
                expected,
                "{hook:?}, {rules}"
            );
        }
    }
}
