//! Which parts of a message are shown.

use crate::message::{Block, Message, Origin, ResultPart, ToolResult};
use crate::text::{fitted, terminal_safe_line, truncate_utf16};

/// How much of a result a summary holds, in UTF-16 units.
const SUMMARY_UNITS: usize = 300;

/// How much of a folded text is shown, in columns.
const FOLDED_COLUMNS: usize = 80;

/// How much is shown of calls and their results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
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

/// How much is shown of what an agent put into messages, e.g. reminders and the texts of skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Injected {
    /// One line.
    Folded,
    /// Everything.
    Full,
}

/// Which parts of a message are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    /// Calls and results.
    pub tools: ToolDetail,
    /// Thinking.
    pub thinking: Thinking,
    /// What an agent put in.
    pub context: Injected,
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
        let is_folded = self.context == Injected::Folded && message.origin == Origin::Injected;
        for block in &mut message.blocks {
            match block {
                Block::Result(result) if self.tools == ToolDetail::Summary => shorten(result),
                Block::Text(text) if is_folded => *text = folded(text),
                _ => {}
            }
        }
        (was_empty || !message.blocks.is_empty()).then_some(message)
    }
}

/// A text on one line: its beginning, and how many lines it has.
pub(super) fn folded(text: &str) -> String {
    let beginning = terminal_safe_line(truncate_utf16(text.trim_start(), SUMMARY_UNITS));
    let words: Vec<&str> = beginning.split_whitespace().collect();
    let line = fitted(&words.join(" "), FOLDED_COLUMNS);
    match text.trim().lines().count() {
        0 | 1 => line,
        lines => format!("{line} ({lines} lines)"),
    }
}

/// Keeps the beginning.
fn shorten(result: &mut ToolResult) {
    let mut room = SUMMARY_UNITS;
    for part in &mut result.parts {
        match part {
            ResultPart::Text(text) => {
                let kept = truncate_utf16(text, room);
                room -= kept.encode_utf16().count();
                if kept.len() < text.len() {
                    *text = format!("{kept}…");
                }
            }
            ResultPart::Media(media) => media.data = None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folded_text_is_one_line() {
        let long = "ä".repeat(400);
        let rows = [
            ("", String::new()),
            ("one\n", "one".to_owned()),
            (
                "<skill>\n\n  Read\u{1b}[2J it\nnow\n",
                "<skill> Read it now (4 lines)".to_owned(),
            ),
            (&long, format!("{}…", "ä".repeat(79))),
        ];
        for (text, expected) in rows {
            assert_eq!(folded(text), expected, "{text}");
        }
    }
}
