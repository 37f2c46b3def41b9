//! What the services beside the conversation write: labels, titles, recaps, and what they cost.

use schemars::JsonSchema;
use serde::Serialize;

use super::constant::{AwaySummary, UsageSubtype, tagged};
use super::extension::Version;
use crate::message::{SessionId, ToolUseId, Usage};

/// Who made something, and at what cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct SideExtension {
    /// The version of the contract.
    pub v: Version,
    /// The model, e.g. `openai:gpt-5-mini`; `builtin` for the rules that need none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_used: Option<String>,
    /// Under which prompt the tokens count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// What the call cost; absent if there was no call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Of a title: it replaces one that a person gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes_manual: Option<bool>,
}

/// What a batch of tool calls did.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "tool_use_summary")]
#[schemars(transform = tagged("tool_use_summary"))]
pub struct ToolUseSummaryRecord {
    /// The label: one line.
    pub summary: String,
    /// The calls that it describes, in their order.
    pub preceding_tool_use_ids: Vec<ToolUseId>,
    /// Names this record.
    pub uuid: String,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Who made it.
    pub turnpipe: SideExtension,
}

/// The title of a session, or why there is none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "title")]
#[schemars(transform = tagged("title"))]
pub struct TitleRecord {
    /// Whether there is a title.
    pub ok: bool,
    /// The title: one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title_source: Option<String>,
    /// The model that made it; `builtin` for the rules that need none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_used: Option<String>,
    /// Why there is no title, e.g. `empty_history`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What went wrong, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether it was written to the file; absent if that was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<bool>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The session's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What it cost.
    pub turnpipe: SideExtension,
}

/// A recap of where a person left off.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct AwaySummaryRecord {
    pub(crate) subtype: AwaySummary,
    /// The recap: one line.
    pub content: String,
    /// Whether it was written to the file; absent if that was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<bool>,
    /// Names this record.
    pub uuid: String,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The session's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// When, RFC 3339.
    pub timestamp: String,
    /// Who made it.
    pub turnpipe: SideExtension,
}

/// Why there is no recap.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "recap")]
#[schemars(transform = tagged("recap"))]
pub struct RecapRecord {
    /// `false`.
    pub ok: bool,
    /// Why, e.g. `empty_history`.
    pub reason: String,
    /// What went wrong, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The session's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What it cost.
    pub turnpipe: SideExtension,
}

/// What a call cost that produced nothing.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct UsageRecord {
    subtype: UsageSubtype,
    /// Names this record.
    pub uuid: String,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The model, the prompt and the tokens.
    pub turnpipe: SideExtension,
}

impl UsageRecord {
    /// What a call cost.
    pub fn new(uuid: String, session_id: Option<SessionId>, turnpipe: SideExtension) -> Self {
        Self {
            subtype: UsageSubtype::Only,
            uuid,
            session_id,
            turnpipe,
        }
    }
}
