//! `session_stats`: tokens and calls by model, tool, day and prompt id.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::session_usage::TokenUsage;
use super::tagged::tagged;

/// What sessions cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "session_stats")]
#[schemars(transform = tagged("session_stats"))]
pub struct SessionStatsRecord {
    /// How many sessions were counted.
    pub sessions: u64,
    /// Prompts.
    pub prompts: u64,
    /// Replies.
    pub replies: u64,
    /// Tokens of all.
    pub usage: TokenUsage,
    /// By the model that spoke.
    pub by_model: Vec<UsageShare>,
    /// By the day (UTC), where records tell the time.
    pub by_day: Vec<UsageShare>,
    /// By what asked the model: `main`, or the id of a service such as `session_title`.
    pub by_prompt_id: Vec<UsageShare>,
    /// By the tool that was called.
    pub by_tool: Vec<ToolShare>,
}

/// The share of one model, day or prompt id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageShare {
    /// Which.
    pub name: String,
    /// Replies.
    pub replies: u64,
    /// Tokens.
    pub usage: TokenUsage,
}

/// The share of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolShare {
    /// The tool.
    pub name: String,
    /// Calls.
    pub calls: u64,
    /// Results that tell of a failure.
    pub failed: u64,
}
