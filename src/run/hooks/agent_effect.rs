//! What an agent does with a call after the end of its hook. See `docs/permissions.md`, The hook for other agents.

use serde_json::Value;

use super::agent_protocol::EventKind;
use crate::agent::Agent;
use crate::message::Decision;
use crate::records::{HookEffect, serialize_name};

/// The end of a hook, as its agent reads it.
#[derive(Debug, Default, PartialEq, Eq)]
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
    pub(super) fn from_output(
        agent: Agent,
        kind: EventKind,
        status: i32,
        (stdout, stderr): (&str, &str),
    ) -> Self {
        match status {
            0 if stdout.trim().is_empty() => Self::default(),
            0 => Self::parse(agent, kind, stdout)
                .unwrap_or_else(|| Self::failed(agent, "unreadable answer".to_owned())),
            2 => Self {
                decision: Some(Decision::Deny),
                reason: Some(stderr.trim().to_owned()).filter(|text| !text.is_empty()),
                effect: match kind {
                    // Claude Code and Qwen Code ignore the denial, and ask.
                    EventKind::Request => HookEffect::LeftToAgent,
                    EventKind::Call | EventKind::Access => HookEffect::Denied,
                },
                failure: None,
            },
            _ => {
                let last = stderr.trim().lines().last().unwrap_or_default();
                Self::failed(agent, format!("exit status {status}: {last}"))
            }
        }
    }

    /// Returns the answer of a hook that failed for this reason.
    pub(super) fn failed(agent: Agent, failure: String) -> Self {
        let is_denied = agent == Agent::Copilot;
        let effect = is_denied.then_some(HookEffect::Denied);
        Self {
            effect: effect.unwrap_or_default(),
            failure: Some(failure),
            ..Self::default()
        }
    }

    /// Returns the answer of a hook that reached its timeout. Agents then neither wait longer nor deny the call.
    pub(super) fn timeout(seconds: f64) -> Self {
        Self {
            failure: Some(format!("no answer within {seconds} s")),
            ..Self::default()
        }
    }

    fn parse(agent: Agent, kind: EventKind, stdout: &str) -> Option<Self> {
        let answer: Value = serde_json::from_str(stdout).ok()?;
        let specific = &answer["hookSpecificOutput"];
        let (object, decision, reason) = match (agent, kind) {
            (Agent::Cursor, _) => (&answer, "permission", "agent_message"),
            (Agent::Gemini, _) => (&answer, "decision", "reason"),
            (_, EventKind::Request) => (&specific["decision"], "behavior", "message"),
            _ => (specific, "permissionDecision", "permissionDecisionReason"),
        };
        let name = object[decision].as_str()?;
        let mut decisions = [Decision::Allow, Decision::Ask, Decision::Deny].into_iter();
        let decision = decisions.find(|known| serialize_name(*known) == name)?;
        Some(Self {
            decision: Some(decision),
            reason: object[reason].as_str().map(str::to_owned),
            effect: effect_of(agent, kind, decision),
            failure: None,
        })
    }
}

/// Returns what an agent does after this decision.
fn effect_of(agent: Agent, kind: EventKind, decision: Decision) -> HookEffect {
    match (decision, agent, kind) {
        (Decision::Deny, ..) | (Decision::Ask, Agent::Opencode, _) => HookEffect::Denied,
        // Gemini CLI and Qwen Code ask their users first, Codex takes it for an error, and a plug-in of opencode or pi
        // can only prevent.
        (Decision::Allow, Agent::Gemini | Agent::Opencode | Agent::Pi, _)
        | (Decision::Allow, Agent::Qwen | Agent::Codex, EventKind::Call)
        | (Decision::Ask, Agent::Gemini | Agent::Codex | Agent::Qwen | Agent::Cursor, _)
        | (Decision::Ask, _, EventKind::Request) => HookEffect::LeftToAgent,
        (Decision::Allow, ..) => HookEffect::Runs,
        (Decision::Ask, ..) => HookEffect::Asks,
    }
}
