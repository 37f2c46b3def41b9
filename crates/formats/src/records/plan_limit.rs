//! The use of a plan.

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::SessionCostRecord;

/// Use of a window of a plan, as its agent last recorded it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "plan_limit")]
pub struct PlanLimitRecord {
    /// Name of the agent.
    pub agent: &'static str,
    /// Name of the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// Length of the window; absent if the agent records none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_minutes: Option<i64>,
    /// The agent's name of a window without a length, or of a limit for some models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Used part of the window in percent.
    pub used_percent: f64,
    /// End of the window.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "serialize_as_text"
    )]
    #[schemars(with = "Option<String>")]
    pub resets_at: Option<Timestamp>,
    /// Time of the recording.
    #[serde(serialize_with = "serialize_as_text")]
    #[schemars(with = "String")]
    pub read_at: Timestamp,
    /// Whether the window has ended since.
    pub expired: bool,
    /// What the sessions on this machine used in the window, by model and directory, the largest cost first.
    pub used_by: Vec<SessionCostRecord>,
}

impl PlanLimitRecord {
    /// Returns the start of a window that has not ended.
    pub fn start(&self) -> Option<Timestamp> {
        let length = SignedDuration::from_mins(self.window_minutes?);
        let end = self.resets_at.filter(|_| !self.expired)?;
        end.checked_sub(length).ok()
    }
}

fn serialize_as_text<Output: Serializer>(
    time: &(impl Copy + Into<Option<Timestamp>>),
    output: Output,
) -> Result<Output::Ok, Output::Error> {
    let time: Option<Timestamp> = (*time).into();
    time.map(|time| time.to_string()).serialize(output)
}
