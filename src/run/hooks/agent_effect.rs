//! What an agent does with a call after the end of its hook. See `docs/permissions.md`, The hook for other agents.

use serde_json::Value;

use super::agent_protocol::EventKind;
use crate::agent::Agent;
use crate::message::Decision;
use crate::records::HookEffect;

/// The end of a hook, as its agent reads it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HookAnswer {
    /// The decision that it gave, if any.
    pub decision: Option<Decision>,
    /// Its reason.
    pub reason: Option<String>,
    /// The effect on the call.
    pub effect: HookEffect,
    /// Why the hook failed.
    pub failure: Option<String>,
}

impl HookAnswer {
    /// Reads the exit status, standard output and standard error of a hook that ran to its end.
    pub(super) fn read(
        agent: Agent,
        kind: EventKind,
        status: i32,
        (stdout, stderr): (&str, &str),
    ) -> Self {
        let said = stderr.trim();
        match status {
            0 if stdout.trim().is_empty() => Self {
                decision: None,
                reason: None,
                effect: HookEffect::LeftToAgent,
                failure: None,
            },
            0 => Self::parse(agent, kind, stdout),
            2 => Self {
                decision: Some(Decision::Deny),
                reason: Some(said.to_owned()).filter(|said| !said.is_empty()),
                // Claude Code and Qwen Code ignore it there, and ask.
                effect: match kind {
                    EventKind::Request if agent != Agent::Copilot => HookEffect::LeftToAgent,
                    _ => HookEffect::Denied,
                },
                failure: None,
            },
            _ => {
                let last = said.lines().last().unwrap_or_default();
                Self::failed(agent, format!("exit status {status}: {last}"))
            }
        }
    }

    /// Returns the answer of a hook that failed for this reason.
    pub(super) fn failed(agent: Agent, failure: String) -> Self {
        Self {
            decision: None,
            reason: None,
            effect: match agent {
                Agent::Copilot => HookEffect::Denied,
                _ => HookEffect::LeftToAgent,
            },
            failure: Some(failure),
        }
    }

    /// Returns the answer of a hook that reached its timeout. No agent waits longer, or denies the call.
    pub(super) fn late(seconds: f64) -> Self {
        Self {
            effect: HookEffect::LeftToAgent,
            ..Self::failed(Agent::Claude, format!("no answer within {seconds} s"))
        }
    }

    fn parse(agent: Agent, kind: EventKind, stdout: &str) -> Self {
        let unreadable = || Self::failed(agent, "unreadable answer".to_owned());
        let Ok(answer) = serde_json::from_str::<Value>(stdout) else {
            return unreadable();
        };
        let specific = &answer["hookSpecificOutput"];
        let [decision, reason] = match (agent, kind) {
            (Agent::Cursor, _) => [&answer["permission"], &answer["agent_message"]],
            (Agent::Gemini, _) => [&answer["decision"], &answer["reason"]],
            (_, EventKind::Request) => {
                let own = &specific["decision"];
                let place = if own.is_null() { &answer } else { own };
                [&place["behavior"], &place["message"]]
            }
            _ => {
                let place = if specific.is_null() {
                    &answer
                } else {
                    specific
                };
                [
                    &place["permissionDecision"],
                    &place["permissionDecisionReason"],
                ]
            }
        };
        let decision = match decision.as_str() {
            Some("allow") => Decision::Allow,
            Some("ask") => Decision::Ask,
            Some("deny") => Decision::Deny,
            _ => return unreadable(),
        };
        Self {
            decision: Some(decision),
            reason: reason.as_str().map(str::to_owned),
            effect: effect(agent, kind, decision),
            failure: None,
        }
    }
}

/// Returns what an agent does after this decision.
fn effect(agent: Agent, kind: EventKind, decision: Decision) -> HookEffect {
    match (decision, agent, kind) {
        (Decision::Deny, ..) => HookEffect::Denied,
        // Gemini CLI and Qwen Code ask their users first, Codex takes it for an error, and a plug-in of opencode or pi
        // can only prevent.
        (Decision::Allow, Agent::Gemini | Agent::Opencode | Agent::Pi, _)
        | (Decision::Allow, Agent::Qwen | Agent::Codex, EventKind::Call)
        | (Decision::Ask, Agent::Gemini | Agent::Codex | Agent::Qwen | Agent::Cursor, _)
        | (Decision::Ask, _, EventKind::Request) => HookEffect::LeftToAgent,
        (Decision::Allow, ..) => HookEffect::Runs,
        (Decision::Ask, Agent::Opencode, _) => HookEffect::Denied,
        (Decision::Ask, ..) => HookEffect::Asks,
    }
}
