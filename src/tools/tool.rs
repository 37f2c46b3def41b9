//! The trait of tools and of their calls, and the results of calls.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::access::AccessError;
use super::{Access, CallContext, DecisionContext, Input, Touch};
use crate::permission::Action;
use crate::process::Captured;
pub use crate::records::{ImageSource as Image, ResultBlock as Block, ResultContent as Content};

/// A tool that the model can call.
pub trait Tool: Send + Sync {
    /// The name in declarations and records.
    fn name(&self) -> &str;

    /// The description for the model.
    fn description(&self) -> &str;

    /// The JSON Schema of the input, which is an object.
    fn input_schema(&self) -> &Value;

    /// Whether the schema is not listed but returned by `ToolSearch`.
    fn is_deferred(&self) -> bool {
        false
    }

    /// The effect of an interrupt on a running call.
    fn interrupt(&self) -> InterruptBehavior {
        InterruptBehavior::Cancel
    }

    /// Whether a failed call affects the other calls of its batch.
    fn kind(&self) -> ToolKind {
        ToolKind::Independent
    }

    /// The maximum size of an inline result.
    fn result_limit(&self) -> ResultLimit {
        ResultLimit::Default
    }

    /// Parses and analyses an input that matches the schema. Has no side effects.
    ///
    /// # Errors
    /// The input is invalid. The call does not run, and the model gets the reason.
    fn prepare(&self, input: &Input) -> Result<Box<dyn PreparedCall>, InvalidInput>;
}

/// A prepared call. Paths are resolved when they are needed, because the working directory may change before the
/// call starts.
pub trait PreparedCall: Send + Sync {
    /// Returns the access of the call if it starts now.
    fn assess(&self, context: &DecisionContext) -> Assessment;

    /// Runs the call on the current thread until it ends or `call.cancel` fires.
    ///
    /// # Errors
    /// The call failed without a structured output.
    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure>;
}

/// The access of a call, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assessment {
    /// The access.
    pub access: Access,
    /// The reason, on one line.
    pub why: String,
    /// The effects, for permission decisions.
    pub action: Action,
}

impl Assessment {
    /// Assesses a call of the tool `name` that reads the file or tree at `path` (absolute).
    pub(super) fn reading(name: &str, path: PathBuf) -> Self {
        let access = Access::reading(&path);
        let action = Action::Files {
            reads: vec![path],
            writes: Vec::new(),
        };
        Self::of(name, access, action)
    }

    /// Assesses a call of the tool `name` that changes the file at `path` (absolute).
    pub(super) fn writing(name: &str, path: PathBuf) -> Self {
        let access = Access::writing(&path);
        let action = Action::Files {
            reads: Vec::new(),
            writes: vec![path],
        };
        Self::of(name, access, action)
    }

    /// Assesses a call of the tool `name` by its access. A call without a known access may change everything.
    pub(super) fn of(name: &str, access: Result<Access, AccessError>, action: Action) -> Self {
        let (access, why) = match access {
            Ok(access) if access.is_read_only() => (access, format!("{name} only reads")),
            Ok(access) if access.writes == Touch::Everything => {
                (access, format!("{name} may change anything"))
            }
            Ok(access) => (access, format!("{name} writes")),
            Err(error) => (
                Access::everything(),
                format!("{name} cannot be analysed: {error}"),
            ),
        };
        Self {
            access,
            why,
            action,
        }
    }
}

/// The effect of an interrupt on a running call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InterruptBehavior {
    /// The call is cancelled.
    Cancel,
    /// The call runs to its end.
    Block,
}

/// Whether the calls of a tool depend on each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// A shell: after a failed command, later ones are likely to fail.
    Shell,
    /// Any other tool.
    Independent,
}

/// The maximum size of an inline result, in UTF-16 units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultLimit {
    /// The global limit.
    Default,
    /// This limit, or the global one if it is lower.
    Characters(usize),
    /// This limit, even if the global one is lower.
    Raised(usize),
    /// No limit: the tool limits its results.
    Unlimited,
}

