//! Results of tools.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use crate::process::Captured;
pub use crate::records::{ImageSource as Image, ResultBlock as Block, ResultContent as Content};

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
    /// The full output if `content` is an excerpt. It is written to a file if the result is too large to be
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
