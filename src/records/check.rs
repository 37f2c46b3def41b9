//! `check`: one verdict for each input line of a `check` command.

use schemars::JsonSchema;
use serde::Serialize;

use super::constant::{PermissionCheck, ShellCheck, TextCheck, tagged};
use super::extension::VerdictAccess;
use crate::message::{DecidedBy, Decision};

/// The known effects of a shell command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "check")]
#[schemars(transform = tagged("check"))]
pub struct CheckShellRecord {
    pub(crate) check: ShellCheck,
    /// The command.
    pub command: String,
    /// Whether it only reads.
    pub verdict: VerdictAccess,
    /// The construct or the word that decided.
    pub why: String,
    /// What else must hold (`clean-git-config`); empty once that is known.
    pub requires: Vec<String>,
    /// Where the word stands that decided, in bytes: from and to; absent if no single word did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<(usize, usize)>,
    /// Whether the shell may end in another directory than it began in.
    pub changes_directory: bool,
}

/// What was decided about a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "check")]
#[schemars(transform = tagged("check"))]
pub struct CheckPermissionRecord {
    pub(crate) check: PermissionCheck,
    /// The tool, by its own name.
    pub name: String,
    /// The command line, if the call runs one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Whether the call may run; `ask` whether or not there is somebody to ask.
    pub decision: Decision,
    /// What decided.
    pub by: DecidedBy,
    /// The same of each command of a command line, if it was looked at command by command.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<CheckedPart>,
    /// A rule that would allow the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// What was decided about one command of a command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckedPart {
    /// The command, as it is written.
    pub command: String,
    /// Whether it may run.
    pub decision: Decision,
    /// What decided.
    pub by: DecidedBy,
    /// A rule that would allow it, if one can.
    #[serde(skip)]
    pub remedy: Option<String>,
}

/// What became of a text of the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "check")]
#[schemars(transform = tagged("check"))]
pub struct CheckTextRecord {
    pub(crate) check: TextCheck,
    /// What the text was taken for.
    #[serde(rename = "as")]
    pub kind: TextKind,
    /// The cleaned text; empty if it was rejected.
    pub output: String,
    /// Why it was rejected; `null` if it was not.
    pub rejected: Option<TextRejection>,
}

/// What a text is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum TextKind {
    /// One line that is harmless on a terminal.
    Terminal,
    /// A label for a batch of tool calls.
    Label,
    /// A session title.
    Title,
    /// A session recap, in the tags that the prompt asks for.
    Recap,
}

/// Why a text cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum TextRejection {
    /// Nothing is left of it.
    #[error("nothing is left of it")]
    Empty,
    /// The model refused.
    #[error("it is a refusal")]
    Refusal,
    /// The tag that should surround it is not there.
    #[error("it has no `<recap>` tag")]
    NoTag,
    /// It repeats the prompt.
    #[error("it repeats an example of the prompt")]
    PromptEcho,
}

/// An input line that could not be checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "check")]
#[schemars(transform = tagged("check"))]
pub struct CheckErrorRecord {
    /// The command: `shell`, `permission` or `text`.
    pub check: String,
    /// The line, counted from 1.
    pub line: u64,
    /// What is wrong with it.
    pub error: String,
    /// The file that the line stands in, if it was given as an argument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}
