//! Records about sessions: lists, paths, statistics, names.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::constant::StartSubtype;
use turnpipe_core::message::{SessionId, Usage, serialize_rounded};
use turnpipe_core::text::names;

/// A session in a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session")]
pub struct SessionRecord {
    #[serde(flatten)]
    pub about: SessionDescription,
    /// Start time, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// Latest time in its records, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_activity: Option<String>,
    /// Whether `last_activity` is only the modification time of the file, because the agent records no times.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_time_of_file: bool,
    /// Homes of the agent with files of the session: their names in the configuration, or else directories. Absent
    /// if there is one without a name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub homes: Vec<String>,
    /// Size of the file.
    #[serde(rename = "bytes")]
    pub size: u64,
    /// Number of subagents.
    pub subagents: u64,
    /// State, inferred from the end of the file and from running processes; only with `--state`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<SessionActivity>,
    /// Whether `state` is inferred; always true if `state` is present.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub state_inferred: bool,
    /// End of the file, the reason of `state`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_reason: Option<String>,
    /// Process of the agent that uses the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// Counts of its contents; only with `--counts`, which reads the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<SessionCounts>,
}

/// Activity of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum SessionActivity {
    /// The agent runs, and works on a turn
    Working,
    /// The agent runs, and waits for a prompt, a permission or an answer of the user
    Waiting,
    /// The last turn is complete, and no agent runs
    Idle,
    /// The last request failed, or no agent runs and the last turn is incomplete
    Failed,
}

names! {
    SessionActivity: Working = "working", Waiting = "waiting", Idle = "idle", Failed = "failed",
}

/// Description of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct SessionDescription {
    /// Session id; absent if the file does not contain one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Agent that wrote the file, e.g. `claude`.
    pub agent: String,
    /// Path of the file.
    pub path: String,
    /// Title of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Origin of the title: `manual`, `auto` or `summary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title_source: Option<String>,
    /// First prompt typed by the user, shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_prompt: Option<String>,
    /// Directory in which the session started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Current working directory, if different.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_cwd: Option<String>,
    /// Git branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<String>,
    /// Model of the latest reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Session that started this one as a subagent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<SessionId>,
    /// Agent that wrote the file, if it is a different agent that uses the format of `agent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_by: Option<String>,
    /// Session that this one was forked from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fork_parent: Option<SessionId>,
    /// Shell command that resumes the session, to be run in its directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// Directory in which `resume` finds the session, if different from `cwd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_cwd: Option<String>,
}

impl SessionDescription {
    /// Returns the directory in which the agent finds the session.
    pub fn home(&self) -> Option<&String> {
        self.resume_cwd.as_ref().or(self.cwd.as_ref())
    }

    /// Returns the title, or else the first prompt, as a heading.
    pub fn heading(&self) -> &str {
        let title = self.title.as_deref().or(self.first_prompt.as_deref());
        title.unwrap_or("Session")
    }
}

/// Counts of the contents of a session file, over all branches.
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
    /// Token counts and cost.
    pub usage: Usage,
}

/// Starts a dialog from a session file. Calls in it have already run and are not run again.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "system")]
pub struct SessionStartRecord {
    pub subtype: StartSubtype,
    #[serde(flatten)]
    pub about: SessionDescription,
}

/// A session file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_error")]
pub struct SessionErrorRecord {
    /// Path of the file, or the argument that was given.
    pub path: String,
    /// Error message.
    pub error: String,
}

/// Location of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_path")]
pub struct SessionPathRecord {
    /// Session id; absent if the file does not contain one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Agent that wrote the file; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Path of the file.
    pub path: String,
    /// Title of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Origin of the title: `manual`, `auto` or `summary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title_source: Option<String>,
    /// Shell command that resumes the session; only for searches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// Number of message blocks that matched, if counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<u64>,
}

impl SessionPathRecord {
    /// Returns the location of the session with this description.
    pub fn new(about: SessionDescription, matches: Option<u64>) -> Self {
        Self {
            session_id: about.session_id,
            agent: Some(about.agent),
            path: about.path,
            title: about.title,
            title_source: about.title_source,
            resume: about.resume,
            matches,
        }
    }
}

/// Token counts and costs of requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Spending {
    /// Token counts and cost.
    pub usage: Usage,
    /// Total cost in US dollars that agents recorded for the sessions, if any did. It may include requests
    /// that the files do not contain.
    #[serde(
        rename = "recorded_cost_usd",
        skip_serializing_if = "Option::is_none",
        serialize_with = "serialize_rounded"
    )]
    pub recorded_cost: Option<f64>,
    /// Models without a known price, whose tokens are not in the cost, and models with a part in parentheses
    /// that has no price, e.g. `m (priority)`.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub unpriced_models: BTreeSet<String>,
}

