//! What `session tail` says about the file it follows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::constant::constant;
use super::extension::VersionOnly;
use super::tagged::tagged;

constant! {
    /// `session_cursor`.
    CursorSubtype = "session_cursor"
}

/// Where reading can go on: behind the last record that was handed out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct SessionCursorRecord {
    subtype: CursorSubtype,
    /// The file.
    pub path: String,
    /// In bytes, for `--from`.
    pub offset: u64,
    /// Bytes behind it that are no whole line yet.
    pub pending: u64,
    /// What turnpipe adds.
    pub turnpipe: VersionOnly,
}

impl SessionCursorRecord {
    /// The cursor of this file.
    pub fn new(path: String, offset: u64, pending: u64) -> Self {
        Self {
            subtype: CursorSubtype::Only,
            path,
            offset,
            pending,
            turnpipe: VersionOnly::default(),
        }
    }
}

constant! {
    /// `session_switch`.
    SwitchSubtype = "session_switch"
}

/// The records that follow come from another file, or from its start again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct SessionSwitchRecord {
    subtype: SwitchSubtype,
    /// Why.
    pub reason: SwitchReason,
    /// The file.
    pub path: String,
    /// What turnpipe adds.
    pub turnpipe: VersionOnly,
}

/// Why reading starts anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SwitchReason {
    /// The file became shorter than what was read of it.
    Truncated,
    /// Another file stands in its place.
    Replaced,
    /// It is gone; nothing follows until there is one again.
    Deleted,
    /// A newer session began.
    Newer,
}

impl SessionSwitchRecord {
    /// Reading starts anew with this file.
    pub fn new(reason: SwitchReason, path: String) -> Self {
        Self {
            subtype: SwitchSubtype::Only,
            reason,
            path,
            turnpipe: VersionOnly::default(),
        }
    }
}
