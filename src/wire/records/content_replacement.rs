//! `content-replacement`: results whose content was replaced to stay within a budget.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tagged::tagged;

use crate::wire::{SessionId, ToolUseId};

/// Remembers what stands in place of results, so that a later request repeats the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
