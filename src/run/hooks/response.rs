//! The response of a hook, from its exit status and its output.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::settings::HookEvent;

/// Maximum length of a hook's text that is passed on, in characters.
const MAX_TEXT: usize = 10_000;

/// The end of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HookEnd {
    /// It exited.
    Exited {
        /// Its exit status.
        code: i32,
        /// Its standard output.
        stdout: String,
        /// Its standard error.
        stderr: String,
    },
    /// It did not start, reached its timeout, or was ended by a signal.
    Failed(String),
    /// Unknown: the call was cancelled, or the hook runs in the background.
    Unknown,
}

/// The decision of a hook. The greatest of several decisions wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HookDecision {
    /// The call needs no approval.
    Allow,
    /// The user has to approve the call.
    Ask,
    /// The call is left to the program that drives the session.
    Defer,
    /// Before a call: it must not run. After a call: the model gets the reason.
    #[serde(rename = "deny")]
    Block,
}

/// The response of a hook.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct HookResponse {
    /// Its decision, with the reason.
    pub(super) decision: Option<(HookDecision, String)>,
    /// New arguments of the call.
    pub(super) updated_input: Option<Map<String, Value>>,
    /// A new output of the call.
    pub(super) updated_output: Option<Value>,
    /// A new output of the call, if its tool is one of an MCP server.
    pub(super) updated_mcp_output: Option<Value>,
    /// A text for the model.
    pub(super) additional_context: Option<String>,
    /// A message for the user.
    pub(super) system_message: Option<String>,
    /// The reason to stop the session.
    pub(super) stop: Option<String>,
    /// A failure of the hook itself.
    pub(super) error: Option<String>,
}

