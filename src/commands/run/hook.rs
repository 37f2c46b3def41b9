//! `hook`: decides about a call as the permission hook of another agent.
//!
//! The agent itself decides about calls that no rule matches. A call that cannot be judged is denied.

use std::io::Read as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use serde_json::Value;

use super::guards::{new_call_decisions, read_and_check_permissions};
use crate::agent::Agent;
use crate::commands::inputs::take_stdin;
use crate::commands::{Globals, Run, Status, UsageError, output};
use crate::config::{PermissionFlags, project_directory};
use crate::io::Io;
use crate::json::replace_lone_surrogates;
use crate::message::Decision;
use crate::permission::{Action, Decided, Mode};
use crate::run::hooks::{AgentHookInput, CommandSandbox, log_decision};
use crate::run::tools::{Registry, ShellDialect, ShellGuarantees, WriteProtection};
use crate::tool_facts::Purpose;

/// Maximum input length, in bytes.
const INPUT_LIMIT: u64 = 64 * 1024 * 1024;

/// Respond to the permission hook of another agent
///
/// Reads the hook input of an agent (see `turnpipe hook install`), and responds in that agent's format.
/// Read-only commands and calls that rules allow are allowed; calls that match deny or ask rules are denied or
/// asked about; all others are left to the agent: nothing is printed, or `ask` for Cursor. No settings are read unless
/// `--settings` names them. If settings or the configuration are invalid, calls are denied. So is an input that cannot
/// be judged, with status 2. On any other error the agent proceeds as if no hook were installed.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe hook pre-tool-use < call.json
  turnpipe hook pre-tool-use --trust-analysis < call.json
  turnpipe hook pre-tool-use --deny 'Read(.env)' --allow 'Bash(cargo test *)' < call.json
  turnpipe hook pre-tool-use --log ~/hook.jsonl < call.json
  turnpipe hook permission-request --settings settings.json < call.json
  turnpipe hook pre-tool-use --sandbox --settings settings.json < call.json")]
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
    #[arg(
        long,
        value_enum,
        value_name = "NAME",
        hide_possible_values = true,
        hide_short_help = true
    )]
    agent: Option<Agent>,
    /// Append a record of each decision to this file
    ///
    /// Secrets are masked. `turnpipe hook explain` shows the records in words. A failure to write is reported
    /// on standard error and changes no decision.
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Move shell commands into `turnpipe sandbox --required` with the files of `--settings`
    ///
    /// A command that is not denied is changed to `turnpipe sandbox … -- bash -c COMMAND` in Claude Code, and in Qwen
    /// Code if the rules allow a call that its user is asked about. Otherwise it is denied, and the reason says which
    /// command to call instead. `cd` and variables do not outlive a call.
    #[arg(long)]
    pub(crate) sandbox: bool,
    #[command(flatten)]
    pub(crate) permissions: PermissionFlags,
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
        let mut bytes = Vec::new();
        let stdin = take_stdin(io)?;
        stdin
            .take(INPUT_LIMIT)
            .read_to_end(&mut bytes)
            .context("cannot read standard input")?;
        let text = String::from_utf8_lossy(&bytes);
        let replaced = replace_lone_surrogates(&text);
        let named_project = project_directory(&io.environment);
        let own_directory = std::env::current_dir().ok();
        let fallback = named_project.clone().or_else(|| own_directory.clone());
        let fallback = fallback.unwrap_or_else(|| "/".into());
        let text = replaced.as_deref().unwrap_or(&text);
        let input = match AgentHookInput::parse(text, &fallback) {
            Ok(input) => input,
            Err(unjudged) => {
                let error = UsageError::new(unjudged.problem).about("invalid hook input");
                let events = format!("supported events: {}", AgentHookInput::events());
                error.with_hint(events).report(&io.messages);
                let is_denied = unjudged.is_call;
                return Ok(if is_denied {
                    Status::UnusableRecords
                } else {
                    Status::Negative
                });
            }
        };
        let project = named_project.unwrap_or_else(|| input.cwd.clone());
        let mut arguments = match &input.tool_input {
            Ok(arguments) => arguments.clone(),
            Err(problem) => {
                let problem = UsageError::new(problem.clone()).about("invalid arguments");
                return self.refuse(&input, "read the call", &problem, io);
            }
        };
        let registry = Registry::builtin();
        let flags = PermissionFlags {
            subagent: self.permissions.subagent.clone().or(input.subagent()),
            ..self.permissions.clone()
        };
        let settings = match read_and_check_permissions(&flags, &registry, &project, globals, io) {
            Ok(settings) => settings,
            Err(problem) => return self.refuse(&input, "apply its rules", &problem, io),
        };
        let reported = input.mode();
        // Settings have the mode in which the agent starts, its input the one that it is in.
        let mode = reported
            .filter(|mode| *mode == Mode::Plan)
            .or(self.permissions.mode)
            .or(reported)
            .unwrap_or(settings.mode);
        let sandbox = self
            .sandbox
            .then(|| CommandSandbox::new(&self.permissions.settings));
        let command = arguments.get("command").and_then(Value::as_str);
        let command = command.map(str::to_owned);
        let inside = sandbox.as_ref().zip(command.as_deref());
        let inside = inside.and_then(|(sandbox, line)| sandbox.parse_line(line));
        let is_inside = inside.is_some();
        arguments.extend(inside.map(|script| ("command".to_owned(), script.into())));
        let shell = ShellGuarantees {
            dialect: match self.shell {
                Some(HookShell::Bash) => ShellDialect::Bash,
                None if input.runs_bash(self.agent, &io.environment) => ShellDialect::Bash,
                Some(HookShell::Any) | None => ShellDialect::Any,
            },
            masks_files: self.sandbox,
            ..ShellGuarantees::foreign(if self.trust_analysis {
                WriteProtection::Assumed
            } else {
                WriteProtection::Absent
            })
        };
        let mut decisions = new_call_decisions(registry, settings, project, shell, io)?;
        // The agent may report a directory below its own, which the hook inherits.
        decisions.context.own_directory = own_directory;
        let context = decisions.context.with_directory(&input.cwd);
        let (call, decided) = decisions.decide(&input.tool_name, &arguments, &context, mode);
        let denies = decisions.denies_instead_of_asking;
        let (decision, response) = input.response(&decided, &call.action, denies).unzip();
        let is_shell = matches!(call.action, Action::Command { .. })
            || Purpose::from_tool(&call.tool) == Purpose::Shell;
        let is_open = is_shell && !is_inside && decision != Some(Decision::Deny);
        let Some(sandbox) = sandbox.filter(|_| is_open) else {
            return self.respond(&input, Ok(&decided), (decision, response), io);
        };
        let reason = match command.and_then(|script| sandbox.line(&script)) {
            Some(line) if input.accepts_changes(self.agent, decision) => {
                arguments.insert("command".to_owned(), line.into());
                let response = Some(input.with_input(response, arguments));
                return self.respond(&input, Ok(&decided), (decision, response), io);
            }
            Some(line) => format!(
                "commands run in a sandbox, and this agent runs none that a hook changes; give it as one call of: {line}"
            ),
            None => "it cannot be moved into a sandbox".to_owned(),
        };
        self.respond(&input, Err(&reason), input.denial(&reason).unzip(), io)
    }
}

