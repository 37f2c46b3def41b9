//! Permission prompts, and questions on the terminal.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush};
use serde_json::Value;

use crate::cmd::UsageError;
use crate::exec::{Channels, PromptResponse, Prompter, Question, ToolPrompter};
use crate::io::{CancelToken, Ids};
use crate::text::terminal_safe_line;
use crate::tools::{Registry, ToolContext};

/// Interval at which a pending question checks for cancellation.
const POLL_INTERVAL: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

/// Maximum number of lines of a call that a question shows.
const MAX_LINES: usize = 40;

/// The party that approves calls that no rule allows or denies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PermissionPrompt {
    /// None: such calls are denied.
    Deny,
    /// The user at the terminal.
    Tty,
    /// The program that reads the records and writes the input.
    Stdio,
    /// A tool of an MCP server.
    Tool(String),
}

impl FromStr for PermissionPrompt {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "deny" => Ok(Self::Deny),
            "tty" => Ok(Self::Tty),
            "stdio" => Ok(Self::Stdio),
            tool if tool.starts_with("mcp__") => Ok(Self::Tool(tool.to_owned())),
            _ => Err("expected deny, tty, stdio or mcp__SERVER__TOOL"),
        }
    }
}

impl PermissionPrompt {
    /// Returns the prompter; `None` if calls are denied.
    ///
    /// # Errors
    /// There is no terminal, or no server is configured for the tool.
    pub(crate) fn prompter(
        &self,
        channels: &Channels,
        ids: &Arc<dyn Ids>,
        registry: &Arc<Registry>,
        session: &ToolContext,
    ) -> Result<Option<Box<dyn Prompter>>, UsageError> {
        Ok(match self {
            Self::Deny => None,
            Self::Tty => Some(Box::new(TerminalPrompter::open()?)),
            Self::Stdio => Some(Box::new(channels.prompter(Arc::clone(ids)))),
            // Its server has not started yet.
            Self::Tool(tool) if registry.slow_name(tool).is_some() => {
                Some(Box::new(ToolPrompter {
                    registry: Arc::clone(registry),
                    tool: tool.clone(),
                    session: session.clone(),
                }))
            }
            Self::Tool(tool) => {
                let problem = format!("--permission-prompt {tool}: no such server");
                return Err(UsageError::new(problem)
                    .with_hint("name the file that configures the server with `--mcp-config`"));
            }
        })
    }
}

/// Asks the user at the terminal, one question at a time.
struct TerminalPrompter {
    terminal: Mutex<File>,
}

impl TerminalPrompter {
    /// Opens the terminal of this process.
    ///
    /// # Errors
    /// It has no terminal.
    fn open() -> Result<Self, UsageError> {
        let terminal = File::options().read(true).write(true).open("/dev/tty");
        let terminal = terminal.map_err(|error| {
            UsageError::new(format!("--permission-prompt tty: no terminal: {error}"))
                .with_hint("allow calls by rules instead: `--allow 'Bash(npm test)'`")
        })?;
        Ok(Self {
            terminal: Mutex::new(terminal),
        })
    }
}

impl Prompter for TerminalPrompter {
    fn name(&self) -> &'static str {
        "tty"
    }

    fn ask(&self, question: &Question<'_>, cancel: &CancelToken) -> PromptResponse {
        let mut terminal = self.terminal.lock().unwrap_or_else(PoisonError::into_inner);
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
fn read_line(terminal: &mut File, cancel: &CancelToken) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    while !cancel.is_cancelled() {
        let mut set = [PollFd::new(&*terminal, PollFlags::IN)];
        match poll(&mut set, Some(&POLL_INTERVAL)) {
            Ok(0) | Err(Errno::INTR) => continue,
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut byte = [0];
        if terminal.read(&mut byte)? == 0 {
            return Ok(None);
        }
        if byte[0] == b'\n' {
            return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
        }
        line.push(byte[0]);
    }
    Ok(None)
}