/// Usage statistics of sessions.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_stats")]
pub struct SessionStatsRecord {
    /// Number of sessions.
    pub sessions: u64,
    /// Prompts.
    pub prompts: u64,
    /// Replies.
    pub replies: u64,
    #[serde(flatten)]
    pub spending: Spending,
    /// Runs, if saved streams of runs are among the sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<RunTotals>,
    /// Usage by model.
    pub by_model: Vec<UsageShare>,
    /// Usage by day in the time zone of `--tz`, for records with a time.
    pub by_day: Vec<UsageShare>,
    /// Usage by prompt id: `main`, or a service such as `session_title`.
    pub by_prompt_id: Vec<UsageShare>,
    /// Calls by tool.
    pub by_tool: Vec<ToolShare>,
}

/// Runs of agents, as their streams report them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunTotals {
    /// Number of runs by how they ended, in the agent's words; `interrupted` if the stream has no end.
    pub ends: BTreeMap<String, u64>,
    /// Turns, if agents report them.
    pub turns: u64,
    /// Duration in milliseconds, if agents report it.
    pub duration_ms: u64,
    /// Calls that were denied, if agents report them.
    pub denials: u64,
}

impl RunTotals {
    /// Adds other runs.
    pub fn add(&mut self, other: Self) {
        self.turns += other.turns;
        self.duration_ms += other.duration_ms;
        self.denials += other.denials;
        for (reason, count) in other.ends {
            *self.ends.entry(reason).or_insert(0) += count;
        }
    }
}

/// Usage of one model, day or prompt id.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct UsageShare {
    /// Name of the group; `null` if sessions do not contain it.
    pub name: Option<String>,
    /// Replies.
    pub replies: u64,
    #[serde(flatten)]
    pub spending: Spending,
}

/// Dimension to group usage by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// The day
    Day,
    /// The ISO 8601 week, starting on Monday
    Week,
    /// The month
    Month,
    /// A five-hour block of a Claude subscription; the first request outside any block starts a new one
    /// at its full hour. For use with `--agent claude`
    Block,
    /// The model
    Model,
    /// The directory in which the session started
    Cwd,
    /// The repository of that directory with its work trees and subdirectories: its main directory, or its remote
    /// if no directory of it is left; outside of repositories, the directory
    Project,
    /// The home of the agent, such as an account: its name in the configuration, or else its directory. A session with
    /// files in several homes is counted once, under all of them
    Home,
    /// The session id
    Session,
    /// The subagent, by its id: `main` for the conversation itself. What a subagent with a session of its own spent
    /// counts for the session that started it
    Subagent,
    /// The type of the subagent: `main` for the conversation itself
    AgentType,
    /// The id of the workflow that started the subagent (Claude Code): `none` outside of workflows
    Workflow,
    /// The agent that wrote the session
    Agent,
    /// The prompt id: `main`, or a service such as `session_title`
    Prompt,
    /// The tool. Tokens belong to replies rather than calls, so this counts calls and result text
    /// instead of cost
    Tool,
}

names! {
    Dimension: Day = "day", Week = "week", Month = "month", Block = "block", Model = "model",
    Cwd = "cwd", Project = "project", Home = "home", Session = "session",
    Subagent = "subagent", AgentType = "agent_type", Workflow = "workflow", Agent = "agent", Prompt = "prompt", Tool = "tool",
}

/// Usage of a group of requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_cost")]
pub struct SessionCostRecord {
    /// The group, by dimension; `null` if a session does not contain the value.
    pub dimensions: BTreeMap<Dimension, Option<String>>,
    /// End of the block, RFC 3339; only for groups by block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_end: Option<String>,
    /// Time until the end of the block, in milliseconds; only for the current block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_ms: Option<u64>,
    /// Replies.
    pub replies: u64,
    #[serde(flatten)]
    pub spending: Spending,
}

/// Tool calls of a group and the size of their results.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_tool")]
pub struct SessionToolRecord {
    /// The group, by dimension; `null` if a session does not contain the value.
    pub dimensions: BTreeMap<Dimension, Option<String>>,
    /// Calls.
    pub calls: u64,
    /// Results.
    pub results: u64,
    /// Results that report a failure.
    pub failed: u64,
    /// Total size of result text, in bytes; images are not counted.
    pub result_bytes: u64,
    /// Estimated tokens of that text: a quarter of the bytes.
    pub result_tokens: u64,
}

/// Calls of one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ToolShare {
    /// Name of the tool.
    pub tool: String,
    /// Calls.
    pub calls: u64,
    /// Results that report a failure.
    pub failed: u64,
}

/// Reports that a session was renamed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_renamed")]
pub struct SessionRenamedRecord {
    /// Session id.
    pub session_id: SessionId,
    /// The new name, terminal-safe.
    pub title: String,
    /// Path of the file that contains the name.
    pub path: String,
}
