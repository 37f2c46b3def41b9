//! Questions to the user at the terminal.

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rustix::termios::{QueueSelector, tcflush};
use serde_json::Value;

use super::form_field::FormField;
use super::prompting::{CANCEL_INTERVAL, PromptResponse, Prompter, Question};
use crate::io::{CancelToken, Lock, Screen, TerminalInput, open_terminal, read_typed};
use crate::process::report_continuation;
use crate::run::tools::{FilledForm, FormUser, Input, UserForm};
use crate::text::terminal_safe_line;

/// Maximum number of lines of a call that a question shows.
const MAX_LINES: usize = 40;

/// Asks the user at the terminal, one question at a time.
pub struct TerminalPrompter {
    terminal: Mutex<File>,
    screen: Screen,
    /// Whether the process continued after a stop.
    has_continued: Arc<AtomicBool>,
}

impl TerminalPrompter {
    /// Opens the terminal of this process, which `screen` keeps free during a question.
    ///
    /// # Errors
    /// It has no terminal, or the signal handler cannot be installed.
    pub fn open(screen: Screen) -> io::Result<Self> {
        Ok(Self {
            terminal: Mutex::new(open_terminal()?),
            screen,
            has_continued: report_continuation()?,
        })
    }

    fn try_ask(
        &self,
        question: &Question<'_>,
        cancel: &CancelToken,
    ) -> io::Result<Option<PromptResponse>> {
        let mut terminal = self.terminal.lock_anyway();
        let Some(_open) = self.screen.ask(cancel) else {
            return Ok(None);
        };
        let choices = match question.rule.map(terminal_safe_line) {
            Some(rule) => format!("[y] yes, once  [a] allow {rule} for this run  [n] no: "),
            None => "[y] yes, once  [n] no: ".to_owned(),
        };
        let text = format!("\n{}\n{choices}", format_question(question));
        loop {
            // Discard input typed before the question.
            tcflush(&*terminal, QueueSelector::IFlush)?;
            self.has_continued.store(false, Ordering::Relaxed);
            terminal.write_all(text.as_bytes())?;
            while let Some(line) = self.read_line(&terminal, cancel)? {
                return Ok(Some(match (line.trim(), question.rule) {
                    ("y" | "yes", _) => PromptResponse::Allow(None),
                    ("a", Some(rule)) => PromptResponse::AllowAlways(rule.to_owned()),
                    ("n" | "no", _) => PromptResponse::Deny(None),
                    _ => {
                        terminal.write_all(choices.as_bytes())?;
                        continue;
                    }
                }));
            }
            terminal.write_all(b"\n")?;
            if !self.has_continued.load(Ordering::Relaxed) {
                return Ok(None);
            }
        }
    }

    fn try_fill(&self, form: &UserForm, cancel: &CancelToken) -> io::Result<FilledForm> {
        let mut terminal = self.terminal.lock_anyway();
        let cancel_form = || Ok(FilledForm::None("the question was cancelled".to_owned()));
        let Some(_open) = self.screen.ask(cancel) else {
            return cancel_form();
        };
        tcflush(&*terminal, QueueSelector::IFlush)?;
        let [asker, message] = [&form.asker, &form.message].map(|text| terminal_safe_line(text));
        writeln!(terminal, "\n{asker} asks: {message}\n(ctrl-d declines)")?;
        let mut content = Input::new();
        for field in FormField::parse_schema(&form.schema) {
            loop {
                self.has_continued.store(false, Ordering::Relaxed);
                terminal.write_all(field.label().as_bytes())?;
                let Some(line) = self.read_line(&terminal, cancel)? else {
                    terminal.write_all(b"\n")?;
                    if self.has_continued.load(Ordering::Relaxed) {
                        continue;
                    }
                    if cancel.is_cancelled() {
                        return cancel_form();
                    }
                    return Ok(FilledForm::Declined);
                };
                match field.parse(line.trim()) {
                    Ok(value) => {
                        content.extend(value.map(|value| (field.name.to_owned(), value)));
                        break;
                    }
                    Err(problem) => writeln!(terminal, "{problem}")?,
                }
            }
        }
        Ok(FilledForm::Accepted(content))
    }

    /// Reads a line from the terminal; `None` at the end of input, after a stop of this process, or when the
    /// question is cancelled.
    fn read_line(&self, terminal: &File, cancel: &CancelToken) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        while !cancel.is_cancelled() && !self.has_continued.load(Ordering::Relaxed) {
            match read_typed(terminal, 1, CANCEL_INTERVAL)? {
                TerminalInput::Nothing => {}
                TerminalInput::Bytes(byte) if byte == b"\n" => {
                    return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
                }
                TerminalInput::Bytes(byte) if !byte.is_empty() => line.extend(byte),
                TerminalInput::Bytes(_) | TerminalInput::Closed => break,
            }
        }
        Ok(None)
    }
}

impl Prompter for TerminalPrompter {
    fn name(&self) -> &'static str {
        "tty"
    }

    fn ask(&self, question: &Question<'_>, cancel: &CancelToken) -> PromptResponse {
        match self.try_ask(question, cancel) {
            Ok(Some(answer)) => answer,
            Ok(None) if cancel.is_cancelled() => {
                PromptResponse::None("the question was cancelled".to_owned())
            }
            Ok(None) => PromptResponse::None("the input ended before a response".to_owned()),
            Err(error) => PromptResponse::None(format!("cannot ask on the terminal: {error}")),
        }
    }
}

impl FormUser for TerminalPrompter {
    fn fill(&self, form: &UserForm, cancel: &CancelToken) -> FilledForm {
        self.try_fill(form, cancel).unwrap_or_else(|error| {
            FilledForm::None(format!("cannot ask on the terminal: {error}"))
        })
    }
}

/// Returns the call, and the reason for the question.
fn format_question(question: &Question<'_>) -> String {
    let subject = match question.input.get("command").and_then(Value::as_str) {
        Some(command) => command.to_owned(),
        // A JSON object always serializes.
        None => serde_json::to_string_pretty(question.input).unwrap_or_default(),
    };
    let mut lines: Vec<String> = subject
        .lines()
        .map(|line| format!("  {}", terminal_safe_line(line)))
        .collect();
    if lines.len() > MAX_LINES {
        let omitted = lines.len() - MAX_LINES;
        lines.truncate(MAX_LINES);
        lines.push(format!("  ... {omitted} more lines"));
    }
    let (tool, why) = (question.tool, terminal_safe_line(question.reason));
    format!("{tool} wants to run ({why}):\n{}", lines.join("\n"))
}
