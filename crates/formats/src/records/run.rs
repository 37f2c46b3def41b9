//! Records written by `run-tools` and `turn`, apart from messages and results, and by `state clean`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::constant::{
    ExecutorSubtype, HookStoppedSubtype, InitSubtype, PlanSubtype, RetrySubtype, TurnEndSubtype,
};
use super::tool_result::{Lane, Outcome, VerdictReport, Version, VersionOnly};
use turnpipe_core::message::{SessionId, ToolUseId, Usage, serialize_rounded};

/// Announces an executor, before the first line with a call that it will run. Executors later in
/// the pipeline then run nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
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
pub struct TurnEndRecord {
    pub subtype: TurnEndSubtype,
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
pub struct HookStoppedRecord {
    pub subtype: HookStoppedSubtype,
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

/// A call in a plan.
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
pub struct ControlCancelRecord {
    /// Id of the request.
    pub request_id: String,
}

/// Stores replaced result contents, so that later requests repeat the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "content_replacement")]
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

/// Starts the stream of a reply. Calls in it are to be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
pub struct TurnInitRecord {
    pub subtype: InitSubtype,
    /// The working directory.
    pub cwd: String,
    /// Session id.
    pub session_id: SessionId,
    /// Names of the tools offered to the model.
    pub tools: Vec<String>,
    /// Name of the model.
    pub model: String,
    /// Id of this record.
    pub uuid: String,
    /// The turnpipe extension.
    pub turnpipe: TurnInitExtension,
}

/// The extension of the record that starts the stream of a reply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TurnInitExtension {
    pub v: Version,
    /// SHA-256 of the canonical path of the session file; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_file: Option<String>,
}

/// A fragment of a reply that is being streamed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "stream_event")]
pub struct StreamEventRecord {
    /// Event in the form of Anthropic's streaming API, for every provider.
    pub event: Value,
    /// Always `null`: the reply belongs to the main thread.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// Id of this record.
    pub uuid: String,
    /// Session id.
    pub session_id: SessionId,
}

/// A request failed and will be retried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
pub struct ApiRetryRecord {
    pub subtype: RetrySubtype,
    /// Number of failed attempts so far.
    pub attempt: u32,
    /// Delay before the retry, in milliseconds.
    pub retry_delay_ms: u64,
    /// HTTP status; `null` if there was no response.
    pub error_status: Option<u16>,
    /// Error message.
    pub error: String,
    /// Id of this record.
    pub uuid: String,
    /// Session id.
    pub session_id: SessionId,
}

/// End of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "result")]
pub struct TurnResultRecord {
    /// Kind of ending.
    pub subtype: TurnResult,
    /// Whether the reply is incomplete or missing.
    pub is_error: bool,
    /// Elapsed time, in milliseconds.
    pub duration_ms: u64,
    /// Number of replies: 1, and one for each correction with `--output-schema`.
    pub num_turns: u64,
    /// Text of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// JSON of the last reply, which fits the schema; only with `--output-schema`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_output: Option<Value>,
    /// Stop reason of the model: `end_turn`, `tool_use`, `max_tokens` or `refusal`; `null` if unknown.
    pub stop_reason: Option<&'static str>,
    /// Terminal reason in Claude Code's terms: `completed`, `prompt_too_long`, `api_error`,
    /// `model_error`, `aborted_streaming`, `max_turns`, `budget_exhausted` or
    /// `structured_output_retry_exhausted`.
    pub terminal_reason: &'static str,
    /// Cost in US dollars; absent if the model has no known price.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "serialize_rounded"
    )]
    pub total_cost_usd: Option<f64>,
    /// Token counts.
    pub usage: Usage,
    /// Error messages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// Id of this record.
    pub uuid: String,
    /// Session id.
    pub session_id: SessionId,
    /// Contract version.
    pub turnpipe: VersionOnly,
}

/// Kind of ending of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnResult {
    /// The reply is complete.
    Success,
    /// The request failed.
    ErrorDuringExecution,
    /// The turn limit was reached; no request was sent.
    ErrorMaxTurns,
    /// A budget was reached; no request was sent.
    ErrorMaxBudgetUsd,
    /// The last reply does not fit the schema.
    ErrorMaxStructuredOutputRetries,
}
