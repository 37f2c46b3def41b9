//! `session`: what is known of a session file; `session_error`: why one cannot be read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::constant::constant;
use super::session_usage::TokenUsage;
use super::tagged::tagged;
use crate::wire::SessionId;

/// One session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "session")]
#[schemars(transform = tagged("session"))]
pub struct SessionRecord {
    /// What is known of it.
    #[serde(flatten)]
    pub about: AboutSession,
    /// When it began, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// The latest time in its records, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_activity: Option<String>,
    /// The size of the file in bytes.
    pub size: u64,
    /// How many files of subagents belong to it.
    pub subagents: u64,
    /// What is in it; absent unless it was asked for, as it takes reading the whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<SessionCounts>,
}

/// Who a session is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AboutSession {
    /// The session; absent if the file does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Whose file it is: `claude`, `qwen`, `codex`, `gemini`, `pi`.
    pub agent: String,
    /// The file.
    pub path: String,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where the title comes from: `manual`, `auto`, or `summary`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title_source: Option<String>,
    /// The beginning of the first prompt that a person typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_prompt: Option<String>,
    /// The directory in which it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The directory it works in now, if that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_cwd: Option<String>,
    /// The branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<String>,
    /// The model that spoke last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The session that it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork_parent: Option<SessionId>,
}

/// What is in a session file, all branches counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionCounts {
    /// Records.
    pub records: u64,
    /// Prompts and replies.
    pub messages: u64,
    /// Prompts.
    pub prompts: u64,
    /// Tool calls.
    pub calls: u64,
    /// Results of tool calls.
    pub results: u64,
    /// Results that tell of a failure.
    pub failed: u64,
    /// Calls without a result.
    pub unanswered: u64,
    /// Requests to the model that failed.
    pub errors: u64,
    /// Compactions.
    pub compactions: u64,
    /// Tokens.
    pub usage: TokenUsage,
}

constant! {
    /// `session_start`.
    StartSubtype = "session_start"
}

/// The head of a dialog that is shown. It opens a stream that is history: nothing in it is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct SessionStartRecord {
    subtype: StartSubtype,
    /// What is known of the session.
    #[serde(flatten)]
    pub about: AboutSession,
}

impl SessionStartRecord {
    /// The head of this session's dialog.
    pub fn new(about: AboutSession) -> Self {
        Self {
            subtype: StartSubtype::Only,
            about,
        }
    }
}

/// A session file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "session_error")]
#[schemars(transform = tagged("session_error"))]
pub struct SessionErrorRecord {
    /// The file, or what was asked for.
    pub path: String,
    /// Why, as a lowercase phrase.
    pub error: String,
}

/// Where a session is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "session_path")]
#[schemars(transform = tagged("session_path"))]
pub struct SessionPathRecord {
    /// The session; absent if the file does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Whose file it is; absent if it is nobody's that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The file.
    pub path: String,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where the title comes from: `manual`, `auto`, or `summary`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title_source: Option<String>,
    /// How many parts of messages matched, if matches were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matches: Option<u64>,
}
