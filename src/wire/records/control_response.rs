//! `control_response`: the answer to a control request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::tagged::tagged;

/// Answers one control request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "control_response")]
#[schemars(transform = tagged("control_response"))]
pub struct ControlResponseRecord {
    /// The answer.
    pub response: ControlResponse,
}

/// The answer to a control request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub enum ControlResponse {
    /// It was done.
    Success {
        /// The request.
        request_id: String,
        /// What the request asked for; absent if it asked for nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        response: Option<Value>,
    },
    /// It was not done.
    Error {
        /// The request.
        request_id: String,
        /// Why.
        error: String,
    },
}
