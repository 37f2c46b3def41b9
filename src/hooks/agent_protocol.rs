//! The protocol of agents' hooks, with this program as the hook: the input that agents write, and the responses that
//! they understand. Copilot CLI, and the hooks of opencode and pi, write and
//! understand what Claude Code does.
//!
//! Without a response, the agent proceeds as if no hook were installed. See `docs/permissions.md`, The hook for
//! other agents.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::agent::{Agent, session_roots};
use crate::io::Environment;
use crate::message::{BuiltinRule, DecidedBy, Decision};
use crate::permission::{Action, Decided, Mode};
use crate::records::{HookDecisionRecord, name_of};
use crate::view::input_gist;

/// The input of a hook.
#[derive(Debug, Deserialize)]
pub struct AgentHookInput {
    hook_event_name: AgentEvent,
    /// The name of the tool.
    pub tool_name: String,
    /// The arguments of the call, or why they cannot be read: a call that the agent can read must not pass because they
    /// are nested too deeply here.
    #[serde(deserialize_with = "arguments")]
    pub tool_input: Result<Map<String, Value>, String>,
    /// The working directory of the agent.
    pub cwd: PathBuf,
    permission_mode: Option<String>,
    /// Only Codex numbers its turns.
    turn_id: Option<Value>,
    session_id: Option<Value>,
    /// Cursor's name of `session_id`.
    conversation_id: Option<Value>,
    transcript_path: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum AgentEvent {
    PreToolUse,
    /// The spelling of Cursor.
    #[serde(rename = "preToolUse")]
    CursorPreToolUse,
    PermissionRequest,
    /// Gemini CLI's name of `PreToolUse`.
    BeforeTool,
}

fn arguments<'de, D: Deserializer<'de>>(
    value: D,
) -> Result<Result<Map<String, Value>, String>, D::Error> {
    let raw = Box::<RawValue>::deserialize(value)?;
    Ok(serde_json::from_str(raw.get()).map_err(|error| error.to_string()))
}

impl AgentHookInput {
    /// Whether the agent asks the user about the call, so that a failure needs no denial.
    pub fn asks_user(&self) -> bool {
        self.hook_event_name == AgentEvent::PermissionRequest
    }

    /// Whether the agent is in plan mode. The agent applies its other modes itself.
    pub fn is_planning(&self) -> bool {
        self.permission_mode.as_deref() == Some(Mode::Plan.name())
    }

    /// Whether the agent runs commands with bash, if known: Qwen Code, Gemini CLI, Copilot CLI and pi do, and
    /// others use the user's shell.
    pub fn runs_bash(&self, agent: Option<Agent>, environment: &Environment) -> bool {
        // Claude Code prefers the first: https://code.claude.com/docs/en/env-vars
        let shells = ["CLAUDE_CODE_SHELL", "SHELL"].iter();
        let mut shells = shells.filter_map(|name| environment.text(name)).peekable();
        let is_user_shell_bash =
            shells.peek().is_some() && shells.all(|shell| Path::new(shell).ends_with("bash"));
        let is_codex = self.turn_id.is_some();
        let has_bash = matches!(agent, Some(Agent::Copilot | Agent::Pi));
        has_bash || self.tool_name == "run_shell_command" || (!is_codex && is_user_shell_bash)
    }

    /// Returns the response for the decision about a call with this action. With
    /// `denies_instead_of_asking`, a call that needs approval is denied. `None` if the decision is left
    /// to the agent, else the decision in the response and the response.
    pub fn response(
        &self,
        decided: &Decided,
        action: &Action,
        denies_instead_of_asking: bool,
    ) -> Option<(Decision, Value)> {
        let decision = match response_decision(decided, action)? {
            Decision::Ask if denies_instead_of_asking => Decision::Deny,
            decision => decision,
        };
        let response = self.written_response(decision, &reason(decided))?;
        Some((decision, response))
    }

    /// Returns the response that denies the call for this reason.
    pub fn denial(&self, reason: &str) -> Option<(Decision, Value)> {
        let response = self.written_response(Decision::Deny, reason)?;
        Some((Decision::Deny, response))
    }

    /// Returns the record of the decision that was made `now`, or of the reason why none could be made.
    /// `agent` is the agent if it is known, and `answer` the decision in the response.
    pub fn record(
        &self,
        agent: Option<Agent>,
        decided: Result<&Decided, &str>,
        answer: Option<Decision>,
        environment: &Environment,
        now: Timestamp,
    ) -> HookDecisionRecord {
        let text = |value: &Option<Value>| Some(value.as_ref()?.as_str()?.to_owned());
        let transcript = PathBuf::from(text(&self.transcript_path).unwrap_or_default());
        let mut roots = session_roots(environment).into_iter();
        let root = roots.find(|root| transcript.starts_with(&root.path));
        let decided_by_rules = decided.ok();
        let decision = decided_by_rules.map_or(Decision::Ask, |decided| decided.decision);
        let hints = decided_by_rules.and_then(Decided::hints);
        HookDecisionRecord {
            timestamp: format!("{now:.3}"),
            agent: agent
                .or_else(|| root?.agent)
                .map(|agent| agent.name().to_owned()),
            session_id: text(&self.session_id).or_else(|| text(&self.conversation_id)),
            cwd: self.cwd.display().to_string(),
            event: name_of(self.hook_event_name),
            tool: self.tool_name.clone(),
            about: (self.tool_input.as_ref())
                .map(|input| input_gist(input, self.cwd.to_str()))
                .unwrap_or_default(),
            decision: answer.unwrap_or(decision),
            answered: answer.is_some(),
            by: decided_by_rules.map(|decided| decided.by.clone()),
            reason: decided.map_or_else(str::to_owned, reason),
            hints: hints
                .unwrap_or_default()
                .into_iter()
                .map(str::to_owned)
                .collect(),
        }
    }

