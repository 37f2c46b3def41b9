//! `system/turn_end`: the last result of a turn is out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::constant::constant;
use super::tagged::tagged;
use crate::wire::{SessionId, ToolUseId};

constant! {
    /// `turn_end`.
    Subtype = "turn_end"
}

/// Written when the last result of a turn is out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct TurnEndRecord {
    subtype: Subtype,
    /// The calls of the turn that got a result here, in call order.
    pub tool_use_ids: Vec<ToolUseId>,
    /// Names this record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

impl TurnEndRecord {
    /// The end of a turn with these calls.
    pub fn new(tool_use_ids: Vec<ToolUseId>) -> Self {
        Self {
            subtype: Subtype::Only,
            tool_use_ids,
            uuid: None,
            session_id: None,
        }
    }
}
