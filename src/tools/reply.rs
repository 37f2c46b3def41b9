//! What a tool gives back.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use crate::process::Captured;
pub use crate::records::{ImageSource as Image, ResultBlock as Block, ResultContent as Content};

/// The end of one call that ran.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolReply {
    /// How it went.
    pub status: CallStatus,
    /// What the model sees.
    pub content: Content,
    /// The structured output (`tool_use_result`), of the shape that Claude Code gives the tool's.
    pub structured: Value,
    /// What it changes for later calls.
    pub changes: Vec<ContextChange>,
    /// A failing call with this set cancels its siblings under `--on-error cancel-shell`: a shell
    /// command that is not read-only.
    pub cancels_siblings: bool,
    /// The whole output, if `content` is only an excerpt of it: what is written to a file when the
    /// result is too large to stay inline. `None`: the content is all there is.
    pub full: Option<FullText>,
}

impl ToolReply {
    /// A successful text reply without further effects.
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

/// What a call changes for the calls after it.
#[derive(Debug, Clone, PartialEq)]
pub enum ContextChange {
    /// The shell's working directory.
    Directory(PathBuf),
    /// The to-do list.
    Todos(Value),
}

/// An input makes no sense; the text is for the model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidInput(pub String);

/// A tool failed; the text is for the model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolFailure(pub String);

/// How a call that ran went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallStatus {
    /// It did what was asked.
    Ok,
    /// It failed; the content says how.
    Error,
    /// Its time was up.
    TimedOut,
    /// It was ended by its cancel token; the content holds what it had done so far.
    Cancelled,
}

impl Content {
    /// About how much memory it takes, in bytes.
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

/// Streams of which the content of a reply shows only an excerpt. Cheap to clone.
#[derive(Debug, Clone)]
pub struct FullText {
    streams: Arc<[Captured]>,
}

impl FullText {
    /// The streams in the order in which they are to be read, usually stdout, stderr.
    pub fn of(streams: impl IntoIterator<Item = Captured>) -> Self {
        Self {
            streams: streams.into_iter().collect(),
        }
    }

    /// How many bytes the child printed that were kept. [`Self::write_to`] writes a few more if
    /// streams have to be separated or gaps marked.
    pub fn bytes(&self) -> u64 {
        self.streams.iter().map(Captured::kept_bytes).sum()
    }

    /// Writes all of it, bytes as the child wrote them, one stream after the other, each beginning
    /// on its own line. Memory does not grow with the length. Returns the number of bytes
    /// written.
    ///
    /// # Errors
    /// A spilled stream could not be read back, or `target` could not be written.
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

/// The same streams, not streams of the same content.
impl PartialEq for FullText {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.streams, &other.streams)
    }
}
