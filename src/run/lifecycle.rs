//! The life of one call, from look-up to result.
//!
//! `prepare` finds what the schedule needs: the tool, valid input, the access. `check` (in
//! `permission_check`) waits for hooks, a judge or the user. `execute` (in `execution`) runs the tool
//! and turns its reply into a result. A step that fails ends the call with a result.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;

use super::call::{CallState, ReadyCall, UnresolvedCall};
use super::call_hooks::CallHooks;
use super::call_result::{CallResult, HookFeedback};
use super::prompting::{GuardedJudge, Prompter};
use crate::assemble::ToolCall;
use crate::message::{BuiltinRule, DecidedBy, Decision};
use crate::permission::{Action, Decided, Mode, Request, Rules};
use crate::records::{Outcome, Permission};
use crate::run::hooks::HookEvent;
use crate::run::results::{ToolLimits, tool_use_error};
use crate::run::tools::{
    Access, Assessment, CallContext, Input, LookupError, PreparedCall, Registry, Tool, ToolContext,
    ToolKind,
};
use crate::state::StateRoot;

/// The state that all calls of a run share.
pub struct Lifecycle {
    /// The tools on offer.
    pub registry: Arc<Registry>,
    /// The permission mode, which decides if no rule does.
    pub mode: Mode,
    /// The permission rules.
    pub rules: RwLock<Rules>,
    /// The directory that rules added during the run are relative to.
    pub anchor: PathBuf,
    /// The user's hooks.
    pub hooks: CallHooks,
    /// The judge of calls that no rule decides, in the mode `auto`.
    pub judge: Option<GuardedJudge>,
    /// Asks about calls that no rule decides. Without it, these calls do not run.
    pub prompter: Option<Box<dyn Prompter>>,
    /// Limits on results.
    pub limits: ToolLimits,
    /// Whether the analysis of shell commands counts.
    pub shell_verdicts: ShellVerdicts,
    /// The only tools that run; all if `None`.
    pub tools_only: Option<BTreeSet<String>>,
    /// The directory of session state and of results that are too long for the stream.
    pub state_root: StateRoot,
}

/// The classification of shell commands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ShellVerdicts {
    /// By analysis.
    #[default]
    Analysed,
    /// All count as read-only. For tests of the sandbox, which alone then prevents writes.
    AssumedReadOnly,
}

impl Lifecycle {
    /// Finds the tool, checks the input against its schema and determines the access, as far as possible
    /// without waiting.
    pub(super) fn prepare(&self, call: &ToolCall, session: &ToolContext) -> CallState {
        self.try_prepare(call, session)
            .unwrap_or_else(CallState::Done)
    }

    fn try_prepare(
        &self,
        call: &ToolCall,
        session: &ToolContext,
    ) -> Result<CallState, Box<CallResult>> {
        let raw = match &call.input {
            Ok(input) => input.get(),
            Err(reason) => {
                return Err(invalid_input_result(&format!(
                    "the call was not run: {reason}"
                )));
            }
        };
        let input: Input = serde_json::from_str(raw)
            .map_err(|error| invalid_input_result(&format!("{} {error}", call.name)))?;
        let earlier = || match &self.judge {
            Some(judge) => judge.add_call(&call.name, raw),
            None => Vec::new(),
        };
        if let Some(tool) = self.registry.name_if_slow(&call.name) {
            // The server is not started for a call that cannot be permitted.
            self.check_offered(tool)?;
            let decided = self.decide(&session.request(tool, &input, &Action::Anything));
            if self.is_final(&decided) {
                return Err(denied_result(tool, decided, None));
            }
            return Ok(CallState::Resolving(Arc::new(UnresolvedCall {
                name: call.name.clone(),
                input,
                earlier: earlier(),
            })));
        }
        let ready = self.prepare_call(&call.name, input, session)?;
        Ok(CallState::Queued(Arc::new(ReadyCall {
            earlier: earlier(),
            ..ready
        })))
    }

    /// Completes [`Lifecycle::prepare`] for a call after waiting for its server to start.
    pub(super) fn resolve(&self, unresolved: &UnresolvedCall, session: &ToolContext) -> CallState {
        match self.prepare_call(&unresolved.name, unresolved.input.clone(), session) {
            Ok(ready) => CallState::Queued(Arc::new(ReadyCall {
                earlier: unresolved.earlier.clone(),
                ..ready
            })),
            Err(refused) => CallState::Done(refused),
        }
    }

    /// Returns a call of the tool with this name or alias, and these arguments.
    pub(super) fn prepare_call(
        &self,
        name: &str,
        input: Input,
        session: &ToolContext,
    ) -> Result<ReadyCall, Box<CallResult>> {
        let resolved = self
            .registry
            .resolve(name, input)
            .map_err(|error| match error {
                LookupError::Unknown { .. } => {
                    let text = tool_use_error(&format!("Error: {error}"));
                    refusal_result(Outcome::UnknownTool, text)
                }
                LookupError::Unavailable { .. } => {
                    refusal_result(Outcome::Error, tool_use_error(&error.to_string()))
                }
                LookupError::Unmappable(_) => invalid_input_result(&error.to_string()),
            })?;
        let tool = resolved.tool;
        self.check_offered(tool.name())?;
        let input = Value::Object(resolved.input);
        self.registry
            .check_schema(&*tool, &input)
            .map_err(|issues| invalid_input_result(&issues))?;
        let Value::Object(input) = input else {
            return Err(invalid_input_result("not an object"));
        };
        let call = tool.prepare(&input).map_err(|error| {
            refusal_result(Outcome::InvalidInput, tool_use_error(&error.to_string()))
        })?;
        let assessment = self.assess(&*tool, &*call, session);
        Ok(ReadyCall {
            tool,
            input,
            call: call.into(),
            assessment,
            written_name: name.to_owned(),
            feedback: HookFeedback::default(),
            permission: None,
            earlier: Vec::new(),
        })
    }

