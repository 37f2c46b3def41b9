//! From a record's bytes to events.

use super::Event;

/// A vocabulary for tool calls and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Dialect {
    /// stream-json and Anthropic messages.
    Anthropic,
    /// `OpenAI` chat completions.
    Openai,
    /// Gemini contents, Qwen Code session parts.
    Gemini,
}

/// Needles of which at least one occurs in every record that can yield an event, whatever its
/// spelling (escapes of ASCII letters, `\u00..`, are needles themselves).
pub fn prefilter_needles() -> &'static [&'static str] {
    &["\"type\""]
}

/// Needles of which at least one occurs in every record that yields a result.
pub fn result_needles() -> &'static [&'static str] {
    &["tool_result", "tool_call_id", "functionResponse", "\\u00"]
}

/// Decodes records one after the other and joins streamed deltas. Sans-I/O.
#[derive(Debug, Default)]
pub struct Decoder {
    pinned: Option<Dialect>,
}

impl Decoder {
    /// Tells the dialect line by line.
    pub fn detecting() -> Self {
        Self::default()
    }

    /// Reads one dialect only.
    pub fn pinned(dialect: Dialect) -> Self {
        Self {
            pinned: Some(dialect),
        }
    }

    /// The events of one record. A record that is understood by no dialect has none.
    pub fn record(&mut self, record: &str) -> Vec<Event> {
        let _ = (record, self.pinned);
        Vec::new()
    }

    /// The events of the end of the input: open streamed calls are cut off, the turn ends.
    pub fn finish(&mut self) -> Vec<Event> {
        Vec::new()
    }
}
