//! `hook`: decides about a call as the permission hook of another agent.
//!
//! When in doubt it prints nothing, and the agent proceeds as if no hook were installed.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush};
use serde_json::Value;

use super::guards::{CallDecisions, permissions};
use crate::agent::Agent;
use crate::cmd::inputs::take_stdin;
use crate::cmd::{Globals, Run, Status, UsageError, output};
use crate::config::{PermissionFlags, project_directory};
use crate::exec::{Channels, PromptResponse, Prompter, Question, ToolPrompter};
use crate::hooks::{AgentHookInput, log_decision};
use crate::io::{CancelToken, Ids, Io};
use crate::jsonl::replace_lone_surrogates;
use crate::message::Decision;
use crate::permission::{Decided, Mode};
use crate::text::terminal_safe_line;
use crate::tools::{Registry, ShellDialect, ShellGuarantees, ToolContext, WriteProtection};

/// Maximum input length, in bytes.
const INPUT_LIMIT: u64 = 64 * 1024 * 1024;

/// Respond to the permission hook of another agent
///
/// Reads the hook input of an agent (see `turnpipe hook install`), and responds in that agent's format.
/// Read-only commands and calls that rules allow are allowed; calls that match deny or ask rules are denied or
/// asked about; for all others nothing is printed, and the agent decides. No settings are read unless
/// `--settings` names them. If settings or the configuration are invalid, calls are denied. On any other error
/// the agent proceeds as if no hook were installed.
#[derive(Debug, Args)]
pub(crate) struct HookArguments {
    /// Also allow commands that are read-only according to the analysis alone
    ///
    /// Examples are `git log | head`, `find -name` and `sed -n 1,9p`. In `run-tools` the kernel prevents
    /// them from writing; in other agents nothing does.
    #[arg(long)]
    trust_analysis: bool,
    /// The shell that runs the agent's commands
    ///
    /// Defaults to bash for Qwen Code, Gemini CLI, Copilot CLI and pi, and for others but Codex if `$SHELL` is bash;
    /// otherwise to any. With `any`, bash, zsh and dash must read a command alike.
    #[arg(long, value_enum, value_name = "SHELL")]
    shell: Option<HookShell>,
    /// The agent that asks, for the log and the shell [default: as the call shows]
    #[arg(long, value_enum, value_name = "NAME", hide_possible_values = true)]
    agent: Option<Agent>,
    /// Append a record of each decision to this file
    ///
    /// Secrets are masked. `turnpipe hook explain` shows the records in words. A failure to write is reported
    /// on standard error and changes no decision.
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    #[command(flatten)]
    permissions: PermissionFlags,
}

/// A shell that may run an agent's commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HookShell {
    /// Bash
    Bash,
    /// Bash, zsh or dash
    Any,
}

impl Run for HookArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let mut text = String::new();
        let stdin = take_stdin(io)?;
        stdin
            .take(INPUT_LIMIT)
            .read_to_string(&mut text)
            .context("cannot read standard input")?;
        if text.trim().is_empty() {
            let problem = "standard input is empty; expected the call";
            return Err(UsageError::new(problem).into());
        }
        let text = replace_lone_surrogates(&text).unwrap_or(text);
        let input: AgentHookInput = serde_json::from_str(&text)
            .map_err(|error| UsageError::reason(error).about("invalid hook input"))?;
        if !input.cwd.is_absolute() {
            return Err(UsageError::new("invalid hook input: `cwd` is not absolute").into());
        }
        let project = project_directory(&io.environment).unwrap_or_else(|| input.cwd.clone());
        let mode = if input.is_planning() {
            Mode::Plan
        } else {
            self.permissions.mode.unwrap_or_default()
        };
        let settings = match permissions(&self.permissions, &project, globals, io) {
            Ok(settings) => settings,
            // Without its deny rules the hook denies; `PermissionRequest` asks the user anyway.
            Err(problem) if !input.asks_user() => {
                let reason = format!("turnpipe cannot apply its rules: {problem}");
                problem.report(&io.messages);
                let answer = input.denial(&reason);
                return self.respond(&input, Err(&reason), answer, io);
            }
            Err(problem) => {
                self.log(&input, Err(&problem.to_string()), None, io);
                return Err(problem.into());
            }
        };
        let denies = settings.denies_instead_of_asking;
        let user_shell = io.environment.text("SHELL").map(Path::new);
        let shell = ShellGuarantees {
            dialect: match self.shell {
                Some(HookShell::Bash) => ShellDialect::Bash,
                None if input.runs_bash(self.agent, user_shell) => ShellDialect::Bash,
                Some(HookShell::Any) | None => ShellDialect::Any,
            },
            ..ShellGuarantees::foreign(if self.trust_analysis {
                WriteProtection::Assumed
            } else {
                WriteProtection::Absent
            })
        };
        let decisions = CallDecisions::new(Registry::builtin(), settings, project, shell, io)?;
        let (call, decided) =
            decisions.decide(&input.tool_name, &input.tool_input, &input.cwd, mode);
        let answer = input.response(&decided, &call.action, denies);
        self.respond(&input, Ok(&decided), answer, io)
    }
}

impl HookArguments {
    /// Writes the response, if any, then the record of the decision.
    fn respond(
        &self,
        input: &AgentHookInput,
        decided: Result<&Decided, &str>,
        answer: Option<(Decision, Value)>,
        io: &mut Io,
    ) -> anyhow::Result<Status> {
        let (decision, response) = answer.unzip();
        if let Some(response) = response {
            output::records(&[response], io)?;
        }
        self.log(input, decided, decision, io);
        Ok(Status::Done)
    }

    fn log(
        &self,
        input: &AgentHookInput,
        decided: Result<&Decided, &str>,
        answer: Option<Decision>,
        io: &Io,
    ) {
        let Some(path) = &self.log else {
            return;
        };
        let record = input.record(self.agent, decided, answer, &io.environment, io.clock.now());
        if let Err(error) = log_decision(path, &record) {
            let path = path.display();
            io.messages
                .warn(&format!("cannot write the log {path}: {error}"));
        }
    }
}

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
