//! `hook`: decides about a call as the permission hook of another agent.
//!
//! When in doubt it prints nothing, and the agent proceeds as if no hook were installed.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cmd::command::Run;
use crate::cmd::inputs::take_stdin;
use crate::cmd::run::call_decisions::CallDecisions;
use crate::cmd::run::permission_arguments::permissions;
use crate::cmd::{Globals, Outcome, UsageError, output};
use crate::config::{PermissionFlags, project_directory};
use crate::io::Io;
use crate::jsonl::replace_lone_surrogates;
use crate::message::{BuiltinRule, DecidedBy, Decision};
use crate::permission::{Action, Decided, Mode};
use crate::tools::{AskedCall, Input, Registry, ShellDialect, ShellGuarantees, WriteProtection};

/// Maximum input length, in bytes.
const INPUT_LIMIT: u64 = 64 * 1024 * 1024;

/// Answer the permission hook of another agent
///
/// Reads the hook input of Claude Code, Qwen Code, Codex or Gemini CLI, and answers in that agent's
/// format. Commands that only read and calls that rules allow are allowed; calls that match deny or ask
/// rules are denied or asked about; about all others nothing is printed, and the agent decides. No
/// settings are read unless `--settings` names them. If settings or the configuration are invalid, calls
/// are denied. On any other error the agent proceeds as if no hook were installed.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe hook pre-tool-use < call.json
  turnpipe hook pre-tool-use --trust-analysis < call.json
  turnpipe hook pre-tool-use --deny 'Read(.env)' --allow 'Bash(cargo test *)' < call.json
  turnpipe hook permission-request --settings settings.json < call.json")]
