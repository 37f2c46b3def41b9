//! Records about the tool calls in session files.

use schemars::JsonSchema;
use serde::Serialize;

use super::constant::tagged;
use crate::message::{CallOutcome, SessionId};

/// A tool call in a session file, with what is known about its result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_call")]
#[schemars(transform = tagged("session_call"))]
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
    /// Time of the call, as stored in the file.
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileChange {
    /// Path of the file, absolute if the session's directory is known.
    pub path: String,
    /// Number of added lines.
    pub added: u64,
    /// Number of removed lines.
    pub removed: u64,
}

/// Number of calls of a tool, or of a program that it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_call_count")]
#[schemars(transform = tagged("session_call_count"))]
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
