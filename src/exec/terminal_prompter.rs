//! Questions to the user at the terminal.

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::Mutex;

use rustix::termios::{QueueSelector, tcflush};
use serde_json::Value;

use super::prompting::{CANCEL_INTERVAL, PromptResponse, Prompter, Question};
use crate::io::{CancelToken, Lock, Typed, open_terminal, read_typed};
use crate::text::terminal_safe_line;

/// Maximum number of lines of a call that a question shows.
const MAX_LINES: usize = 40;

/// Asks the user at the terminal, one question at a time.
pub struct TerminalPrompter {
    terminal: Mutex<File>,
}

impl TerminalPrompter {
    /// Opens the terminal of this process.
    ///
    /// # Errors
    /// It has no terminal.
    pub fn open() -> io::Result<Self> {
        Ok(Self {
            terminal: Mutex::new(open_terminal()?),
        })
    }
}

impl Prompter for TerminalPrompter {
    fn name(&self) -> &'static str {
        "tty"
    }

    fn ask(&self, question: &Question<'_>, cancel: &CancelToken) -> PromptResponse {
        let mut terminal = self.terminal.locked();
        match ask(&mut terminal, question, cancel) {
            Ok(answer) => answer,
            Err(error) => PromptResponse::None(format!("cannot ask on the terminal: {error}")),
        }
    }
}

fn ask(
    terminal: &mut File,
    question: &Question<'_>,
    cancel: &CancelToken,
) -> io::Result<PromptResponse> {
    let rule = question.rule.map(terminal_safe_line);
    let choices = match rule {
        Some(rule) => format!("[y] yes, once  [a] allow {rule} for this run  [n] no"),
        None => "[y] yes, once  [n] no".to_owned(),
    };
    let shown = shown(question);
    // Discard input typed before the question.
    tcflush(&*terminal, QueueSelector::IFlush)?;
    write!(terminal, "\n{shown}\n{choices}: ")?;
    loop {
        let Some(line) = read_line(terminal, cancel)? else {
            writeln!(terminal)?;
            return Ok(PromptResponse::None(
                "the question was cancelled".to_owned(),
            ));
        };
        return Ok(match (line.trim(), question.rule) {
            ("y" | "yes", _) => PromptResponse::Allow(None),
            ("a", Some(rule)) => PromptResponse::AllowAlways(rule.to_owned()),
            ("n" | "no", _) => PromptResponse::Deny(None),
            _ => {
                write!(terminal, "{choices}: ")?;
                continue;
            }
        });
    }
}

/// Returns the call, and the reason for the question.
fn shown(question: &Question<'_>) -> String {
    let subject = match question.input.get("command").and_then(Value::as_str) {
        Some(command) => command.to_owned(),
        None => serde_json::to_string_pretty(question.input).unwrap_or_default(),
    };
    let mut lines: Vec<String> = subject
        .lines()
        .map(|line| format!("  {}", terminal_safe_line(line)))
        .collect();
    if lines.len() > MAX_LINES {
        let left_out = lines.len() - MAX_LINES;
        lines.truncate(MAX_LINES);
        lines.push(format!("  ... {left_out} more lines"));
    }
    let (tool, why) = (question.tool, terminal_safe_line(question.reason));
    format!("{tool} wants to run ({why}):\n{}", lines.join("\n"))
}

/// Reads a line from the terminal; `None` at the end of input or when the question is cancelled.
fn read_line(terminal: &File, cancel: &CancelToken) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    while !cancel.is_cancelled() {
        match read_typed(terminal, 1, CANCEL_INTERVAL)? {
            Typed::Nothing => {}
            Typed::Bytes(byte) if byte == b"\n" => {
                return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
            }
            Typed::Bytes(byte) if !byte.is_empty() => line.extend(byte),
            Typed::Bytes(_) | Typed::Closed => break,
        }
    }
    Ok(None)
}
