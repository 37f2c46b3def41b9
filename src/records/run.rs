//! Records written by `run-tools` apart from results, and by `state clean`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::constant::{ExecutorSubtype, HookStoppedSubtype, PlanSubtype, TurnEndSubtype, tagged};
use super::extension::{Lane, Outcome, VerdictReport, Version, VersionOnly};
use crate::message::{SessionId, ToolUseId};

/// Announces an executor, before the first line with a call that it will run. Executors further down
/// the pipeline then run nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct ExecutorRecord {
    subtype: ExecutorSubtype,
    pub turnpipe: ExecutorExtension,
}

/// The extension of an executor record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExecutorExtension {
    pub v: Version,
    /// Prefix of the ids assigned from here on to calls without one; a sequence number follows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_ids: Option<String>,
}

impl ExecutorRecord {
    /// Returns the record of an executor that assigns ids with this prefix.
    pub fn new(call_ids: String) -> Self {
        let mut record = Self::default();
        record.turnpipe.call_ids = Some(call_ids);
        record
    }
}

/// Reports that a call is running.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "tool_progress")]
#[schemars(transform = tagged("tool_progress"))]
pub struct ToolProgressRecord {
    /// Id of the call.
    pub tool_use_id: ToolUseId,
    /// Name of the tool.
    pub tool_name: String,
    /// Call that started the subagent which made this call; `null` in the main thread.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// Elapsed time, in seconds.
    pub elapsed_time_seconds: f64,
    /// `true` if the record only reports that the call is still running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<bool>,
    /// Progress message of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Id of this record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Session id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

/// Ends a turn: all of its results have been written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct TurnEndRecord {
    pub(crate) subtype: TurnEndSubtype,
    /// Calls of the turn that got a result here, in call order.
    pub tool_use_ids: Vec<ToolUseId>,
    /// Id of this record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Session id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

/// Reports that a hook stopped the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct HookStoppedRecord {
    pub(crate) subtype: HookStoppedSubtype,
    /// The call that triggered the hook; absent if the hook ran after a reply without calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<ToolUseId>,
    /// Reason given by the hook.
    pub content: String,
    /// Id of this record.
    pub uuid: String,
    /// Session id.
    pub session_id: SessionId,
}

/// One batch of a plan (`--plan`); nothing is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct PlanRecord {
    subtype: PlanSubtype,
    /// Index of the batch, starting at 0.
    pub batch: u64,
    /// Lane it would run in.
    pub lane: Lane,
    /// Ids of its calls, in call order.
    pub tool_use_ids: Vec<ToolUseId>,
    /// Its calls, in call order.
    pub calls: Vec<PlannedCall>,
    pub turnpipe: VersionOnly,
}

impl PlanRecord {
    /// Returns a batch of these calls.
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlannedCall {
    /// Id of the call.
    pub tool_use_id: ToolUseId,
    /// Name of the tool.
    pub tool_name: String,
    /// Verdict of the analysis; absent if the call could not be analysed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictReport>,
    /// Outcome of a call that would not run; absent if it would run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// Response to a control request.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "control_response")]
#[schemars(transform = tagged("control_response"))]
pub struct ControlResponseRecord {
    pub response: ControlResponse,
}

/// Outcome of a control request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub enum ControlResponse {
    /// The request succeeded.
    Success {
        /// Id of the request.
        request_id: String,
        /// The requested data, if any.
        #[serde(skip_serializing_if = "Option::is_none")]
        response: Option<Value>,
    },
    /// The request failed.
    Error {
        /// Id of the request.
        request_id: String,
        /// Error message.
        error: String,
    },
}

/// Request to the controlling program.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "control_request")]
#[schemars(transform = tagged("control_request"))]
pub struct ControlRequestRecord {
    /// Id of the request, repeated in the response.
    pub request_id: String,
    pub request: ControlRequest,
}

/// Body of a control request.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub enum ControlRequest {
    /// Asks for permission to run a call.
    CanUseTool {
        /// Name of the tool.
        tool_name: String,
        /// Arguments of the call.
        input: Value,
        /// Id of the call.
        tool_use_id: ToolUseId,
        /// Reason why permission is needed.
        decision_reason: String,
    },
}

/// Cancels a control request.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "control_cancel_request")]
#[schemars(transform = tagged("control_cancel_request"))]
pub struct ControlCancelRecord {
    /// Id of the request.
    pub request_id: String,
}

/// Stores replaced result contents, so that later requests repeat the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "content_replacement")]
#[schemars(transform = tagged("content_replacement"))]
pub struct ContentReplacementRecord {
    /// Session id, equal to the name of the transcript.
    pub session_id: SessionId,
    /// Replaced results, in call order.
    pub replacements: Vec<Replacement>,
    /// Id of this record.
    pub uuid: String,
    /// Time of the replacement, RFC 3339.
    pub timestamp: String,
}

/// A result whose content was replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Replacement {
    /// Id of the call.
    pub tool_use_id: ToolUseId,
    /// The text that replaces the content.
    pub replacement: String,
}

/// Result of `state clean`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "state_cleaned")]
#[schemars(transform = tagged("state_cleaned"))]
pub struct StateCleanedRecord {
    /// Number of files removed.
    pub files: u64,
    /// Their total size, in bytes.
    pub bytes: u64,
    /// Number of sessions removed entirely.
    pub sessions: u64,
    /// The directory that was cleaned.
    pub path: String,
}
