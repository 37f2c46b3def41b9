//! Records of the `check` commands, one per input line, and of `doctor`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{PermissionCheck, ShellCheck, TextCheck, VerdictAccess};
use crate::message::{DecidedBy, Decision};
use crate::permission::CheckedPart;
use crate::shell::{Analysis, GitUse, Verdict};

/// Effects of a shell command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "check")]
pub struct CheckShellRecord {
    pub(crate) check: ShellCheck,
    /// The command.
    pub command: String,
    /// Access the command needs.
    pub verdict: VerdictAccess,
    /// The construct or word that decided the verdict.
    #[serde(rename = "reason")]
    pub why: String,
    /// Conditions still to be checked (`clean-git-config`).
    pub requires: Vec<String>,
    /// Start and end byte offset of the word that decided; absent if no single word did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<(usize, usize)>,
    /// Whether the command may change the working directory of the shell.
    pub changes_directory: bool,
}

/// Returns how records name the access of a verdict.
pub(crate) fn verdict_access(verdict: &Verdict) -> VerdictAccess {
    match verdict {
        Verdict::ReadOnly { .. } => VerdictAccess::ReadOnly,
        Verdict::Unknown => VerdictAccess::Unknown,
    }
}

impl CheckShellRecord {
    /// Creates the record of an analysis, and of conditions on how the command runs.
    pub fn new(command: &str, analysis: Analysis, conditions: Vec<&str>) -> Self {
        let mut requires = Vec::new();
        if let Verdict::ReadOnly { requires: open } = &analysis.verdict {
            requires.extend(open.first().map(|_| GitUse::CONDITION.to_owned()));
            requires.extend(conditions.into_iter().map(str::to_owned));
        }
        Self {
            check: ShellCheck::Only,
            command: command.to_owned(),
            verdict: verdict_access(&analysis.verdict),
            why: analysis.why,
            requires,
            span: analysis.span.map(|span| (span.start, span.end)),
            changes_directory: analysis.changes_directory,
        }
    }
}

/// Permission decision for a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "check")]
pub struct CheckPermissionRecord {
    pub(crate) check: PermissionCheck,
    /// Canonical name of the tool.
    #[serde(rename = "tool")]
    pub name: String,
    /// The command line, if the call runs one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Decision for the call; `ask` even if there is no user to ask.
    pub decision: Decision,
    /// The rule or mode that decided.
    #[serde(rename = "decided_by")]
    pub by: DecidedBy,
    /// Decision for each command of a command line, if each was checked on its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<CheckedPart>,
    /// A rule that would allow the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Number of past calls of a tool, or of a program that it runs, by the decision about them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "permission_count")]
pub struct PermissionCountRecord {
    /// Name of the tool.
    pub tool: String,
    /// Program, with its subcommand if the next word looks like one. Absent for all calls of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Number of calls.
    pub calls: u64,
    /// Number of calls that are allowed.
    pub allow: u64,
    /// Number of calls that are asked about.
    pub ask: u64,
    /// Number of calls that are denied.
    pub deny: u64,
}

/// Proposed rule that would have spared questions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "permission_proposal")]
pub struct PermissionProposalRecord {
    /// The allow rule.
    pub rule: String,
    /// Number of further calls that are allowed with this rule and those before it.
    pub spares: u64,
    /// Other calls that it allows.
    pub also_allows: String,
}

/// Result of cleaning model output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "check")]
pub struct CheckTextRecord {
    pub(crate) check: TextCheck,
    /// Kind of text it was checked as.
    pub kind: TextKind,
    /// The cleaned text; empty if rejected.
    pub output: String,
    /// Reason for the rejection; `null` if accepted.
    pub rejected: Option<TextRejection>,
}

/// Kind of model output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum TextKind {
    /// One terminal-safe line.
    Terminal,
    /// A label for a batch of tool calls.
    Label,
    /// A session title.
    Title,
    /// A session recap, in the tags that the prompt asks for.
    Recap,
}

/// Reason for rejecting model output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum TextRejection {
    /// Nothing is left after cleaning.
    #[error("nothing is left of it")]
    Empty,
    /// The model refused.
    #[error("it is a refusal")]
    Refusal,
    /// The required tag is missing.
    #[error("it has no `<recap>` tag")]
    NoTag,
    /// It repeats an example of the prompt.
    #[error("it repeats an example of the prompt")]
    PromptEcho,
    /// It would suit any session.
    #[error("it says nothing about the session")]
    Vague,
}