/// JSON output of a hook.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JsonOutput {
    r#continue: Option<bool>,
    stop_reason: Option<String>,
    system_message: Option<String>,
    decision: Option<OldDecision>,
    reason: Option<String>,
    #[serde(default)]
    r#async: bool,
    /// Qwen Code's name for `continue: false`.
    #[serde(default)]
    prevent_continuation: bool,
    #[serde(default)]
    hook_specific_output: SpecificOutput,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OldDecision {
    #[serde(alias = "allow")]
    Approve,
    #[serde(alias = "deny")]
    Block,
    Ask,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpecificOutput {
    permission_decision: Option<HookDecision>,
    permission_decision_reason: Option<String>,
    updated_input: Option<Map<String, Value>>,
    additional_context: Option<String>,
    updated_tool_output: Option<Value>,
    #[serde(rename = "updatedMCPToolOutput")]
    updated_mcp_tool_output: Option<Value>,
    decision: Option<RequestDecision>,
}

/// The decision of a `PermissionRequest` hook.
#[derive(Debug, Deserialize)]
#[serde(tag = "behavior", rename_all = "lowercase")]
enum RequestDecision {
    Allow {
        #[serde(rename = "updatedInput")]
        updated_input: Option<Map<String, Value>>,
    },
    Deny {
        message: Option<String>,
    },
}

/// Returns the response of a hook with this end. With `blocks_on_failure`, a hook that fails blocks.
pub(super) fn parse_response(
    event: HookEvent,
    end: &HookEnd,
    blocks_on_failure: bool,
) -> HookResponse {
    let to_failure = |problem: String| {
        if blocks_on_failure {
            return blocking_response(event, &problem);
        }
        HookResponse {
            error: Some(problem),
            ..HookResponse::default()
        }
    };
    let (code, stdout, stderr) = match end {
        HookEnd::Exited {
            code,
            stdout,
            stderr,
        } => (*code, stdout.trim(), stderr.trim()),
        HookEnd::Failed(problem) => return to_failure(problem.clone()),
        HookEnd::Unknown => return HookResponse::default(),
    };
    let output = stdout
        .starts_with('{')
        .then(|| serde_json::from_str::<JsonOutput>(stdout));
    match (code, output) {
        (2, Some(Ok(output))) if output.is_block(event) => output.into_response(event),
        (2, Some(Ok(output))) => HookResponse {
            decision: blocking_response(event, stderr).decision,
            ..output.into_response(event)
        },
        (2, _) => blocking_response(event, stderr),
        (_, Some(Ok(output))) => output.into_response(event),
        // A decision that is not known must not count as none.
        (_, Some(Err(error))) if serde_json::from_str::<IgnoredAny>(stdout).is_ok() => {
            let problem = format!("its response is invalid: {error}");
            HookResponse {
                decision: (event.can_deny()).then(|| (HookDecision::Block, truncate(&problem))),
                ..to_failure(problem)
            }
        }
        (0, Some(Err(error))) if blocks_on_failure => {
            to_failure(format!("its output is not a valid response: {error}"))
        }
        (0, _) => HookResponse::default(),
        (code, _) => {
            let first = stderr.lines().next().unwrap_or_default();
            to_failure(format!(
                "Failed with non-blocking status code {code}: {first}"
            ))
        }
    }
}

/// Returns the response of a hook that only blocks.
fn blocking_response(event: HookEvent, reason: &str) -> HookResponse {
    let decision = match event {
        // According to Claude Code's documentation, status 2 has no effect there.
        HookEvent::PermissionRequest => None,
        HookEvent::PreToolUse
        | HookEvent::PostToolUse
        | HookEvent::PostToolUseFailure
        | HookEvent::PostToolBatch
        | HookEvent::Stop => Some((HookDecision::Block, truncate(reason))),
    };
    HookResponse {
        decision,
        ..HookResponse::default()
    }
}

impl JsonOutput {
    fn is_block(&self, event: HookEvent) -> bool {
        let block = Some(HookDecision::Block);
        self.decision(event).map(|(decision, _)| decision) == block
    }

    /// Returns the decision and its reason.
    fn decision(&self, event: HookEvent) -> Option<(HookDecision, String)> {
        let specific = &self.hook_specific_output;
        let old_decision = self.decision.map(|decision| match decision {
            OldDecision::Approve => HookDecision::Allow,
            OldDecision::Block => HookDecision::Block,
            OldDecision::Ask => HookDecision::Ask,
        });
        let old = old_decision.map(|decision| (decision, self.reason.clone()));
        let decided = match event {
            HookEvent::PreToolUse => {
                let reason = &specific.permission_decision_reason;
                let reason = reason.clone().or_else(|| self.reason.clone());
                let decision = specific.permission_decision;
                decision.map(|decision| (decision, reason)).or(old)
            }
            HookEvent::PermissionRequest => match &specific.decision {
                Some(RequestDecision::Allow { .. }) => Some((HookDecision::Allow, None)),
                Some(RequestDecision::Deny { message }) => {
                    Some((HookDecision::Block, message.clone()))
                }
                None => None,
            },
            HookEvent::PostToolUse
            | HookEvent::PostToolUseFailure
            | HookEvent::PostToolBatch
            | HookEvent::Stop => old.filter(|(decision, _)| *decision == HookDecision::Block),
        };
        decided.map(|(decision, reason)| (decision, truncate(&reason.unwrap_or_default())))
    }

    fn into_response(self, event: HookEvent) -> HookResponse {
        if self.r#async {
            return HookResponse::default();
        }
        let decision = self.decision(event);
        let is_stop = self.r#continue == Some(false) || self.prevent_continuation;
        let specific = self.hook_specific_output;
        let requested = match specific.decision {
            Some(RequestDecision::Allow { updated_input }) => updated_input,
            Some(RequestDecision::Deny { .. }) | None => None,
        };
        let updated_input = match event {
            HookEvent::PreToolUse => specific.updated_input,
            HookEvent::PermissionRequest => requested,
            _ => None,
        };
        let if_after_call =
            |output: Option<Value>| output.filter(|_| event == HookEvent::PostToolUse);
        let text = |text: Option<String>| {
            text.filter(|text| !text.is_empty())
                .map(|text| truncate(&text))
        };
        HookResponse {
            decision,
            updated_input,
            updated_output: if_after_call(specific.updated_tool_output),
            updated_mcp_output: if_after_call(specific.updated_mcp_tool_output),
            additional_context: text(specific.additional_context),
            system_message: text(self.system_message),
            stop: is_stop.then(|| truncate(&self.stop_reason.or(self.reason).unwrap_or_default())),
            error: None,
        }
    }
}

/// Returns a text, truncated to [`MAX_TEXT`].
fn truncate(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}\n[the rest of the hook's text was cut]", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
#[path = "response_tests.rs"]
mod tests;
