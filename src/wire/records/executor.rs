//! `system/executor`: somebody runs the calls of this stream.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::constant::constant;
use super::extension::VersionOnly;
use super::tagged::tagged;

constant! {
    /// `executor`.
    Subtype = "executor"
}

/// Written before the first line that holds a call which will be run, so that a second executor
/// further down the pipeline runs nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct ExecutorRecord {
    subtype: Subtype,
    /// The version of the contract.
    pub turnpipe: VersionOnly,
}