/// Tools that are looked up on demand, such as tools of MCP servers.
pub trait ToolSource: Send + Sync {
    /// Whether [`ToolSource::find`] may have to wait for this name.
    fn is_slow(&self, name: &str) -> bool;

    /// Returns the tool with this name, if any. May wait for a server.
    ///
    /// # Errors
    /// The source does not respond.
    fn find(&self, name: &str) -> Result<Option<Arc<dyn Tool>>, Unavailable>;

    /// Returns all tools, sorted by name. May wait for servers.
    fn tools(&self) -> Vec<Arc<dyn Tool>>;

    /// Ends everything that was started.
    fn end(&self);
}

/// An error: the source does not respond.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// The result of a call that ran.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolReply {
    /// The status of the call.
    pub status: CallStatus,
    /// The content for the model.
    pub content: Content,
    /// The structured output (`tool_use_result`), in the format of the same tool of Claude Code.
    pub structured: Value,
    /// Changes for later calls.
    pub changes: Vec<ContextChange>,
    /// Whether a failure cancels the other calls of the batch under `--on-error cancel-shell`: set for shell
    /// commands that are not read-only.
    pub cancels_siblings: bool,
    /// The full output if `content` is an excerpt. It is written to a file if the result is too large to stay
    /// inline.
    pub full: Option<FullText>,
}

impl ToolReply {
    /// Creates a successful text result.
    pub fn text(content: impl Into<String>, structured: Value) -> Self {
        Self {
            status: CallStatus::Ok,
            content: Content::Text(content.into()),
            structured,
            changes: Vec::new(),
            cancels_siblings: false,
            full: None,
        }
    }
}

/// A change of the session for later calls.
#[derive(Debug, Clone, PartialEq)]
pub enum ContextChange {
    /// The shell's working directory.
    Directory(PathBuf),
    /// The to-do list.
    Todos(Value),
}

/// An invalid input. The message is for the model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidInput(pub String);

/// A failure of a tool. The message is for the model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolFailure(pub String);

/// The status of a call that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallStatus {
    /// Success.
    Ok,
    /// Failure. The content has the reason.
    Error,
    /// The timeout expired.
    TimedOut,
    /// The call was cancelled. The content has the output so far.
    Cancelled,
}

impl Content {
    /// Returns the approximate size in memory, in bytes.
    pub fn weight(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Blocks(blocks) => {
                let weights = blocks.iter().map(|block| match block {
                    Block::Text { text } => text.len(),
                    Block::Image { source } => source.data.len(),
                });
                weights.sum()
            }
        }
    }
}

/// The complete streams of an excerpt. Cheap to clone.
#[derive(Debug, Clone)]
pub struct FullText {
    streams: Arc<[Captured]>,
}

impl FullText {
    /// Creates the text from streams in reading order, usually standard output and standard error.
    pub fn of(streams: impl IntoIterator<Item = Captured>) -> Self {
        Self {
            streams: streams.into_iter().collect(),
        }
    }

    /// Returns the number of output bytes that were kept. [`Self::write_to`] writes a few more to separate
    /// streams and mark gaps.
    pub fn bytes(&self) -> u64 {
        self.streams.iter().map(Captured::kept_bytes).sum()
    }

    /// Writes all streams unchanged, one after the other, each at the start of a line, in constant memory.
    /// Returns the number of bytes.
    ///
    /// # Errors
    /// A spilled stream cannot be read, or `target` cannot be written.
    pub fn write_to(&self, target: &mut dyn Write) -> io::Result<u64> {
        let mut target = target;
        let mut written = 0;
        let mut ends_line = true;
        for stream in self.streams.iter().filter(|stream| !stream.is_empty()) {
            if !ends_line {
                target.write_all(b"\n")?;
                written += 1;
            }
            written += stream.write_to(&mut target)?;
            ends_line = stream.suffix(1)? == b"\n";
        }
        Ok(written)
    }
}

/// Compares identity, not content.
impl PartialEq for FullText {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.streams, &other.streams)
    }
}
