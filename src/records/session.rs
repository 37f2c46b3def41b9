//! What is known of session files: lists, paths, statistics, names.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::message::Usage;

use super::constant::{StartSubtype, tagged};
use crate::message::SessionId;

/// One session.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session")]
#[schemars(transform = tagged("session"))]
pub struct SessionRecord {
    /// What is known of it.
    #[serde(flatten)]
    pub about: AboutSession,
    /// When it began, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// The latest time in its records, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_activity: Option<String>,
    /// The size of the file in bytes.
    pub size: u64,
    /// How many files of subagents belong to it.
    pub subagents: u64,
    /// What is in it; only with `--counts`, since that takes reading the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<SessionCounts>,
}

/// Who a session is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct AboutSession {
    /// The session; absent if the file does not name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Whose file it is: `claude`, `qwen`, `codex`, `gemini`, `pi`.
    pub agent: String,
    /// The file.
    pub path: String,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where the title comes from: `manual`, `auto`, or `summary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title_source: Option<String>,
    /// The beginning of the first prompt that a person typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_prompt: Option<String>,
    /// The directory in which it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The directory it works in now, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_cwd: Option<String>,
    /// The branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<String>,
    /// The model that spoke last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The session that it was forked from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fork_parent: Option<SessionId>,
    /// The shell command that resumes it, for use in its directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
}

/// What is in a session file, all branches counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
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
    /// Results that report a failure.
    pub failed: u64,
    /// Calls without a result.
    pub unanswered: u64,
    /// Requests to the model that failed.
    pub errors: u64,
    /// Compactions.
    pub compactions: u64,
    /// Tokens.
    pub usage: Usage,
}

/// The head of a dialog that is shown. It opens a stream that is history: nothing in it is run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
#[schemars(transform = tagged("system"))]
pub struct SessionStartRecord {
    pub(crate) subtype: StartSubtype,
    /// What is known of the session.
    #[serde(flatten)]
    pub about: AboutSession,
}

/// A session file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_error")]
#[schemars(transform = tagged("session_error"))]
pub struct SessionErrorRecord {
    /// The file, or what was asked for.
    pub path: String,
    /// Why, as a lowercase phrase.
    pub error: String,
}

/// Where a session is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_path")]
#[schemars(transform = tagged("session_path"))]
pub struct SessionPathRecord {
    /// The session; absent if the file does not name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The agent that wrote the file; absent if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The file.
    pub path: String,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where the title comes from: `manual`, `auto`, or `summary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title_source: Option<String>,
    /// The shell command that resumes it, where something was searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// How many parts of messages matched, if matches were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<u64>,
}

/// What sessions cost.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_stats")]
#[schemars(transform = tagged("session_stats"))]
pub struct SessionStatsRecord {
    /// How many sessions were counted.
    pub sessions: u64,
    /// Prompts.
    pub prompts: u64,
    /// Replies.
    pub replies: u64,
    /// Tokens of all.
    pub usage: Usage,
    /// Models whose tokens are not in the cost, because they have no price.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub unpriced_models: BTreeSet<String>,
    /// By the model that spoke.
    pub by_model: Vec<UsageShare>,
    /// By the day of the reader's time zone (`--tz`), where records have a time.
    pub by_day: Vec<UsageShare>,
    /// By what asked the model: `main`, or the id of a service such as `session_title`.
    pub by_prompt_id: Vec<UsageShare>,
    /// By the tool that was called.
    pub by_tool: Vec<ToolShare>,
}

/// The share of one model, day or prompt id.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct UsageShare {
    /// Which.
    pub name: String,
    /// Replies.
    pub replies: u64,
    /// Tokens.
    pub usage: Usage,
    /// Models whose tokens are not in the cost, because they have no price.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub unpriced_models: BTreeSet<String>,
}

/// What usage is grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// The day
    Day,
    /// The week of ISO 8601, which begins on Monday
    Week,
    /// The month
    Month,
    /// The five hours in which Claude's subscriptions count: they begin at the full hour before the
    /// first request that is in no block yet; for use with `--agent claude`
    Block,
    /// The model that was asked
    Model,
    /// The directory in which the session began
    Project,
    /// The session's id
    Session,
    /// The agent that wrote the session
    Agent,
    /// What asked: `main`, or the id of a service such as `session_title`
    Prompt,
    /// The tool that was called. A reply's tokens belong to none of its calls, so this counts calls and
    /// the text of their results instead of money
    Tool,
}

/// What the requests cost that have the same day, model and so on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_cost")]
#[schemars(transform = tagged("session_cost"))]
pub struct SessionCostRecord {
    /// What they have in common, by dimension; `(unknown)` where the sessions do not say.
    pub by: BTreeMap<Dimension, String>,
    /// Replies.
    pub replies: u64,
    /// Tokens.
    pub usage: Usage,
    /// Models whose tokens are not in the cost, because they have no price.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub unpriced_models: BTreeSet<String>,
}

/// The calls that have the same tool, day and so on, and how much their results say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_tool")]
#[schemars(transform = tagged("session_tool"))]
pub struct SessionToolRecord {
    /// What they have in common, by dimension; `(unknown)` where the sessions do not say.
    pub by: BTreeMap<Dimension, String>,
    /// Calls.
    pub calls: u64,
    /// Results.
    pub results: u64,
    /// Results that report a failure.
    pub failed: u64,
    /// The length of the text of all results, without images.
    pub result_bytes: u64,
    /// About how many tokens these bytes are: a quarter.
    pub result_tokens: u64,
}

/// The share of one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ToolShare {
    /// The tool.
    pub name: String,
    /// Calls.
    pub calls: u64,
    /// Results that report a failure.
    pub failed: u64,
}

/// A session has a new name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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