pub(crate) struct HookArguments {
    /// Also allow commands that read according to the analysis alone
    ///
    /// Examples are `git log | head`, `find -name` and `sed -n 1,9p`. In `run-tools` the kernel prevents
    /// them from writing; in other agents nothing does.
    #[arg(long)]
    trust_analysis: bool,
    /// The shell that runs the agent's commands
    ///
    /// Defaults to bash for Qwen Code and Gemini CLI, and for Claude Code if `$SHELL` is bash; otherwise to
    /// any. For any, bash, zsh and dash must read a command alike.
    #[arg(long, value_enum, value_name = "SHELL")]
    shell: Option<HookShell>,
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

/// The input of a hook.
#[derive(Deserialize)]
struct HookInput {
    hook_event_name: Event,
    tool_name: String,
    tool_input: Input,
    cwd: PathBuf,
    permission_mode: Option<String>,
    /// Codex numbers its turns; Claude Code and Qwen Code do not.
    turn_id: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum Event {
    PreToolUse,
    PermissionRequest,
    /// Gemini CLI's name for `PreToolUse`.
    BeforeTool,
}

impl Run for HookArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        let mut text = String::new();
        let stdin = take_stdin(io)?;
        stdin
            .take(INPUT_LIMIT)
            .read_to_string(&mut text)
            .context("cannot read standard input")?;
        if text.trim().is_empty() {
            let problem = "standard input is empty; it must contain the call";
            return Err(UsageError::new(problem).into());
        }
        let text = replace_lone_surrogates(&text).unwrap_or(text);
        let input: HookInput = serde_json::from_str(&text)
            .map_err(|error| UsageError::reason(error).about("invalid hook input"))?;
        if !input.cwd.is_absolute() {
            return Err(UsageError::new("invalid hook input: `cwd` is not absolute").into());
        }
        let project = project_directory(&io.environment).unwrap_or_else(|| input.cwd.clone());
        let mode = match input
            .permission_mode
            .as_deref()
            .map(|name| Mode::from_str(name, false))
        {
            Some(Ok(Mode::Plan)) => Mode::Plan,
            // The agent applies its other modes itself.
            _ => self.permissions.mode.unwrap_or_default(),
        };
        let settings = match permissions(&self.permissions, &project, globals, io) {
            Ok(settings) => settings,
            // Deny rules cannot be applied, so deny; `PermissionRequest` asks the user anyway.
            Err(problem) if input.hook_event_name != Event::PermissionRequest => {
                let reason = format!("turnpipe cannot apply its rules: {problem}");
                problem.report(&io.messages);
                write_answer(answer(&input, Some(Decision::Deny), &reason), io)?;
                return Ok(Outcome::Done);
            }
            Err(problem) => return Err(problem.into()),
        };
        let denies = settings.denies_instead_of_asking;
        let shell = ShellGuarantees {
            dialect: match self.shell {
                Some(HookShell::Bash) => ShellDialect::Bash,
                Some(HookShell::Any) => ShellDialect::Any,
                None => input.dialect(io),
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
        let opinion = opinion(&call, &decided).map(|opinion| match opinion {
            Decision::Ask if denies => Decision::Deny,
            other => other,
        });
        write_answer(answer(&input, opinion, &reason(&decided)), io)?;
        Ok(Outcome::Done)
    }
}

impl HookInput {
    /// The shell that runs the agent's commands, if known.
    fn dialect(&self, io: &Io) -> ShellDialect {
        let shell = io.environment.text("SHELL").map(Path::new);
        let is_user_shell_bash = shell.is_some_and(|shell| shell.ends_with("bash"));
        // Qwen Code and Gemini CLI start bash, Claude Code the user's shell.
        let is_bash =
            self.tool_name == "run_shell_command" || (self.turn_id.is_none() && is_user_shell_bash);
        if is_bash {
            ShellDialect::Bash
        } else {
            ShellDialect::Any
        }
    }
}

fn write_answer(answer: Option<Value>, io: &mut Io) -> anyhow::Result<()> {
    if let Some(answer) = answer {
        let mut writer = output::record_writer(io)?;
        writer.record(&answer)?;
        writer.flush()?;
    }
    Ok(())
}

/// The answer about a call; `None` leaves it to the agent.
fn opinion(call: &AskedCall, decided: &Decided) -> Option<Decision> {
    let is_said = match decided.decision {
        Decision::Deny => true,
        Decision::Ask => matches!(decided.by, DecidedBy::Rule { .. }),
        // The agent decides which files it may read.
        Decision::Allow => {
            let is_command = matches!(call.action, Action::Command { .. });
            is_command || !matches!(decided.by, DecidedBy::Builtin { .. })
        }
    };
    is_said.then_some(decided.decision)
}

/// The answer in the agent's format; `None` prints nothing.
fn answer(input: &HookInput, opinion: Option<Decision>, reason: &str) -> Option<Value> {
    let is_codex = input.turn_id.is_some();
    let opinion = opinion?;
    match (input.hook_event_name, opinion) {
        // The user is being asked already; Gemini CLI would wait for an answer without a terminal.
        (Event::PermissionRequest | Event::BeforeTool, Decision::Ask) => None,
        (Event::PermissionRequest, _) => {
            let decision = match opinion {
                Decision::Deny => json!({ "behavior": "deny", "message": reason }),
                Decision::Allow | Decision::Ask => json!({ "behavior": "allow" }),
            };
            Some(json!({ "hookSpecificOutput": {
                "hookEventName": "PermissionRequest",
                "decision": decision,
            }}))
        }
        (Event::BeforeTool, _) => Some(json!({ "decision": opinion, "reason": reason })),
        // Codex treats these answers as errors.
        (Event::PreToolUse, Decision::Ask | Decision::Allow) if is_codex => None,
        (Event::PreToolUse, _) => Some(json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": opinion,
            "permissionDecisionReason": reason,
        }})),
    }
}

/// The reason, for the user or the model.
fn reason(decided: &Decided) -> String {
    let verb = match decided.decision {
        Decision::Allow => "allowed",
        Decision::Ask => "to be approved",
        Decision::Deny => "denied",
    };
    let why = match &decided.by {
        DecidedBy::Rule { rule, source, .. } => format!("{verb} by the rule `{rule}` of {source}"),
        DecidedBy::Mode { mode } => format!("{verb} in the mode `{}`", mode.name()),
        DecidedBy::Builtin {
            builtin: BuiltinRule::ReadOnly,
        } => return "it only reads".to_owned(),
        DecidedBy::Builtin { builtin } => format!("{verb}, since it {}", builtin.effect()),
        DecidedBy::Default { .. } | DecidedBy::Hook { .. } | DecidedBy::Prompt { .. } => {
            format!("{verb}: no rule allows it")
        }
    };
    let mut parts = decided.parts.iter();
    let deciding = parts.find(|part| part.decision == decided.decision && part.by == decided.by);
    match deciding {
        Some(part) => format!("`{}`: {why}", part.command),
        None => why,
    }
}