    fn check_offered(&self, tool: &str) -> Result<(), Box<CallResult>> {
        match &self.tools_only {
            Some(only) if !only.contains(tool) => {
                let text = format!("{tool} was not run: it is not among the tools of this run.");
                Err(refusal_result(Outcome::NotRun, text))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the assessment of a call that starts now, in the current directory.
    pub(super) fn reassess(&self, ready: &ReadyCall, session: &ToolContext) -> Assessment {
        self.assess(&*ready.tool, &*ready.call, session)
    }

    fn assess(
        &self,
        tool: &dyn Tool,
        call: &dyn PreparedCall,
        session: &ToolContext,
    ) -> Assessment {
        match (self.shell_verdicts, tool.kind()) {
            (ShellVerdicts::AssumedReadOnly, ToolKind::Shell) => Assessment {
                access: Access::reads_everything(),
                why: "assumed".to_owned(),
                action: Action::Harmless,
            },
            _ => call.assess(session),
        }
    }

    /// Returns the assessment for the permission decision. A shell command that was read-only when it
    /// was queued is assessed again: calls before it may have changed its directory or the git settings
    /// there.
    pub(super) fn current_assessment(
        &self,
        ready: &ReadyCall,
        session: &ToolContext,
    ) -> Assessment {
        let queued = &ready.assessment;
        if ready.tool.kind() == ToolKind::Shell && queued.access.is_read_only() {
            self.reassess(ready, session)
        } else {
            queued.clone()
        }
    }

    /// Returns the decision of the rules and the mode.
    pub(super) fn decide(&self, request: &Request<'_>) -> Decided {
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        rules.decide(self.mode, request)
    }

    /// Returns the decision about a call that has not started, for a plan; `None` if its tool is unknown
    /// or it is refused.
    pub(super) fn planned_decision(
        &self,
        state: &CallState,
        session: &ToolContext,
    ) -> Option<Decision> {
        let ready = state.ready()?;
        let request = ready.request(&ready.assessment, session);
        Some(self.decide(&request).decision)
    }

    /// Returns the permission of the rules alone.
    ///
    /// # Errors
    /// The rules do not allow the call.
    pub(super) fn permission_by_rules(
        &self,
        ready: &ReadyCall,
        call: &CallContext<'_>,
    ) -> Result<Permission, Box<CallResult>> {
        let assessment = self.current_assessment(ready, call.session);
        let decided = self.decide(&ready.request(&assessment, call.session));
        match decided.decision {
            Decision::Allow => Ok(Permission {
                decision: Decision::Allow,
                by: decided.by,
            }),
            Decision::Ask | Decision::Deny => Err(denied_result(
                ready.tool.name(),
                decided,
                Some(&assessment.why),
            )),
        }
    }

    /// Whether the call must wait for a permission check.
    pub(super) fn needs_check(&self, ready: &ReadyCall) -> bool {
        ready.permission.is_none() && self.has_deciders()
    }

    /// Whether hooks, a judge or the user can decide about calls.
    fn has_deciders(&self) -> bool {
        let hooks = [HookEvent::PreToolUse, HookEvent::PermissionRequest];
        self.prompter.is_some()
            || self.judge.is_some()
            || hooks.iter().any(|event| self.hooks.has(*event))
    }

    /// Whether a decision means that the call will not run.
    fn is_final(&self, decided: &Decided) -> bool {
        match decided.decision {
            Decision::Allow => false,
            Decision::Ask => !self.has_deciders(),
            Decision::Deny => !self.has_deciders() || !is_open(&decided.by),
        }
    }

    /// Whether hooks run after calls.
    pub(super) fn has_post_hooks(&self) -> bool {
        self.hooks.has(HookEvent::PostToolUse) || self.hooks.has(HookEvent::PostToolUseFailure)
    }
}

/// Whether only the mode decided, so that a hook or a judge may decide otherwise.
pub(super) fn is_open(by: &DecidedBy) -> bool {
    match by {
        DecidedBy::Default { .. } => true,
        // In the mode `plan` nothing runs, even with approval.
        DecidedBy::Mode { mode } => *mode != Mode::Plan,
        // No rule forbids such a command, and no rule can allow it.
        DecidedBy::Builtin { builtin } => *builtin == BuiltinRule::Unparsable,
        DecidedBy::Rule { .. } | DecidedBy::Hook { .. } | DecidedBy::Prompt { .. } => false,
    }
}

/// Returns the result of a call that the rules or the mode deny. `effect` is the reason of its assessment.
pub(super) fn denied_result(tool: &str, decided: Decided, effect: Option<&str>) -> Box<CallResult> {
    let text = decided.reason(tool, effect);
    Box::new(CallResult {
        denial: Some(decided.explanation(effect)),
        permission: Some(Permission {
            decision: Decision::Deny,
            by: decided.by,
        }),
        ..CallResult::refusal(Outcome::Denied, text)
    })
}

fn refusal_result(outcome: Outcome, text: String) -> Box<CallResult> {
    Box::new(CallResult::refusal(outcome, text))
}

fn invalid_input_result(issues: &str) -> Box<CallResult> {
    let text = tool_use_error(&format!("InputValidationError: {issues}"));
    refusal_result(Outcome::InvalidInput, text)
}
