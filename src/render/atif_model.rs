//! The objects of a trajectory, as they are written.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::message::{Call, Usage, serialize_rounded};

/// Facts for which the format has no member.
pub(crate) type Extra = BTreeMap<&'static str, Value>;

/// The members of a trajectory before its steps.
#[derive(Debug, Default, Serialize)]
pub struct TrajectoryHead {
    /// The version of the format; set when it is written.
    pub schema_version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The id of an embedded trajectory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trajectory_id: Option<String>,
    pub agent: TrajectoryAgent,
    /// Further facts.
    #[serde(skip_serializing_if = "Extra::is_empty")]
    pub extra: Extra,
}

#[derive(Debug, Default, Serialize)]
pub struct TrajectoryAgent {
    pub name: &'static str,
    /// The version, which not all agents record.
    pub version: &'static str,
    /// The last model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_name: Option<String>,
    /// Further facts.
    #[serde(skip_serializing_if = "Extra::is_empty")]
    pub extra: Extra,
}

#[derive(Default, Serialize)]
pub(super) struct Step {
    #[serde(rename = "step_id")]
    pub(super) number: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timestamp: Option<String>,
    pub(super) source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model_name: Option<String>,
    pub(super) message: Content,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_calls: Vec<ToolCall>,
    #[serde(skip_serializing_if = "Observation::is_empty")]
    pub(super) observation: Observation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metrics: Option<Metrics>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) is_copied_context: Option<bool>,
    #[serde(skip_serializing_if = "Extra::is_empty")]
    pub(super) extra: Extra,
    /// The number of calls without a result.
    #[serde(skip)]
    pub(super) waiting: usize,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum ContentPart {
    Text { text: String },
    Image { source: Source },
}

#[derive(Serialize)]
pub(super) struct Source {
    pub(super) media_type: String,
    pub(super) path: String,
}

#[derive(Serialize)]
pub(super) struct ToolCall {
    #[serde(rename = "tool_call_id")]
    pub(super) id: String,
    pub(super) function_name: String,
    pub(super) arguments: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) extra: Option<Value>,
}

#[derive(Default, Serialize)]
pub(super) struct Observation {
    pub(super) results: Vec<ObservationResult>,
}

impl Observation {
    pub(super) fn is_empty(&self) -> bool {
        self.results.is_empty()
    }
}

#[derive(Serialize)]
pub(super) struct ObservationResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source_call_id: Option<String>,
    pub(super) content: Content,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) subagent_trajectory_ref: Vec<Value>,
    #[serde(skip_serializing_if = "Extra::is_empty")]
    pub(super) extra: Extra,
}

#[derive(Serialize)]
pub(super) struct Metrics {
    pub(super) prompt_tokens: u64,
    pub(super) completion_tokens: u64,
    pub(super) cached_tokens: u64,
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "serialize_rounded"
    )]
    pub(super) cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Extra::is_empty")]
    pub(super) extra: Extra,
}

#[derive(Serialize)]
pub(super) struct FinalMetrics {
    pub(super) total_prompt_tokens: u64,
    pub(super) total_completion_tokens: u64,
    pub(super) total_cached_tokens: u64,
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "serialize_rounded"
    )]
    pub(super) total_cost_usd: Option<f64>,
    pub(super) total_steps: u64,
    #[serde(skip_serializing_if = "Extra::is_empty")]
    pub(super) extra: Extra,
}

impl Default for Content {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

/// Converts a call. Wraps arguments that are not an object, because the format requires one.
pub(super) fn tool_call(call: Call) -> ToolCall {
    let is_object = call.input.get().starts_with('{');
    let wrap = || to_raw_value(&BTreeMap::from([("input", &call.input)])).ok();
    let arguments = if is_object { None } else { wrap() };
    ToolCall {
        id: call.id,
        function_name: call.name,
        extra: (!is_object).then(|| json!({"raw_input": call.input})),
        arguments: arguments.unwrap_or(call.input),
    }
}

/// Returns a time in a form that every ISO 8601 parser accepts: unchanged if it already has that form.
pub(super) fn iso_time(text: &str) -> Option<String> {
    let time: Timestamp = text.parse().ok()?;
    let is_plain = |byte: u8| byte.is_ascii_digit() || b"-:.TZ+".contains(&byte);
    let formatted = match text.as_bytes().get(10) {
        Some(b'T') if text.bytes().all(is_plain) => text.to_owned(),
        _ => time.to_string(),
    };
    Some(formatted).filter(|time| time.starts_with(|first: char| first.is_ascii_digit()))
}

/// Returns the counts for which the format has no member.
pub(super) fn extra_tokens(cache_write: &'static str, usage: &Usage) -> Extra {
    let counts = [
        (cache_write, usage.cache_write),
        ("ephemeral_1h_input_tokens", usage.cache_write_1h),
        ("web_search_requests", usage.web_searches),
    ];
    let known = counts.into_iter().filter(|(_, count)| *count > 0);
    known.map(|(name, count)| (name, json!(count))).collect()
}
