//! What `session check` finds.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tagged::tagged;
use crate::wire::SessionId;

/// One thing that is wrong with a session file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "session_damage")]
#[schemars(transform = tagged("session_damage"))]
pub struct SessionDamageRecord {
    /// The file.
    pub path: String,
    /// What kind.
    pub kind: DamageKind,
    /// More about it.
    pub detail: String,
    /// The line, counted from 1, if it has a place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Where in the file, in bytes, if it has a place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}

/// A kind of damage.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum DamageKind {
    /// Text that is no record, or is lost: glued, torn, NUL bytes, invalid UTF-8, no JSON.
    Line,
    /// A last line without an end; a writer may be at work on it.
    Pending,
    /// A record of a kind that the format does not know. New versions write new ones.
    UnknownKind,
    /// Two records with one id.
    DuplicateId,
    /// A record whose parent is not in the file.
    MissingParent,
    /// Records that are each other's parents.
    Cycle,
    /// A result without a call.
    OrphanResult,
    /// A call without a result.
    UnansweredCall,
    /// A time before that of an earlier record.
    TimeOrder,
    /// Token counts that stand in the file more than once.
    RepeatedUsage,
}

/// The sum for one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "session_check")]
#[schemars(transform = tagged("session_check"))]
pub struct SessionCheckRecord {
    /// The file.
    pub path: String,
    /// Whose it is; absent if it is nobody's that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The session; absent if the file does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Whether nothing is lost or broken: no finding of the kinds `line`, `duplicate_id`, `cycle`.
    pub ok: bool,
    /// Lines that are not blank.
    pub lines: u64,
    /// Records, those recovered from damaged lines too.
    pub records: u64,
    /// How many records there are of each kind (`type` or `type/subtype`).
    pub kinds: BTreeMap<String, u64>,
    /// How many findings there are of each kind.
    pub findings: BTreeMap<DamageKind, u64>,
}