impl HookArguments {
    /// Denies a call that cannot be judged, unless the agent asks the user anyway.
    fn refuse(
        &self,
        input: &AgentHookInput,
        what: &str,
        problem: &UsageError,
        io: &mut Io,
    ) -> anyhow::Result<Status> {
        let reason = format!("turnpipe cannot {what}: {problem}");
        problem.report(&io.messages);
        let asks = input.asks_user();
        let denial = (!asks).then(|| input.denial(&reason)).flatten();
        self.respond(input, Err(&reason), denial.unzip(), io)?;
        Ok(Status::negative_if(asks))
    }

    /// Writes the response, if any, then the record of the decision.
    fn respond(
        &self,
        input: &AgentHookInput,
        decided: Result<&Decided, &str>,
        (decision, response): (Option<Decision>, Option<Value>),
        io: &mut Io,
    ) -> anyhow::Result<Status> {
        if let Some(response) = response {
            output::print_records(&[response], io)?;
        }
        if let Some(path) = &self.log {
            let (environment, now) = (&io.environment, io.clock.now());
            let record = input.record(self.agent, decided, decision, environment, now);
            if let Err(error) = log_decision(path, &record) {
                let path = path.display();
                io.messages
                    .warn(&format!("cannot write the log {path}: {error}"));
            }
        }
        Ok(Status::Done)
    }
}
