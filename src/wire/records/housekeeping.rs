//! What commands say that change files and read none: `state clean`, `session rename`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tagged::tagged;
use crate::wire::SessionId;

/// What a clean-up removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "state_cleaned")]
#[schemars(transform = tagged("state_cleaned"))]
pub struct StateCleanedRecord {
    /// Files removed.
    pub files: u64,
    /// Their sizes together, in bytes.
    pub bytes: u64,
    /// Sessions of which nothing is left.
    pub sessions: u64,
    /// The directory that was cleaned.
    pub path: String,
}

/// A session has a new name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "session_renamed")]
#[schemars(transform = tagged("session_renamed"))]
pub struct SessionRenamedRecord {
    /// The session.
    pub session_id: SessionId,
    /// Its name, made safe for a terminal.
    pub title: String,
    /// The file that says so.
    pub path: String,
}
