//! The displayed messages of a conversation, and their displayed parts.

use std::str::FromStr;

use crate::agent::parse_shell_output;
use crate::message::{Block, Message, Origin, ResultPart, ToolResult};
use crate::text::{fit_columns, terminal_safe_line, truncate_utf16};

/// Maximum length of a result in summaries, in UTF-16 units.
const SUMMARY_UNITS: usize = 300;

/// Width of a folded text, in columns.
const FOLDED_COLUMNS: usize = 80;

/// The detail of calls and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ToolDetail {
    /// Hidden.
    None,
    /// Calls, and the start of results.
    Summary,
    /// Neighbouring calls under one heading.
    Grouped,
    /// Everything.
    Full,
    /// Only calls that changed files, as diffs.
    Edits,
}

/// The display of the model's thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingDisplay {
    Shown,
    Hidden,
}

/// The display of texts injected by an agent, e.g. reminders and skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectedDetail {
    /// One line.
    Folded,
    /// Everything.
    Full,
}

/// The displayed parts of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DisplayOptions {
    /// Calls and results.
    pub tools: ToolDetail,
    pub thinking: ThinkingDisplay,
    /// Injected texts.
    pub context: InjectedDetail,
    /// Whether text that looks like a key or a password is masked.
    pub redact: bool,
}

impl DisplayOptions {
    /// Removes the hidden parts of a message; `None` if nothing is left.
    pub fn apply(self, mut message: Message) -> Option<Message> {
        // A subagent is a part of the call that started it.
        if self.tools == ToolDetail::None && message.parent_call.is_some() {
            return None;
        }
        let was_empty = message.blocks.is_empty();
        message.blocks.retain(|block| match block {
            Block::Text(_) | Block::Media(_) => true,
            Block::Thinking(_) => self.thinking == ThinkingDisplay::Shown,
            Block::Call(_) | Block::Result(_) => self.tools != ToolDetail::None,
        });
        let is_folded =
            self.context == InjectedDetail::Folded && message.origin == Origin::Injected;
        // First, because a truncated secret may not be recognised.
        if self.redact {
            message.redact();
        }
        for block in &mut message.blocks {
            match block {
                Block::Result(result)
                    if matches!(self.tools, ToolDetail::Summary | ToolDetail::Grouped) =>
                {
                    shorten(result);
                }
                Block::Text(text) if is_folded => *text = fold_line(text),
                _ => {}
            }
        }
        (was_empty || !message.blocks.is_empty()).then_some(message)
    }
}

/// Folds a text to one line: its start and its number of lines.
pub(super) fn fold_line(text: &str) -> String {
    let beginning = terminal_safe_line(truncate_utf16(text.trim_start(), SUMMARY_UNITS));
    let words: Vec<&str> = beginning.split_whitespace().collect();
    let line = fit_columns(&words.join(" "), FOLDED_COLUMNS);
    match text.trim().lines().count() {
        0 | 1 => line,
        lines => format!("{line} ({lines} lines)"),
    }
}

/// Keeps the start of a result.
fn shorten(result: &mut ToolResult) {
    if let Some(ResultPart::Text(text)) = result.parts.first_mut()
        && let Some(shell) = parse_shell_output(text)
    {
        *text = match (shell.code, shell.duration) {
            (Some(0) | None, _) => shell.output.to_owned(),
            (Some(code), None) => format!("exit code {code}\n{}", shell.output),
            (Some(code), Some(time)) => format!("exit code {code}, {time}\n{}", shell.output),
        };
    }
    let mut remaining = SUMMARY_UNITS;
    for part in &mut result.parts {
        match part {
            ResultPart::Text(text) => {
                let kept = truncate_utf16(text, remaining);
                remaining -= kept.encode_utf16().count();
                if kept.len() < text.len() {
                    *text = format!("{kept}…");
                }
            }
            ResultPart::Media(media) => media.data = None,
        }
    }
}

/// Messages from one to another, counted from 1, or from the end if negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageRange {
    first: i64,
    last: i64,
}

impl FromStr for MessageRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse_number = |text: &str| match text.parse::<i64>() {
            Ok(0) => Err("messages are numbered from 1".to_owned()),
            Ok(number) => Ok(number),
            Err(_) => Err("not a range of messages, such as 3..7".to_owned()),
        };
        let Some((first, last)) = text.split_once("..") else {
            let only = parse_number(text)?;
            return Ok(Self {
                first: only,
                last: only,
            });
        };
        let parse_end = |text: &str, default: i64| match text {
            "" => Ok(default),
            text => parse_number(text),
        };
        let (first, last) = (parse_end(first, 1)?, parse_end(last, i64::MAX)?);
        if last < first && (last < 0) == (first < 0) {
            return Err("the range ends before it starts".to_owned());
        }
        Ok(Self { first, last })
    }
}

impl MessageRange {
    /// Whether the total number of messages is needed.
    pub fn counts_from_the_end(self) -> bool {
        self.first < 0 || self.last < 0
    }

    /// Returns the range in a dialog of `total` messages.
    #[must_use]
    pub fn resolve(self, total: u64) -> Self {
        let total = i64::try_from(total).unwrap_or(i64::MAX);
        let from_start = |number: i64| {
            if number < 0 {
                total.saturating_add(number).saturating_add(1).max(0)
            } else {
                number
            }
        };
        Self {
            first: from_start(self.first),
            last: from_start(self.last),
        }
    }

    /// Whether the message with this number comes before the range.
    pub fn is_before(self, number: u64) -> bool {
        i64::try_from(number).is_ok_and(|number| number < self.first)
    }

    /// Whether the message comes after the range.
    pub fn is_after(self, number: u64) -> bool {
        i64::try_from(number).is_ok_and(|number| number > self.last)
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
            assert_eq!(fold_line(text), expected, "{text}");
        }
    }

    #[test]
    fn ranges_count_from_either_end() {
        let rows: [(&str, &[u64]); 9] = [
            ("3", &[3]),
            ("2..4", &[2, 3, 4]),
            ("4..", &[4, 5]),
            ("..2", &[1, 2]),
            ("-2..", &[4, 5]),
            ("-9..1", &[1]),
            ("..-4", &[1, 2]),
            ("-1", &[5]),
            ("9..", &[]),
        ];
        for (text, expected) in rows {
            let range: MessageRange = text.parse().unwrap();
            let range = range.resolve(5);
            let inside = |number: &u64| !range.is_before(*number) && !range.is_after(*number);
            let kept: Vec<u64> = (1..=5).filter(inside).collect();
            assert_eq!(kept, expected, "{text}");
        }
        for text in ["", "0", "a", "1..b", "1-2", "5..2", "-2..-5"] {
            assert!(text.parse::<MessageRange>().is_err(), "{text}");
        }
    }
}
