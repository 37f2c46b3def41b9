//! Records written by `turn` apart from messages.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::constant::{InitSubtype, RetrySubtype, tagged};
use super::extension::{Version, VersionOnly};
use crate::message::rounded_dollars;
use crate::message::{SessionId, ToolUseId, Usage};

/// Starts the stream of a reply. Calls in it are to be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct TurnInitRecord {
    pub(crate) subtype: InitSubtype,
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
#[schemars(transform = tagged("stream_event"))]
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
#[schemars(transform = tagged("system"))]
pub struct ApiRetryRecord {
    pub(crate) subtype: RetrySubtype,
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
#[schemars(transform = tagged("result"))]
pub struct TurnResultRecord {
    /// Kind of ending.
    pub subtype: TurnResult,
    /// Whether the reply is incomplete or missing.
    pub is_error: bool,
    /// Elapsed time, in milliseconds.
    pub duration_ms: u64,
    /// Always 1: one request is one turn.
    pub num_turns: u64,
    /// Text of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Stop reason of the model: `end_turn`, `tool_use`, `max_tokens` or `refusal`; `null` if unknown.
    pub stop_reason: Option<&'static str>,
    /// Terminal reason in Claude Code's terms: `completed`, `prompt_too_long`, `api_error`,
    /// `model_error`, `aborted_streaming`, `max_turns` or `budget_exhausted`.
    pub terminal_reason: &'static str,
    /// Cost in US dollars; absent if the model has no known price.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "rounded_dollars"
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
}
