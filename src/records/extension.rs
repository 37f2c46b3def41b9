//! The extension member `turnpipe` of a result: how a call went and why.

use schemars::JsonSchema;
use serde::Serialize;

use crate::message::{DecidedBy, Decision};

/// The version of the contract: always 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("const" = 1))]
pub struct Version(u32);

impl Default for Version {
    fn default() -> Self {
        Self(1)
    }
}

/// The extension of a record about which nothing more is to be said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VersionOnly {
    /// The version of the contract.
    pub v: Version,
}

/// The extension of a result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ToolResultExtension {
    /// The version of the contract.
    pub v: Version,
    /// How the call went.
    pub outcome: Outcome,
    /// Where it ran; absent if it did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<Lane>,
    /// The batch it was in, counted from 0; absent if it was never scheduled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
    /// What the analysis said it touches; absent if it was never analysed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// How long it ran, in milliseconds; 0 if it did not run.
    pub duration_ms: u64,
    /// Who allowed or denied it; absent if it did not get that far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission: Option<Permission>,
    /// Where the whole output is, if the content is only a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persisted: Option<Persisted>,
    /// How its processes were confined; absent if it started none in the parallel lane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxReport>,
    /// The hooks that ran, in the order of the configuration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<HookReport>,
}

/// A hook that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HookReport {
    /// When it ran, e.g. `PreToolUse`.
    pub event: String,
    /// Its command or address.
    pub name: String,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// Its exit status; absent if it did not exit by itself, or is no program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What it decided, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
}

impl ToolResultExtension {
    /// The extension of a call with this outcome, of which nothing else is known.
    pub fn of(outcome: Outcome) -> Self {
        Self {
            v: Version::default(),
            outcome,
            lane: None,
            batch: None,
            verdict: None,
            duration_ms: 0,
            permission: None,
            persisted: None,
            sandbox: None,
            hooks: Vec::new(),
        }
    }
}

/// How a call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It ran and succeeded.
    Ok,
    /// It ran and failed.
    Error,
    /// It was incomplete, or its input does not fit the tool.
    InvalidInput,
    /// There is no such tool.
    UnknownTool,
    /// The permission rules, the mode or a person denied it.
    Denied,
    /// A hook denied it.
    HookBlocked,
    /// A call beside it failed in a way that ended this one.
    CancelledSibling,
    /// The run was interrupted.
    Interrupted,
    /// Its time was up.
    Timeout,
    /// It was not run for another reason; the content says which.
    NotRun,
}

/// Where a call ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// Beside others.
    Parallel,
    /// Alone.
    Serial,
}

/// What the analysis said about a call before it ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Verdict {
    /// What it may do.
    pub access: VerdictAccess,
    /// The word, construct or declaration that decided.
    pub why: String,
}

/// What a call may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictAccess {
    /// It changes nothing.
    ReadOnly,
    /// It changes something.
    Writes,
    /// It is not known; counts as a change.
    Unknown,
}

/// An output that was written to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Persisted {
    /// The file.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// How a call was confined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SandboxReport {
    /// Whether the kernel enforced that it changes no file and reaches no network.
    pub enforced: bool,
    /// What enforced it (e.g. `landlock`), or why nothing did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The version of Landlock's interface that kept it from writing files; absent if nothing did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub landlock_abi: Option<u32>,
    /// Whether a filter kept it from system calls that change attributes or use sockets.
    pub seccomp: bool,
    /// It failed, and that looks like the enforcement's doing: in this lane it might succeed. It
    /// was not run again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reclassify: Option<Lane>,
}

/// A decision, and what made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Permission {
    /// What was decided.
    pub decision: Decision,
    /// What decided.
    pub by: DecidedBy,
}
