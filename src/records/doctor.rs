//! Records of `doctor`.

use schemars::JsonSchema;
use serde::Serialize;

use super::constant::tagged;

/// Result of one check of the installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "doctor")]
#[schemars(transform = tagged("doctor"))]
pub struct DoctorRecord {
    pub subject: Subject,
    /// Name of the checked item.
    pub name: String,
    /// Its value; for sessions, their number. Keys are never shown.
    pub value: String,
    /// Origin of the value: a variable, a file, an option or the default.
    pub source: String,
    pub condition: Condition,
    /// Description of the problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Kind of item checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// A setting.
    Setting,
    /// A configuration file.
    File,
    /// An API key of a model provider.
    Key,
    /// Kernel enforcement of read-only calls.
    Enforcement,
    /// A session directory of an agent.
    Sessions,
    /// The completion script of a shell.
    Completions,
    /// A model or model provider.
    Model,
}

/// Result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// No problem found.
    Ok,
    /// Missing, but optional.
    Absent,
    /// Configured, but not usable.
    Broken,
}
