//! What `turn` writes apart from messages.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::constant::{InitSubtype, RetrySubtype, tagged};
use super::extension::{Version, VersionOnly};
use crate::message::to_the_millionth;
use crate::message::{SessionId, ToolUseId, Usage};

/// Opens the stream of a reply. Its calls are there to be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct TurnInitRecord {
    pub(crate) subtype: InitSubtype,
    /// The working directory.
    pub cwd: String,
    /// The session.
    pub session_id: SessionId,
    /// The tools that the model is offered.
    pub tools: Vec<String>,
    /// The model.
    pub model: String,
    /// Names this record.
    pub uuid: String,
    /// What turnpipe adds.
    pub turnpipe: TurnInitExtension,
}

/// The extension of the record that opens the stream of a reply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TurnInitExtension {
    /// The version of the contract.
    pub v: Version,
    /// SHA-256 of the canonical path of the session file; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_file: Option<String>,
}

/// A part of a reply that is still arriving.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "stream_event")]
#[schemars(transform = tagged("stream_event"))]
pub struct StreamEventRecord {
    /// An event in the form of Anthropic's streaming API, whatever the API is.
    pub event: Value,
    /// Always `null`: the main model speaks.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// Names this record.
    pub uuid: String,
    /// The session.
    pub session_id: SessionId,
}

/// A request failed, and is tried again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct ApiRetryRecord {
    pub(crate) subtype: RetrySubtype,
    /// How often it failed, from 1.
    pub attempt: u32,
    /// The wait, in milliseconds.
    pub retry_delay_ms: u64,
    /// The HTTP status; `null` if there was none.
    pub error_status: Option<u16>,
    /// Why it failed.
    pub error: String,
    /// Names this record.
    pub uuid: String,
    /// The session.
    pub session_id: SessionId,
}

/// How a reply ended.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "result")]
#[schemars(transform = tagged("result"))]
pub struct TurnResultRecord {
    /// The kind of ending.
    pub subtype: TurnResult,
    /// Whether there is no whole reply.
    pub is_error: bool,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// Always 1: one request is one turn.
    pub num_turns: u64,
    /// The text of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Why the model stopped: `end_turn`, `tool_use`, `max_tokens` or `refusal`; `null` if it did not
    /// say.
    pub stop_reason: Option<&'static str>,
    /// Why this is the end, in Claude Code's words: `completed`, `prompt_too_long`, `api_error`,
    /// `model_error`, `aborted_streaming`, `max_turns` or `budget_exhausted`.
    pub terminal_reason: &'static str,
    /// What it cost in US dollars; absent if the model has no price.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "to_the_millionth"
    )]
    pub total_cost_usd: Option<f64>,
    /// The tokens.
    pub usage: Usage,
    /// What went wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// Names this record.
    pub uuid: String,
    /// The session.
    pub session_id: SessionId,
    /// The version of the contract.
    pub turnpipe: VersionOnly,
}

/// The kind of an ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnResult {
    /// There is a whole reply.
    Success,
    /// There is none.
    ErrorDuringExecution,
    /// The limit of turns was reached; the model was not asked.
    ErrorMaxTurns,
    /// A budget was reached; the model was not asked.
    ErrorMaxBudgetUsd,
}
