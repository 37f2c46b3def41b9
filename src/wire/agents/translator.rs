//! Which agent's rows are to be translated, and what is remembered between them.

use super::conversation::Conversation;
use super::{codex, gemini, opencode, pi};
use crate::wire::Opening;
use crate::wire::foreign::{CODEX_STREAM, GEMINI_STREAM, OPENCODE_STREAM, PI_STREAM};

/// Translates rows one after the other.
#[derive(Debug, Default)]
pub(in crate::wire) struct Translator {
    conversation: Conversation,
    codex: codex::Rows,
    gemini: gemini::Rows,
}

/// What a row stands for.
#[derive(Debug, Default)]
pub(in crate::wire) struct Translation {
    /// The records in its place, or before it.
    pub(in crate::wire) records: Vec<String>,
    /// Whether the row says nothing else.
    pub(in crate::wire) is_all: bool,
}

impl Translator {
    /// Sets how the ids of messages begin whose agent gives them none.
    pub(in crate::wire) fn set_message_ids(&mut self, prefix: String) {
        self.conversation.set_message_ids(prefix);
    }

    /// What a row of the type `kind` stands for in a stream that began like this.
    pub(in crate::wire) fn row(
        &mut self,
        kind: &str,
        row: &str,
        opening: Option<&Opening>,
    ) -> Translation {
        let conversation = &mut self.conversation;
        if opening != Some(&Opening::Foreign(GEMINI_STREAM)) {
            self.gemini.end_text(conversation);
        }
        let is_all = match opening {
            Some(Opening::Foreign(CODEX_STREAM)) => self.codex.row(kind, row, conversation),
            Some(Opening::Foreign(GEMINI_STREAM)) => self.gemini.row(kind, row, conversation),
            Some(Opening::Foreign(OPENCODE_STREAM)) => opencode::row(kind, row, conversation),
            Some(Opening::Foreign(PI_STREAM)) => pi::row(kind, row, conversation),
            _ => None,
        };
        Translation {
            records: conversation.take_records(),
            is_all: is_all.is_some(),
        }
    }

    /// The record of a text whose end the input did not reach.
    pub(in crate::wire) fn finish(&mut self) -> Option<String> {
        self.gemini.end_text(&mut self.conversation);
        self.conversation.take_records().pop()
    }
}
