//! `tool_progress`: a call is still running.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::always_true::True;
use super::tagged::tagged;

use crate::wire::{SessionId, ToolUseId};

/// Tells that a call is running, and for how long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// There is nothing to tell but that the call still runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<True>,
    /// What the tool says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Names this record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}
