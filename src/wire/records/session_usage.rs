//! Token counts in records about sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tokens. The names are those of the Anthropic API; what an agent does not tell is 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TokenUsage {
    /// Read by the model, without what came from a cache.
    pub input_tokens: u64,
    /// Written by the model, thinking included.
    pub output_tokens: u64,
    /// Read from a cache.
    pub cache_read_input_tokens: u64,
    /// Written to a cache.
    pub cache_creation_input_tokens: u64,
    /// In US dollars, where the agent tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}
