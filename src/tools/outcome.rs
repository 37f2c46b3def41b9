//! What a tool gives back.

use serde_json::Value;

use super::{ContextChange, FullText};

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

    /// A reply that reports a failure of the tool itself.
    pub fn error(content: impl Into<String>, structured: Value) -> Self {
        Self {
            status: CallStatus::Error,
            ..Self::text(content, structured)
        }
    }
}

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

/// The content of a result.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text.
    Text(String),
    /// An image, after an optional text.
    Image {
        /// A text block before the image; empty for none.
        text: String,
        /// The image.
        image: ImageBlock,
    },
}

/// An image as base64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageBlock {
    /// e.g. `image/png`.
    pub media_type: &'static str,
    /// Base64 of the bytes.
    pub data: String,
}
