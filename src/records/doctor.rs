//! What `doctor` finds out.

use schemars::JsonSchema;
use serde::Serialize;

use super::constant::tagged;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "doctor")]
#[schemars(transform = tagged("doctor"))]
pub struct DoctorRecord {
    /// What kind of thing it is.
    pub subject: Subject,
    /// Its name.
    pub name: String,
    /// Its value; for sessions, how many there are. Keys are never shown.
    pub value: String,
    /// What set the value, or whose it is.
    pub source: String,
    /// Whether it works.
    pub condition: Condition,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The kinds of things that are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// A value of the configuration.
    Setting,
    /// A file that configures something.
    File,
    /// A key for a provider of models.
    Key,
    /// What the kernel enforces on calls that only read.
    Enforcement,
    /// A folder where an agent keeps its sessions.
    Sessions,
    /// The script that completes command lines in a shell.
    Completions,
    /// A model, or a provider of models.
    Model,
}

/// Whether something works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// It works, as far as was looked.
    Ok,
    /// It is not there, and need not be.
    Absent,
    /// It is configured, and cannot work.
    Broken,
}
