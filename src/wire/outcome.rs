//! Words of result records.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Outcome {
    Ok,
    Error,
    InvalidInput,
    UnknownTool,
    Denied,
    HookBlocked,
    CancelledSibling,
    Interrupted,
    Timeout,
    NotRun,
}

/// Where a call ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Lane {
    Parallel,
    Serial,
}