/// An input line that could not be checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "check")]
pub struct CheckErrorRecord {
    /// Name of the check: `shell`, `permission` or `text`.
    pub check: String,
    /// Line number, starting at 1.
    pub line: u64,
    /// Error message.
    pub error: String,
    /// Path of the input file, if one was given as an argument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// A hook of turnpipe in the settings of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "hook_status")]
pub struct HookStatusRecord {
    /// Name of the agent.
    pub agent: String,
    /// Owner of the settings.
    pub scope: HookScope,
    /// Path of the settings file.
    pub path: String,
    /// Event of the agent.
    pub event: String,
    /// Command that the agent runs.
    pub command: String,
    /// Whether the user trusts the hook; absent if the agent needs no trust.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusted: Option<bool>,
    /// Whether the command answered a call; absent for the hooks of a project, which are not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub works: Option<bool>,
    /// Why it did not, or why the agent does not run it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Owner of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HookScope {
    User,
    Project,
}

/// Result of a hook with the input of a call, run as its agent runs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "hook_test")]
pub struct HookTestRecord {
    /// Name of the agent.
    pub agent: String,
    /// Path of the settings file.
    pub path: String,
    /// Event of the agent.
    pub event: String,
    /// Type of the subagent that makes the call; empty for one of the agent's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// Name of the tool, as the agent calls it.
    pub tool: String,
    /// The command, path or address of the call.
    pub about: String,
    /// The decision in the answer; absent if the hook leaves it to the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Its reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Exit status of the command; absent if it did not exit by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<i32>,
    /// Whether the command ran, and gave an answer that the agent can read.
    pub ok: bool,
    /// Whether the agent does what the hook decided.
    pub honored: bool,
    /// What the agent does with the call.
    pub effect: HookEffect,
    /// Why the hook failed, or why the agent does not run it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// What an agent does with a call after its hook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HookEffect {
    /// Runs it.
    Runs,
    /// Asks its user.
    Asks,
    /// Does not run it.
    Denied,
    /// Decides as if no hook were installed.
    #[default]
    LeftToAgent,
    /// Does not run the hook.
    Skipped,
}

/// Decision of the hook about a call, as logged by `hook --log`. Secrets are masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "hook_decision")]
pub struct HookDecisionRecord {
    /// Time of the decision.
    pub timestamp: String,
    /// Name of the agent; absent if the path of its transcript does not show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Session of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Id of the subagent that makes the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Type of the subagent; empty for one of the agent's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// Working directory of the agent.
    pub cwd: String,
    /// Event of the agent, e.g. `PreToolUse`.
    pub event: String,
    /// Name of the tool, as the agent calls it.
    pub tool: String,
    /// The command, path or address of the call.
    pub about: String,
    /// The decision.
    pub decision: Decision,
    /// Whether the agent received the decision. If not, it decides as if no hook were installed.
    pub answered: bool,
    /// The cause; absent if the rules cannot be applied.
    #[serde(rename = "decided_by", skip_serializing_if = "Option::is_none")]
    pub by: Option<DecidedBy>,
    /// The cause in words.
    pub reason: String,
    /// Rules that together would allow the call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

/// Result of one check of the installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "doctor")]
pub struct DoctorRecord {
    pub subject: Subject,
    /// Name of the checked item.
    pub name: String,
    /// Its value; for sessions, their number. Keys are never shown.
    pub value: String,
    /// Origin of the value: a variable, a file, an option or the default.
    pub source: String,
    pub condition: Condition,
    /// Description of the problem.
    #[serde(rename = "reason", skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl DoctorRecord {
    /// Creates a record without a problem.
    pub fn new(subject: Subject, name: &str, value: &str, source: &str) -> Self {
        Self {
            subject,
            name: name.to_owned(),
            value: value.to_owned(),
            source: source.to_owned(),
            condition: Condition::Ok,
            problem: None,
        }
    }

    /// Returns the record, broken if `tried` failed.
    #[must_use]
    pub fn with_outcome(self, tried: Result<(), impl ToString>) -> Self {
        match tried {
            Ok(()) => self,
            Err(error) => Self {
                condition: Condition::Broken,
                problem: Some(error.to_string()),
                ..self
            },
        }
    }
}

/// Kind of item checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// A setting.
    Setting,
    /// A file or directory of the configuration.
    File,
    /// An API key of a model provider.
    Key,
    /// Kernel enforcement of read-only calls.
    Enforcement,
    /// A session directory of an agent.
    Sessions,
    /// The completion script of a shell.
    Completions,
    /// A model or model provider.
    Model,
    /// An MCP server.
    McpServer,
}

/// Result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// No problem found.
    Ok,
    /// Missing, but optional.
    Absent,
    /// Configured, but not usable.
    Broken,
}
