//! What `run-tools` writes apart from results, and what `state clean` writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::constant::{ExecutorSubtype, HookStoppedSubtype, PlanSubtype, TurnEndSubtype, tagged};
use super::extension::{Lane, Outcome, Verdict, Version, VersionOnly};
use crate::message::{SessionId, ToolUseId};

/// Written before the first line that holds a call which will be run, so that a second executor
/// further down the pipeline runs nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct ExecutorRecord {
    subtype: ExecutorSubtype,
    /// What the executor says of itself.
    pub turnpipe: ExecutorExtension,
}

/// What an executor says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExecutorExtension {
    /// The version of the contract.
    pub v: Version,
    /// How the ids begin that calls without one get from here on; their number in the stream follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_ids: Option<String>,
}

impl ExecutorRecord {
    /// The record of an executor whose ids for calls without one begin like this.
    pub fn new(call_ids: String) -> Self {
        let mut record = Self::default();
        record.turnpipe.call_ids = Some(call_ids);
        record
    }
}

/// Tells that a call is running, and for how long.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "tool_progress")]
#[schemars(transform = tagged("tool_progress"))]
pub struct ToolProgressRecord {
    /// The call.
    pub tool_use_id: ToolUseId,
    /// The tool's name.
    pub tool_name: String,
    /// The call that started the subagent whose call this is; `null` in the main thread.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// How long it has been running, in seconds.
    pub elapsed_time_seconds: f64,
    /// `true` when the record only says that the call still runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<bool>,
    /// What the tool says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Names this record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

/// Written when the last result of a turn is out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct TurnEndRecord {
    pub(crate) subtype: TurnEndSubtype,
    /// The calls of the turn that got a result here, in call order.
    pub tool_use_ids: Vec<ToolUseId>,
    /// Names this record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

/// A hook wants the session to go on no further.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct HookStoppedRecord {
    pub(crate) subtype: HookStoppedSubtype,
    /// The call that the hook was about; absent after a reply without calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<ToolUseId>,
    /// Why.
    pub content: String,
    /// Names this record.
    pub uuid: String,
    /// The session.
    pub session_id: SessionId,
}

/// One batch of a plan; nothing has run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct PlanRecord {
    subtype: PlanSubtype,
    /// The batch, counted from 0.
    pub batch: u64,
    /// Where it would run.
    pub lane: Lane,
    /// The ids of its calls, in call order.
    pub tool_use_ids: Vec<ToolUseId>,
    /// Its calls, in call order.
    pub calls: Vec<PlannedCall>,
    /// The version of the contract.
    pub turnpipe: VersionOnly,
}

impl PlanRecord {
    /// A batch with these calls.
    pub fn new(batch: u64, lane: Lane, calls: Vec<PlannedCall>) -> Self {
        Self {
            subtype: PlanSubtype::Only,
            batch,
            lane,
            tool_use_ids: calls.iter().map(|call| call.tool_use_id.clone()).collect(),
            calls,
            turnpipe: VersionOnly::default(),
        }
    }
}

/// One call of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlannedCall {
    /// The call.
    pub tool_use_id: ToolUseId,
    /// The tool's name.
    pub tool_name: String,
    /// What the analysis says about it; absent if it could not be analysed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The outcome of its result if it would not run; absent if it would.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// Answers one control request.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "control_response")]
#[schemars(transform = tagged("control_response"))]
pub struct ControlResponseRecord {
    /// The answer.
    pub response: ControlResponse,
}

/// The answer to a control request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub enum ControlResponse {
    /// It was done.
    Success {
        /// The request.
        request_id: String,
        /// What the request asked for; absent if it asked for nothing.
        #[serde(skip_serializing_if = "Option::is_none")]
        response: Option<Value>,
    },
    /// It was not done.
    Error {
        /// The request.
        request_id: String,
        /// Why.
        error: String,
    },
}

/// Asks the program at the other end for something.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "control_request")]
#[schemars(transform = tagged("control_request"))]
pub struct ControlRequestRecord {
    /// The answer names it.
    pub request_id: String,
    /// What is asked.
    pub request: ControlRequest,
}

/// What is asked of the program at the other end.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub enum ControlRequest {
    /// Whether a call may run.
    CanUseTool {
        /// The tool.
        tool_name: String,
        /// Its arguments.
        input: Value,
        /// The call.
        tool_use_id: ToolUseId,
        /// Why it has to be asked.
        decision_reason: String,
    },
}

/// Takes a control request back.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "control_cancel_request")]
#[schemars(transform = tagged("control_cancel_request"))]
pub struct ControlCancelRecord {
    /// The request.
    pub request_id: String,
}

/// Remembers what stands in place of results, so that a later request repeats the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "content-replacement")]
#[schemars(transform = tagged("content-replacement"))]
pub struct ContentReplacementRecord {
    /// The session; the name is that of the transcript, in which the record is kept.
    #[serde(rename = "sessionId")]
    pub session_id: SessionId,
    /// What was replaced, in call order.
    pub replacements: Vec<Replacement>,
    /// Names this record.
    pub uuid: String,
    /// When it was decided, RFC 3339.
    pub timestamp: String,
}

/// One result whose content was replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Replacement {
    /// The call that the result answers.
    pub tool_use_id: ToolUseId,
    /// What stands in place of its content.
    pub replacement: String,
}

/// What a clean-up removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "state_cleaned")]
#[schemars(transform = tagged("state_cleaned"))]
pub struct StateCleanedRecord {
    /// Files removed.
    pub files: u64,
    /// Their sizes together, in bytes.
    pub bytes: u64,
    /// Sessions of which nothing is left.
    pub sessions: u64,
    /// The directory that was cleaned.
    pub path: String,
}
