//! Reads the streams of agents that do not write stream-json.
//!
//! These are Codex (`codex exec --json`), Gemini CLI (`gemini --output-format stream-json`), pi
//! (`--mode json`) and opencode (`run --format json`). Claude Code and Qwen Code write stream-json
//! themselves.

use super::format::ReportedEnd;
use super::sign::{CODEX_STREAM, GEMINI_STREAM, OPENCODE_STREAM, Opening, PI_STREAM};
use super::stream::{StreamConversation, StreamItem};
use super::{codex_stream, gemini_stream, opencode_stream, pi_stream};

/// Reads rows in order.
#[derive(Debug, Default)]
pub(crate) struct StreamReader {
    conversation: StreamConversation,
    codex: codex_stream::Rows,
    gemini: gemini_stream::Rows,
}

/// The content of a row.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// Its items, and items of earlier rows that end here.
    pub(crate) items: Vec<StreamItem>,
    /// Whether the row has no other content.
    pub(crate) is_all: bool,
}

impl StreamReader {
    /// Sets the prefix of generated message ids.
    pub(crate) fn set_message_ids(&mut self, prefix: String) {
        self.conversation.set_message_ids(prefix);
    }

    /// Reads a row of the type `kind` in a stream with this opening.
    pub(crate) fn row(&mut self, kind: &str, row: &str, opening: Option<&Opening>) -> Row {
        let conversation = &mut self.conversation;
        if opening != Some(&Opening::Foreign(GEMINI_STREAM)) {
            self.gemini.end_text(conversation);
        }
        let is_all = match opening {
            Some(Opening::Foreign(CODEX_STREAM)) => self.codex.row(kind, row, conversation),
            Some(Opening::Foreign(GEMINI_STREAM)) => self.gemini.row(kind, row, conversation),
            Some(Opening::Foreign(OPENCODE_STREAM)) => {
                opencode_stream::row(kind, row, conversation)
            }
            Some(Opening::Foreign(PI_STREAM)) => pi_stream::row(kind, row, conversation),
            _ => None,
        };
        Row {
            items: conversation.take_items(),
            is_all: is_all.is_some(),
        }
    }

    /// Takes the end of the run, if the last row says so.
    pub(super) fn take_end(&mut self) -> Option<ReportedEnd> {
        self.conversation.end.take()
    }

    /// Returns the text that was incomplete at the end of the input.
    pub(crate) fn finish(&mut self) -> Option<StreamItem> {
        self.gemini.end_text(&mut self.conversation);
        self.conversation.take_items().pop()
    }
}
