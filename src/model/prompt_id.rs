//! Which service a call is made for.

use std::borrow::Cow;
use std::fmt;

/// Names the prompt that a request is made from; its tokens are accounted under it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PromptId(Cow<'static, str>);

impl PromptId {
    /// A label for a batch of tool calls.
    pub const TOOL_USE_SUMMARY: Self = Self::fixed("tool_use_summary_generation");
    /// A title for a session.
    pub const SESSION_TITLE: Self = Self::fixed("session_title");
    /// A recap for somebody who was away.
    pub const SESSION_RECAP: Self = Self::fixed("session_recap");

    const fn fixed(id: &'static str) -> Self {
        Self(Cow::Borrowed(id))
    }

    /// A prompt with another id.
    pub fn new(id: impl Into<String>) -> Self {
        Self(Cow::Owned(id.into()))
    }

    /// The id as records carry it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PromptId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
