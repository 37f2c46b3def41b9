//! What stands in one session file: hits of a search, damage, and where reading goes on.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::constant::{CursorSubtype, SwitchSubtype, tagged};
use super::extension::VersionOnly;
use crate::message::{Origin, Role, SessionId};

/// A part of a message in which a pattern matches.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_hit")]
#[schemars(transform = tagged("session_hit"))]
pub struct SessionHitRecord {
    /// The session; absent if the file does not name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Whose file it is.
    pub agent: String,
    /// The file.
    pub path: String,
    /// The title of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The shell command that resumes the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// The line, counted from 1; absent in files that are one document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Names the record in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Who speaks.
    pub role: Role,
    /// What the message is there for.
    pub origin: Origin,
    /// Whether a subagent's conversation is meant.
    pub subagent: bool,
    /// The timestamp, as stored in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// The part of the message.
    #[serde(rename = "in")]
    pub place: HitPlace,
    /// The tool, where it is a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The first match in its context.
    pub snippet: String,
    /// The matched text, at most 400 bytes.
    #[serde(rename = "match")]
    pub matched: String,
    /// How many matches there are in the part.
    pub matches: u64,
}

/// The part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HitPlace {
    /// What was said.
    Text,
    /// What the model thought.
    Thinking,
    /// The input of a call.
    Call,
    /// The result of a call.
    Result,
}

/// One thing that is wrong with a session file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Where in the file, in bytes, if it has a place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}

/// A kind of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DamageKind {
    /// Text that is not a record, or is lost: glued, torn, NUL bytes, invalid UTF-8, not JSON.
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_check")]
#[schemars(transform = tagged("session_check"))]
pub struct SessionCheckRecord {
    /// The file.
    pub path: String,
    /// The agent that wrote it; absent if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The session; absent if the file does not name it.
    #[serde(skip_serializing_if = "Option::is_none")]
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

/// Where reading can go on: behind the last record that was handed out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct SessionCursorRecord {
    pub(crate) subtype: CursorSubtype,
    /// The file.
    pub path: String,
    /// In bytes, for `--from`.
    pub offset: u64,
    /// Bytes behind it that are no whole line yet.
    pub pending: u64,
    /// What turnpipe adds.
    pub turnpipe: VersionOnly,
}

/// The records that follow come from another file, or from its start again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct SessionSwitchRecord {
    pub(crate) subtype: SwitchSubtype,
    /// Why.
    pub reason: SwitchReason,
    /// The file.
    pub path: String,
    /// What turnpipe adds.
    pub turnpipe: VersionOnly,
}

/// Why reading starts anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SwitchReason {
    /// The file became shorter than what was read of it.
    Truncated,
    /// Another file stands in its place.
    Replaced,
    /// What was read of it is not in it any more.
    Rewritten,
    /// It is gone; nothing follows until there is one again.
    Deleted,
    /// A newer session began, or another one went on.
    Newer,
}