    fn written_response(&self, decision: Decision, reason: &str) -> Option<Value> {
        let is_codex = self.turn_id.is_some();
        match (self.hook_event_name, decision) {
            // The agent asks anyway. Gemini CLI without a terminal would wait for a response, and Cursor ignores this one.
            (
                AgentEvent::PermissionRequest
                | AgentEvent::BeforeTool
                | AgentEvent::CursorPreToolUse,
                Decision::Ask,
            ) => None,
            (AgentEvent::CursorPreToolUse, _) => Some(json!({
                "permission": decision, "user_message": reason, "agent_message": reason,
            })),
            (AgentEvent::PermissionRequest, _) => {
                let decision = match decision {
                    Decision::Deny => json!({ "behavior": "deny", "message": reason }),
                    Decision::Allow | Decision::Ask => json!({ "behavior": "allow" }),
                };
                Some(json!({ "hookSpecificOutput": {
                    "hookEventName": "PermissionRequest",
                    "decision": decision,
                }}))
            }
            (AgentEvent::BeforeTool, _) => Some(json!({ "decision": decision, "reason": reason })),
            // Codex reports these responses as errors.
            (AgentEvent::PreToolUse, Decision::Ask | Decision::Allow) if is_codex => None,
            (AgentEvent::PreToolUse, _) => Some(json!({ "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": decision,
                "permissionDecisionReason": reason,
            }})),
        }
    }
}

/// Returns the decision for the response; `None` if it is left to the agent.
fn response_decision(decided: &Decided, action: &Action) -> Option<Decision> {
    let is_spoken = match decided.decision {
        Decision::Deny => true,
        Decision::Ask => matches!(decided.by, DecidedBy::Rule { .. }),
        // The agent decides which files may be read without asking.
        Decision::Allow => {
            let is_command = matches!(action, Action::Command { .. });
            is_command || !matches!(decided.by, DecidedBy::Builtin { .. })
        }
    };
    is_spoken.then_some(decided.decision)
}

/// Returns the reason for the user or the model.
fn reason(decided: &Decided) -> String {
    let verb = match decided.decision {
        Decision::Allow => "allowed",
        Decision::Ask => "flagged for approval",
        Decision::Deny => "denied",
    };
    let why = match &decided.by {
        DecidedBy::Rule { rule, source, .. } => format!("{verb} by the rule `{rule}` of {source}"),
        DecidedBy::Mode { mode } => format!("{verb} in the mode `{}`", mode.name()),
        DecidedBy::Builtin {
            builtin: BuiltinRule::ReadOnly,
        } => return "it only reads".to_owned(),
        DecidedBy::Builtin { builtin } => format!("{verb}, since it {}", builtin.effect()),
        DecidedBy::Default { .. } | DecidedBy::Hook { .. } | DecidedBy::Prompt { .. } => {
            "no rule allows it".to_owned()
        }
    };
    let mut parts = decided.parts.iter();
    let deciding = parts.find(|part| part.decision == decided.decision && part.by == decided.by);
    match deciding {
        Some(part) => format!("`{}`: {why}", part.command),
        None => why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(event: &str, more: &Value) -> AgentHookInput {
        let mut input = json!({
            "hook_event_name": event, "tool_name": "Bash", "tool_input": {"command": "ls"},
            "cwd": "/",
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            input[name] = value.clone();
        }
        serde_json::from_value(input).unwrap()
    }

    #[test]
    fn each_agent_gets_responses_that_it_understands() {
        let codex = json!({"turn_id": "1"});
        let responses = |event, more: &Value| {
            [Decision::Allow, Decision::Ask, Decision::Deny].map(|decision| {
                let response = input(event, more).written_response(decision, "why");
                response.is_some()
            })
        };
        assert_eq!(responses("PreToolUse", &Value::Null), [true, true, true]);
        assert_eq!(responses("PreToolUse", &codex), [false, false, true]);
        assert_eq!(responses("BeforeTool", &Value::Null), [true, false, true]);
        assert_eq!(responses("preToolUse", &Value::Null), [true, false, true]);
        assert_eq!(responses("PermissionRequest", &codex), [true, false, true]);
    }

    #[test]
    fn only_the_plan_mode_of_an_agent_counts() {
        let is_planning =
            |mode| input("PreToolUse", &json!({"permission_mode": mode})).is_planning();
        assert!(is_planning("plan"));
        assert!(!is_planning("bypassPermissions") && !is_planning("other"));
    }
}
