//! Records of labels, titles and recaps, and of their cost.

use schemars::JsonSchema;
use serde::Serialize;

use super::constant::UsageSubtype;
use super::session_report::ReportedSession;
use super::tool_result::Version;
use turnpipe_core::message::{SessionId, ToolUseId, Usage};

/// Model and cost of a label, title or recap.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct SideExtension {
    pub v: Version,
    /// Model, e.g. `openai:gpt-5-mini`; `builtin` for the rules that need no model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Prompt id under which the tokens are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// Token counts and cost of the request; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Recorded labels only: a digest of the calls, since servers reuse ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<String>,
    /// Titles only: whether it replaces a title set by the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes_manual: Option<bool>,
}

/// Label of a batch of tool calls.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "tool_use_summary")]
pub struct ToolUseSummaryRecord {
    /// The label: one line.
    pub summary: String,
    /// Ids of the labelled calls, in call order.
    pub preceding_tool_use_ids: Vec<ToolUseId>,
    /// Id of this record.
    pub uuid: String,
    /// Session id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Model and cost.
    pub turnpipe: SideExtension,
}

/// Title of a session, or the reason for having none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "title")]
pub struct TitleRecord {
    /// Whether there is a title.
    pub ok: bool,
    /// The title: one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title_source: Option<String>,
    /// Model, or `builtin` for the rules that need no model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Reason for having no title, e.g. `empty_history`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Error message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether the title was written to the file; absent if that was not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<bool>,
    /// Session id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Path of the session file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Model and cost.
    pub turnpipe: SideExtension,
}

/// Recap of a session for a user who returns to it, or of all sessions of a period, or the reason for having none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "recap")]
pub struct RecapRecord {
    /// Whether there is a recap.
    pub ok: bool,
    /// The recap: one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recap: Option<String>,
    /// Reason for having no recap, e.g. `empty_history`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Error message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether the recap was written to the file; absent if that was not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<bool>,
    /// Id of this record; absent if there is no recap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Session id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Path of the session file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Time of the recap, RFC 3339; absent if there is no recap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// The sessions of a period, by project and time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<ReportedSession>,
    /// Model and cost.
    pub turnpipe: SideExtension,
}

/// Usage of a request that produced no output.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
pub struct UsageRecord {
    subtype: UsageSubtype,
    /// Id of this record.
    pub uuid: String,
    /// Session id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Model, prompt id and usage.
    pub turnpipe: SideExtension,
}

impl UsageRecord {
    /// Returns the record for a request.
    pub fn new(uuid: String, session_id: Option<SessionId>, turnpipe: SideExtension) -> Self {
        Self {
            subtype: UsageSubtype::Only,
            uuid,
            session_id,
            turnpipe,
        }
    }
}
