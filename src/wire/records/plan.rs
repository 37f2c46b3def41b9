//! `system/plan`: a batch as it would run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::constant::constant;
use super::extension::{Lane, Verdict, VersionOnly};
use super::tagged::tagged;
use crate::wire::ToolUseId;

constant! {
    /// `plan`.
    Subtype = "plan"
}

/// One batch of a plan; nothing has run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct PlanRecord {
    subtype: Subtype,
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
            subtype: Subtype::Only,
            batch,
            lane,
            tool_use_ids: calls.iter().map(|call| call.tool_use_id.clone()).collect(),
            calls,
            turnpipe: VersionOnly::default(),
        }
    }
}

/// One call of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedCall {
    /// The call.
    pub tool_use_id: ToolUseId,
    /// The tool's name.
    pub tool_name: String,
    /// What the analysis says about it; absent if it could not be analysed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}
