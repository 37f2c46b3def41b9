//! Records about session files, and about the calls in them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::constant::{CursorSubtype, SwitchSubtype};
use super::session::SessionDescription;
use super::tool_result::VersionOnly;
use turnpipe_core::message::{CallOutcome, Origin, Role, SessionId};

/// A message block that matches a search pattern.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_hit")]
pub struct SessionHitRecord {
    /// Session id; absent if the file does not contain one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Agent that wrote the file.
    pub agent: String,
    /// Path of the file.
    pub path: String,
    /// Title of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Directory in which the session started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Shell command that resumes the session, or for a subagent its parent, to be run in its directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// Session that started this subagent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<SessionId>,
    /// Title of that session, or else its first prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_title: Option<String>,
    /// Line number, starting at 1; absent if the file is one JSON document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Id of the record in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Role of the message.
    pub role: Role,
    /// Origin of the message.
    pub origin: Origin,
    /// Whether the message belongs to a subagent.
    pub subagent: bool,
    /// Time, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// Kind of block.
    pub block: HitBlock,
    /// Name of the tool, if the block is a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The first match with context.
    pub snippet: String,
    /// The matched text, at most 400 bytes.
    #[serde(rename = "match")]
    pub matched: String,
    /// Number of matches in the block.
    pub matches: u64,
}

/// A session that fits the words of a ranked search, best first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_ranked")]
pub struct SessionRankedRecord {
    /// Rank, starting at 1.
    pub rank: u64,
    /// Score; only comparable within one search.
    pub score: f64,
    /// Words of the query that the session contains.
    pub words: Vec<String>,
    #[serde(flatten)]
    pub about: SessionDescription,
    /// Latest time in its records, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_activity: Option<String>,
    /// Line number of the message part with the most words, starting at 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Role of that message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Kind of that part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<HitBlock>,
    /// The first word in that part, with context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
}

/// Kind of message block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HitBlock {
    /// Text of the message.
    Text,
    /// Thinking of the model.
    Thinking,
    /// Input of a call.
    Call,
    /// Result of a call.
    Result,
    /// Title of the session.
    Title,
}

/// A problem in a session file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_damage")]
pub struct SessionDamageRecord {
    /// Path of the file.
    pub path: String,
    /// Kind of problem.
    pub kind: DamageKind,
    /// Description of the problem.
    #[serde(rename = "reason")]
    pub detail: String,
    /// Line number, starting at 1, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Byte offset in the file, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}

/// Kind of problem in a session file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DamageKind {
    /// Text that is not a record, or is lost: joined or torn lines, NUL bytes, invalid UTF-8 or JSON.
    Line,
    /// A last line without a line end; it may still be being written.
    Pending,
    /// A record of an unknown kind, probably from a newer version of the agent.
    UnknownKind,
    /// Two records with the same id.
    DuplicateId,
    /// A record whose parent is not in the file.
    MissingParent,
    /// Records that form a cycle of parents.
    Cycle,
    /// A number of tokens that no model can have used.
    TokenCount,
    /// A result without a call.
    OrphanResult,
    /// A call without a result.
    UnansweredCall,
    /// A timestamp earlier than an earlier record's.
    TimeOrder,
    /// A saved stream without an end: the run was interrupted, or it continues.
    Interrupted,
    /// Strings that look like they contain a key or a password; only with `--secrets`.
    Secret,
}

/// Summary of checking one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_check")]
pub struct SessionCheckRecord {
    /// Path of the file.
    pub path: String,
    /// Agent that wrote the file; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Session id; absent if the file does not contain one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Whether the file has no problem of the kinds `line`, `duplicate_id`, `cycle` and `token_count`.
    pub ok: bool,
    /// Number of lines that are not blank.
    pub lines: u64,
    /// Number of records, including those recovered from damaged lines.
    pub records: u64,
    /// Number of records of each kind (`type` or `type/subtype`).
    pub kinds: BTreeMap<String, u64>,
    /// Number of problems of each kind.
    pub findings: BTreeMap<DamageKind, u64>,
}

/// Totals of checking all selected files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_checks")]
pub struct SessionChecksRecord {
    /// Number of sessions.
    pub sessions: u64,
    /// Number of sessions without damage.
    pub ok: u64,
    /// Number of damaged sessions.
    pub damaged: u64,
    /// Number of files that cannot be read.
    pub unreadable: u64,
}

/// Position after the last record written, to resume reading from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
pub struct SessionCursorRecord {
    pub subtype: CursorSubtype,
    /// Path of the file.
    pub path: String,
    /// Byte offset, for `--offset`.
    pub offset: u64,
    /// Number of bytes after the offset that are not a complete line yet.
    pub pending: u64,
    /// The turnpipe extension.
    pub turnpipe: VersionOnly,
}

/// The following records come from another file, or from the start of the same file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
pub struct SessionSwitchRecord {
    pub subtype: SwitchSubtype,
    /// Reason for the switch.
    pub reason: SwitchReason,
    /// Path of the file.
    pub path: String,
    /// The turnpipe extension.
    pub turnpipe: VersionOnly,
}

/// Reason for reading from the start of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SwitchReason {
    /// The file became shorter than the part already read.
    Truncated,
    /// Another file replaced it.
    Replaced,
    /// The part already read has changed.
    Rewritten,
    /// The file was deleted; records follow when it exists again.
    Deleted,
    /// A newer session started, or another one continued.
    Newer,
}

/// A tool call in a session file, with what is known about its result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_call")]
pub struct SessionCallRecord {
    /// Session id; absent if the file does not contain one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Agent that wrote the file.
    pub agent: String,
    /// Path of the file.
    pub path: String,
    /// Directory in which the session started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Whether a subagent made the call.
    pub subagent: bool,
    /// Time of the call, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// Time from the call to its result, in milliseconds; it includes waiting for permission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Id of the call.
    pub tool_use_id: String,
    /// Name of the tool.
    pub tool: String,
    /// Topic of the call: the command, the path, the pattern.
    pub about: String,
    /// Input of the call as JSON text, so that it fits a single column of a table; absent with `--field`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The member of the input that `--field` names: a string unchanged, any other value as JSON text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Outcome of the call; absent if the file has no result for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<CallOutcome>,
    /// Exit status of the command, if the result states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<i64>,
    /// Length of the result's text, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_bytes: Option<u64>,
    /// Files that the call changes, according to its input.
    pub files: Vec<FileChange>,
}

/// A file that a call changes, by its input.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileChange {
    /// Path of the file, absolute if the session's directory is known.
    pub path: String,
    /// Number of added lines.
    pub added: u64,
    /// Number of removed lines.
    pub removed: u64,
}

/// Number of calls of a tool, or of a program that it runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_call_count")]
pub struct SessionCallCountRecord {
    /// Name of the tool.
    pub tool: String,
    /// Program, with its subcommand if the next word looks like one; only for shell tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Number of calls.
    pub calls: u64,
    /// Number of calls that failed.
    pub failed: u64,
    /// Number of calls that the user or a rule denied.
    pub denied: u64,
    /// Sum of the known durations, in milliseconds.
    pub duration_ms: u64,
    /// Sum of the lengths of the results' texts, in bytes.
    pub result_bytes: u64,
}
