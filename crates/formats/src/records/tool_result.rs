//! `user`: the result of one call, and its extension member `turnpipe`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::constant::{UserRole, add_type};
use turnpipe_core::message::{
    DecidedBy, Decision, Media, Network, ResultPart, SessionId, ToolResult, ToolUseId,
};

/// Result of one call. Each call of the stream that has no result yet gets exactly one.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "user")]
pub struct ToolResultRecord {
    /// The message for the model.
    pub message: ResultMessage,
    /// Call that started the subagent which made this call; `null` in the main thread.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// Structured output, in a form that depends on the tool.
    pub tool_use_result: Value,
    /// The turnpipe extension.
    pub turnpipe: ToolResultExtension,
    /// Id of this record.
    pub uuid: String,
    /// Session id.
    pub session_id: SessionId,
    /// Time of writing, RFC 3339.
    pub timestamp: String,
}

/// A user message with one result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ResultMessage {
    role: UserRole,
    /// The result block.
    pub content: [ToolResultBlock; 1],
}

impl ResultMessage {
    /// Returns a message with this result.
    pub fn new(block: ToolResultBlock) -> Self {
        Self {
            role: UserRole::Only,
            content: [block],
        }
    }
}

/// A `tool_result` block.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "tool_result")]
#[schemars(transform = add_type("tool_result"))]
pub struct ToolResultBlock {
    /// Id of the call.
    pub tool_use_id: ToolUseId,
    /// Output or error message.
    pub content: ResultContent,
    /// Whether the call failed or did not run.
    pub is_error: bool,
}

impl From<ToolResultBlock> for ToolResult {
    fn from(block: ToolResultBlock) -> Self {
        let parts = match block.content {
            ResultContent::Text(text) => vec![ResultPart::Text(text)],
            ResultContent::Blocks(blocks) => blocks.into_iter().map(ResultPart::from).collect(),
        };
        Self {
            id: block.tool_use_id.0,
            parts,
            failed: block.is_error,
            end: None,
        }
    }
}

impl From<ResultBlock> for ResultPart {
    fn from(block: ResultBlock) -> Self {
        match block {
            ResultBlock::Text { text } => Self::Text(text),
            ResultBlock::Image { source } => Self::Media(Media {
                media_type: source.media_type,
                data: Some(source.data),
            }),
        }
    }
}

/// Content of a result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ResultContent {
    /// Text only.
    Text(String),
    /// Blocks, if the content is more than text.
    Blocks(Vec<ResultBlock>),
}

impl ResultContent {
    /// Returns the approximate size in memory, in bytes.
    pub fn weight(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Blocks(blocks) => {
                let weights = blocks.iter().map(|block| match block {
                    ResultBlock::Text { text } => text.len(),
                    ResultBlock::Image { source } => source.data.len(),
                });
                weights.sum()
            }
        }
    }
}

/// A block of a result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ResultBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image {
        /// Source of the image.
        source: ImageSource,
    },
}

/// An image embedded in the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "base64")]
#[schemars(transform = add_type("base64"))]
pub struct ImageSource {
    /// E.g. `image/png`.
    pub media_type: String,
    /// The bytes in base64.
    pub data: String,
}

/// Version of the record contract: always 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("const" = 1))]
pub struct Version(u32);

impl Default for Version {
    fn default() -> Self {
        Self(1)
    }
}

/// An extension that contains only the version.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VersionOnly {
    pub v: Version,
}

/// The extension of a result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ToolResultExtension {
    pub v: Version,
    /// Outcome of the call.
    pub outcome: Outcome,
    /// Lane it ran in; absent if it did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<Lane>,
    /// Index of its batch, starting at 0; absent if it was never scheduled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
    /// Verdict of the analysis; absent if the call was not analysed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictReport>,
    /// Run time, in milliseconds; 0 if it did not run.
    pub duration_ms: u64,
    /// Permission decision; absent if the call ended before one was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission: Option<Permission>,
    /// File with the whole output, if `content` is shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persisted: Option<PersistedOutput>,
    /// Confinement of its processes; absent unless it started processes in the parallel lane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxReport>,
    /// The hooks that ran, in configuration order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<HookReport>,
}

/// A hook that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HookReport {
    /// Hook event, e.g. `PreToolUse`.
    pub event: String,
    /// Command or URL of the hook.
    pub name: String,
    /// Run time, in milliseconds.
    pub duration_ms: u64,
    /// Exit status; absent if it was killed or is not a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<i32>,
    /// Decision of the hook, if it made one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
}

/// Outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Ran and succeeded.
    Ok,
    /// Ran and failed.
    Error,
    /// The input was incomplete or did not match the tool's schema.
    InvalidInput,
    /// The tool does not exist.
    UnknownTool,
    /// Denied by a permission rule, the permission mode or the user.
    Denied,
    /// Denied by a hook.
    HookBlocked,
    /// Cancelled because a parallel call failed.
    CancelledSibling,
    /// Interrupted by a signal or a control request.
    Interrupted,
    /// Exceeded its timeout.
    Timeout,
    /// Not run for another reason, given in the content.
    NotRun,
}

/// Scheduling lane of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// Runs concurrently with other calls.
    Parallel,
    /// Runs alone.
    Serial,
}

/// Result of analysing a call before it ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerdictReport {
    pub access: VerdictAccess,
    /// The word, construct or declaration that decided.
    #[serde(rename = "reason")]
    pub why: String,
}

/// Access that a call needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictAccess {
    /// Changes nothing.
    ReadOnly,
    /// Changes something.
    Writes,
    /// Unknown; treated as a change.
    Unknown,
}

/// Output that was written to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PersistedOutput {
    /// Path of the file.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
}

/// Confinement of a call's processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SandboxReport {
    /// Whether the kernel prevented file changes and network access.
    pub enforced: bool,
    /// Mechanism (e.g. `landlock`), or the reason for running without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mechanism: Option<String>,
    /// Landlock ABI version that prevented file changes; absent if none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub landlock_abi: Option<u32>,
    /// Whether a seccomp filter blocked sockets and attribute changes.
    pub seccomp: bool,
    /// Enforcement of `Read` and `Edit` deny rules on the call's processes; absent without such rules, or if they are
    /// not enforced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_rules: Option<FileRulesReport>,
    /// The workspace that the call's processes could not leave; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceReport>,
    /// Lane in which the call might succeed: it failed, probably because of the confinement. It was
    /// not run again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reclassify: Option<Lane>,
}

/// Enforcement of file rules by masks: files that the rules name cannot be opened, or cannot be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileRulesReport {
    /// Whether the call cannot inspect the processes of other calls.
    pub isolates_calls: bool,
    /// Whether the call failed, and its output looks as if a mask or a missing privilege was the cause.
    pub looks_denied: bool,
}

/// Enforcement of a workspace: files outside of it cannot be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WorkspaceReport {
    /// What the call reached.
    pub network: Network,
    /// Whether it saw only its own processes, and left none.
    pub isolates_processes: bool,
}

/// A permission decision and its origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Permission {
    pub decision: Decision,
    /// The rule, mode, hook or user that decided.
    #[serde(rename = "decided_by")]
    pub by: DecidedBy,
}
