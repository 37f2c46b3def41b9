//! Which parts of a message are shown.

use super::{Block, CallResult, Message, Part};
use crate::text::truncate_utf16;

/// How much of a result a summary holds, in UTF-16 units.
const SUMMARY_UNITS: usize = 300;

/// How much is shown of calls and their results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ToolDetail {
    /// Nothing.
    None,
    /// Calls, and the beginnings of results.
    Summary,
    /// Everything.
    Full,
}

/// Whether the model's thinking is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// It is.
    Shown,
    /// It is not.
    Hidden,
}

/// Which parts of a message are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    /// Calls and results.
    pub tools: ToolDetail,
    /// Thinking.
    pub thinking: Thinking,
}

impl Selection {
    /// The selected parts of a message; `None` if there are none.
    pub fn apply(self, mut message: Message) -> Option<Message> {
        let was_empty = message.blocks.is_empty();
        message.blocks.retain(|block| match block {
            Block::Text(_) | Block::Media(_) => true,
            Block::Thinking(_) => self.thinking == Thinking::Shown,
            Block::Call(_) | Block::Result(_) => self.tools != ToolDetail::None,
        });
        if self.tools == ToolDetail::Summary {
            for block in &mut message.blocks {
                if let Block::Result(result) = block {
                    shorten(result);
                }
            }
        }
        (was_empty || !message.blocks.is_empty()).then_some(message)
    }
}

/// Keeps the beginning.
fn shorten(result: &mut CallResult) {
    let mut room = SUMMARY_UNITS;
    for part in &mut result.parts {
        match part {
            Part::Text(text) => {
                let kept = truncate_utf16(text, room);
                room -= kept.encode_utf16().count();
                if kept.len() < text.len() {
                    *text = format!("{kept}…");
                }
            }
            Part::Media(media) => media.data = None,
        }
    }
}
