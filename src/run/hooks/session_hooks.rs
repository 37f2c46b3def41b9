//! The hooks of a session: their selection by events, their input, and their merged response.

use std::fmt::Display;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::response::{HookDecision, HookResponse};
use super::runner::{HookRun, HookRunner};
use super::settings::{HookEvent, Hooks};
use crate::io::{CancelToken, to_millis};
use crate::message::Decision;
use crate::permission::{Mode, Request};
use crate::records::HookReport;

/// The hooks of a session, with their runner.
pub struct SessionHooks {
    /// The hooks.
    pub hooks: Hooks,
    /// Runs them.
    pub runner: HookRunner,
}

/// The context of a run of hooks.
#[derive(Clone, Copy)]
pub struct HookContext<'a> {
    /// The id of the session.
    pub session_id: &'a str,
    /// The working directory.
    pub directory: &'a Path,
    /// The permission mode.
    pub mode: Mode,
    /// Ends the hooks.
    pub cancel: &'a CancelToken,
}

impl SessionHooks {
    /// Runs the hooks that an event fires, and waits for them. `call` is the call of the event, if there is
    /// one: the names of its tool (its own, and as the model called it), and the call as rules see it.
    /// `members` are the members of the event in the input.
    pub fn run(
        &self,
        event: HookEvent,
        call: Option<(&[&str], &Request<'_>)>,
        members: Value,
        context: &HookContext<'_>,
    ) -> MergedResponse {
        let (names, request) = call.unzip();
        let handlers = self
            .hooks
            .hooks_of(event, names.unwrap_or_default(), request);
        if handlers.is_empty() {
            return MergedResponse::default();
        }
        let input = self.build_input(event, members, context);
        let runs = self
            .runner
            .run(&handlers, &input, context.directory, context.cancel);
        let reports = runs.iter().map(|run| hook_report(event, run)).collect();
        MergedResponse {
            reports,
            ..merge(runs.into_iter().map(|run| (run.name, run.response)))
        }
    }

    fn build_input(&self, event: HookEvent, members: Value, context: &HookContext<'_>) -> Value {
        let transcript = self.runner.transcript.as_deref();
        let common = json!({
            "session_id": context.session_id,
            "transcript_path": transcript.unwrap_or(Path::new("")),
            "cwd": context.directory,
            "permission_mode": context.mode.name(),
            "hook_event_name": event.name(),
        });
        let mut input = Map::new();
        for part in [common, members] {
            if let Value::Object(part) = part {
                input.extend(part);
            }
        }
        Value::Object(input)
    }
}

fn hook_report(event: HookEvent, run: &HookRun) -> HookReport {
    let decision = run.response.decision.as_ref();
    HookReport {
        event: event.name().to_owned(),
        name: run.name.clone(),
        duration_ms: to_millis(run.duration),
        exit_status: run.exit_code,
        decision: decision.map(|(decision, _)| match decision {
            HookDecision::Allow => Decision::Allow,
            HookDecision::Ask | HookDecision::Defer => Decision::Ask,
            HookDecision::Block => Decision::Deny,
        }),
    }
}

/// The merged responses of the hooks of an event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MergedResponse {
    /// The strictest decision, with the reasons of all hooks that made it.
    pub decision: Option<(HookDecision, String)>,
    /// The arguments of the last hook that changed them.
    pub updated_input: Option<Map<String, Value>>,
    /// The output of the last hook that changed it.
    pub updated_output: Option<Value>,
    /// The same for a tool of an MCP server.
    pub updated_mcp_output: Option<Value>,
    /// Texts for the model.
    pub additional_context: Vec<String>,
    /// Messages for the user: from hooks, or about failures and conflicts.
    pub messages: Vec<String>,
    /// The first reason to stop the session.
    pub stop: Option<String>,
    /// The hooks that ran, for records.
    pub reports: Vec<HookReport>,
}

/// Merges the responses of hooks, each with the name of its hook, in the order of the configuration.
pub(super) fn merge<Name: Display>(
    responses: impl IntoIterator<Item = (Name, HookResponse)>,
) -> MergedResponse {
    let mut merged = MergedResponse::default();
    let mut inputs = 0;
    for (name, response) in responses {
        if let Some((decision, reason)) = response.decision {
            merged.decision = Some(match merged.decision.take() {
                Some((strictest, reasons)) if strictest > decision => (strictest, reasons),
                Some((strictest, reasons)) if strictest == decision && !reasons.is_empty() => {
                    let separator = if reason.is_empty() { "" } else { "\n" };
                    (strictest, reasons + separator + &reason)
                }
                _ => (decision, reason),
            });
        }
        if response.updated_input.is_some() {
            inputs += 1;
            merged.updated_input = response.updated_input;
        }
        merged.updated_output = response.updated_output.or(merged.updated_output);
        merged.updated_mcp_output = response.updated_mcp_output.or(merged.updated_mcp_output);
        merged
            .additional_context
            .extend(response.additional_context);
        merged.messages.extend(response.system_message);
        let error = response.error.map(|error| format!("hook {name}: {error}"));
        merged.messages.extend(error);
        merged.stop = merged.stop.or(response.stop);
    }
    if inputs > 1 {
        merged.messages.push(format!(
            "{inputs} hooks changed the same call; the last one in the configuration wins"
        ));
    }
    merged
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decision_response(decision: HookDecision, reason: &str) -> HookResponse {
        HookResponse {
            decision: Some((decision, reason.to_owned())),
            ..HookResponse::default()
        }
    }

    fn rewrite_response(command: &str) -> HookResponse {
        let input = serde_json::json!({ "command": command });
        HookResponse {
            updated_input: input.as_object().cloned(),
            ..HookResponse::default()
        }
    }

    #[test]
    fn the_strictest_decision_and_the_last_change_win() {
        use HookDecision::{Allow, Ask, Block, Defer};
        let merged = merge([
            ("a", decision_response(Block, "one")),
            ("b", decision_response(Allow, "fine")),
            ("c", decision_response(Block, "two")),
            ("d", rewrite_response("first")),
            ("e", rewrite_response("last")),
            ("f", decision_response(Defer, "later")),
        ]);
        assert_eq!(merged.decision, Some((Block, "one\ntwo".to_owned())));
        assert_eq!(merged.updated_input.unwrap()["command"], "last");
        assert_eq!(merged.messages.len(), 1, "the conflict is reported");
        let asked = merge([
            ("a", decision_response(Allow, "fine")),
            ("b", decision_response(Ask, "?")),
        ]);
        assert_eq!(asked.decision, Some((Ask, "?".to_owned())));
    }

    proptest! {
        #[test]
        fn another_response_never_loosens_a_decision(picks in prop::collection::vec(0..5_usize, 0..8), more in 0..5_usize) {
            use HookDecision::{Allow, Ask, Block, Defer};
            let response = |pick: usize| match [Allow, Ask, Defer, Block].get(pick) {
                Some(decision) => decision_response(*decision, "r"),
                None => HookResponse::default(),
            };
            let decided = |picks: &[usize]| {
                let responses = picks.iter().map(|pick| ("h", response(*pick)));
                merge(responses).decision.map(|(decision, _)| decision)
            };
            let strictest = picks.iter().filter(|pick| **pick < 4).max();
            prop_assert_eq!(decided(&picks), strictest.map(|pick| [Allow, Ask, Defer, Block][*pick]));
            let longer = [&picks[..], &[more]].concat();
            prop_assert!(decided(&longer) >= decided(&picks));
        }
    }
}
