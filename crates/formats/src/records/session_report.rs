//! The record of `session report`.

use schemars::JsonSchema;
use serde::Serialize;

use super::RunTotals;
use super::session::{SessionDescription, Spending};
use super::session_file::FileChange;
use turnpipe_core::message::CallOutcome;

/// A report about one or more sessions, and the gates that they passed or failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_report")]
pub struct SessionReportRecord {
    /// Whether all gates passed; `true` without gates.
    pub passed: bool,
    /// The gates, in the order of the options.
    pub gates: Vec<GateResult>,
    /// The sessions.
    pub sessions: Vec<ReportedSession>,
    /// Number of tool calls, including calls of subagents.
    pub calls: u64,
    /// Number of calls that failed, or whose command stated an exit status other than 0.
    pub failed: u64,
    /// Number of calls that the user or a rule denied.
    pub denied: u64,
    /// Number of runs that ended with an error, by a limit or an interrupt, or without an end.
    pub errors: u64,
    #[serde(flatten)]
    pub spending: Spending,
    /// Sum of the durations in milliseconds: of runs, as their streams state them, else from the first to the
    /// last time in a session.
    pub duration_ms: u64,
    /// Runs, if saved streams of runs are among the sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<RunTotals>,
    /// Changed files, each with the sum of its changes. Changes by shell commands are not known.
    pub files: Vec<FileChange>,
    /// Shell commands, and all calls that failed, were denied, or match a rule of `--forbid`.
    pub listed_calls: Vec<ReportedCall>,
}

/// A session in a report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct ReportedSession {
    #[serde(flatten)]
    pub about: SessionDescription,
    /// Name of its project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The first time in the period, RFC 3339; without a period the first time in the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// The last time in the period, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The model's last report, extracted by built-in rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Its title, or else the request of the first prompt in the period.
    pub heading: String,
    /// Recap by built-in rules of what was said in the period, without a goal that is the heading.
    pub recap: String,
    /// Changed files, without those that only shell commands changed.
    pub files_changed: u64,
    /// Added lines.
    pub lines_added: u64,
    /// Removed lines.
    pub lines_removed: u64,
    /// Tokens and costs in the period.
    #[serde(flatten)]
    pub spending: Spending,
}

/// A gate: a condition on all sessions of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GateResult {
    /// The option, e.g. `--max-cost 2`.
    pub gate: String,
    /// Whether the sessions passed it.
    pub passed: bool,
    /// Measured value.
    pub message: String,
}

/// A call in a report. Text that looks like a key or a password is replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReportedCall {
    /// Name of the tool.
    pub tool: String,
    /// Topic of the call: the command, the path, the pattern.
    pub about: String,
    /// Whether the tool runs shell commands.
    pub is_command: bool,
    /// Outcome of the call; absent if the file has no result for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<CallOutcome>,
    /// Exit status of the command, if the result states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<i64>,
    /// Time from the call to its result, in milliseconds; it includes waiting for permission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Rules of `--forbid` that match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forbidden_by: Vec<String>,
}

impl ReportedCall {
    /// Whether the user or a rule denied it.
    pub fn is_denied(&self) -> bool {
        self.outcome.is_some_and(CallOutcome::is_denied)
    }

    /// Whether it failed, or its command stated an exit status other than 0.
    pub fn has_failed(&self) -> bool {
        let has_failing_status = self.exit_status.is_some_and(|status| status != 0);
        self.outcome == Some(CallOutcome::Failed) || (has_failing_status && !self.is_denied())
    }
}

impl SessionReportRecord {
    /// Returns the higher of the recorded and the computed cost, in US dollars.
    pub fn cost(&self) -> Option<f64> {
        let recorded = self.spending.recorded_cost.into_iter();
        let costs = recorded.chain(self.spending.usage.cost);
        costs.reduce(f64::max)
    }
}
