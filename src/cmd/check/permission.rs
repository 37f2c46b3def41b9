//! `check permission`: permission decisions about calls.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum as _};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::assemble::{Decoder, Event};
use crate::cmd::check::history::replay;
use crate::cmd::check::input::{Check, CheckInput, CheckOutput, LineForm, on_one_line};
use crate::cmd::output::name_of;
use crate::cmd::run::guards::{call_decisions, permissions};
use crate::cmd::run::tools::registry;
use crate::cmd::session::source::{MatchArguments, SourceArguments};
use crate::cmd::{Form, Globals, Run, Status, UsageError};
use crate::config::{Overrides, PermissionFlags};
use crate::io::Io;
use crate::message::{DecidedBy, Decision};
use crate::permission::{Action, Decided, Mode};
use crate::records::{CheckPermissionRecord, PermissionCheck};
use crate::text::{display_width, fitted, fitted_end, terminal_safe_line};
use crate::tools::{AskedCall, Input, ShellGuarantees};
use crate::view::input_gist;

/// Minimum width of a call without a terminal, in columns.
const CALL_COLUMNS: usize = 56;

/// Maximum width of a call on a terminal, in columns.
const MAX_CALL_COLUMNS: usize = 90;

/// Check whether tool calls may run
///
/// Reads one call per line: an object with a `name` and an `input`, or a record with calls in any dialect
/// that `run-tools` reads. The same object may have `cwd` and `mode`. Writes one record per call with the
/// `decision` (allow, ask or deny), what decided (`decided_by`), and the same for each of the `parts` of a command
/// line. As text, prints one line per call: the decision, the tool, its subject, and the deciding rule
/// with its file. With `--plain` each line is a shell command.
#[derive(Debug, Args)]
pub(crate) struct CheckPermissionArguments {
    #[command(flatten)]
    permissions: PermissionFlags,
    /// Add the command tools of a manifest; repeatable
    ///
    /// The manifest is TOML or JSON, see `docs/command-tools.md`.
    #[arg(long, value_name = "FILE")]
    tools: Vec<PathBuf>,
    #[command(flatten)]
    input: CheckInput,
    /// Decide on the past calls of sessions instead (FILE names them, default all), and propose rules
    ///
    /// Prints how many calls the rules would allow, ask about and deny, by tool and by program, and the rules that
    /// would have spared the most questions, each with what else it allows. Nothing is run; repositories of git
    /// are taken to be harmless.
    #[arg(long, conflicts_with_all = ["plain", "strict", "exit_status"])]
    history: bool,
    #[command(flatten)]
    matching: MatchArguments,
    /// Exit with 1 if a call is not allowed or a line is unusable
    #[arg(long)]
    exit_status: bool,
}

/// The calls of a line.
#[derive(Default)]
struct Asked {
    calls: Vec<(String, Input)>,
    directory: Option<PathBuf>,
    mode: Option<Mode>,
}

/// A bare call, and the context of the calls of a line.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<&'a RawValue>,
    name: Option<String>,
    input: Option<Input>,
    cwd: Option<PathBuf>,
    mode: Option<String>,
}

impl Run for CheckPermissionArguments {
    fn source(&mut self) -> Option<&mut SourceArguments> {
        Some(&mut self.matching.source)
    }

    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let here = std::env::current_dir().context("cannot find the working directory")?;
        let overrides = Overrides {
            manifests: self.tools,
            ..Overrides::default()
        };
        let registry = registry(&globals.settings(overrides, &io.environment)?)?;
        let permissions = permissions(&self.permissions, &here, globals, io)?;
        if self.history {
            let form = self.input.form.form(io.terminal);
            let files = self.input.files.iter();
            let sessions: Vec<String> = files.map(|file| file.display().to_string()).collect();
            return replay(
                &sessions,
                &self.matching,
                form,
                registry,
                permissions,
                here,
                io,
            );
        }
        if !self.matching.is_default() {
            let problem = "filters of sessions, such as `--since`, need `--history`";
            return Err(UsageError::new(problem).into());
        }
        let denies = permissions.denies_instead_of_asking;
        let shell = ShellGuarantees::OWN;
        let decisions = call_decisions(registry, permissions, here.clone(), shell, io)?;
        let all_allowed = Cell::new(true);
        let is_plain = self.input.plain;
        let prints = self.input.form.form(io.terminal);
        let columns = io.terminal.columns;
        let check = Check {
            name: "permission",
            prints,
            form: LineForm::AnyJson,
            examine: &|checked| {
                let asked = if is_plain {
                    Ok(Asked::command(&checked.text))
                } else {
                    Asked::read(&checked.text)
                };
                let asked = match asked {
                    Ok(asked) => asked,
                    Err(problem) => {
                        all_allowed.set(false);
                        return CheckOutput::Unusable(problem);
                    }
                };
                let directory = asked
                    .directory
                    .map_or_else(|| here.clone(), |given| here.join(given));
                let context = decisions.context.in_directory(&directory);
                let mode = asked.mode.unwrap_or(decisions.mode);
                let decided = asked.calls.into_iter().map(|(name, input)| {
                    let (call, mut decided) = decisions.decide(&name, &input, &context, mode);
                    if denies && decided.decision == Decision::Ask {
                        decided.decision = Decision::Deny;
                    }
                    if decided.decision != Decision::Allow {
                        all_allowed.set(false);
                    }
                    (call, decided)
                });
                match prints {
                    Form::Text => CheckOutput::Text(
                        decided
                            .map(|(call, decided)| line(&call, &decided, &directory, columns))
                            .collect(),
                    ),
                    Form::Jsonl => CheckOutput::Records(
                        decided
                            .map(|(call, decided)| record(call, decided))
                            .collect(),
                    ),
                }
            },
        };
        let outcome = self.input.check_each(&check, io)?;
        Ok(match outcome {
            Status::Done if self.exit_status && !all_allowed.get() => Status::Negative,
            other => other,
        })
    }
}

impl Asked {
    fn command(script: &str) -> Self {
        let input = Input::from_iter([("command".to_owned(), script.into())]);
        Self {
            calls: vec![("Bash".to_owned(), input)],
            ..Self::default()
        }
    }

    fn read(line: &str) -> Result<Self, String> {
        let read: Line<'_> = serde_json::from_str(line)
            .map_err(|error| format!("not a call: {}", on_one_line(&error)))?;
        let mode = read.mode.map(|name| {
            Mode::from_str(&name, false).map_err(|_| format!("unknown permission mode `{name}`"))
        });
        let calls = match (read.kind, read.name, read.input) {
            (None, Some(name), Some(input)) => vec![(name, input)],
            _ => recorded_calls(line)?,
        };
        if calls.is_empty() {
            return Err("no call found".to_owned());
        }
        Ok(Self {
            calls,
            directory: read.cwd,
            mode: mode.transpose()?,
        })
    }
}

/// Returns the calls of a record.
fn recorded_calls(record: &str) -> Result<Vec<(String, Input)>, String> {
    let mut calls = Vec::new();
    for event in Decoder::detecting().record(record) {
        if let Event::Call(call) = event {
            let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", call.name);
            let input = call.input.map_err(|reason| failed(&reason))?;
            let input = serde_json::from_str(input.get()).map_err(|error| failed(&error))?;
            calls.push((call.name, input));
        }
    }
    Ok(calls)
}

fn record(call: AskedCall, decided: Decided) -> CheckPermissionRecord {
    let command = match call.action {
        Action::Command { .. } => call.input.get("command").and_then(Value::as_str),
        _ => None,
    };
    CheckPermissionRecord {
        check: PermissionCheck::Only,
        command: command.map(str::to_owned),
        name: call.tool,
        decision: decided.decision,
        by: decided.by,
        parts: decided.parts,
        hint: decided.hint,
    }
}

/// Returns the text line about a call, cut to the width of the terminal. Columns have fixed widths, since
/// lines are printed one by one.
fn line(call: &AskedCall, decided: &Decided, directory: &Path, columns: Option<usize>) -> String {
    let decision = name_of(decided.decision);
    let tool = terminal_safe_line(&call.tool);
    let gist = terminal_safe_line(&input_gist(&call.input, directory.to_str()));
    let call = format!("{decision:5}  {tool:9}  {gist}");
    let width = columns.map_or(CALL_COLUMNS, |columns| {
        (columns * 3 / 5).min(MAX_CALL_COLUMNS)
    });
    let (call, rest) = match columns {
        Some(columns) => (fitted(&call, width), columns.saturating_sub(width + 2)),
        None => (call, usize::MAX),
    };
    let padding = " ".repeat(width.saturating_sub(display_width(&call)));
    format!("{call}{padding}  {}\n", reason(decided, rest))
}

/// Returns the reason for a decision, in at most this many columns.
fn reason(decided: &Decided, columns: usize) -> String {
    let part = decided.parts.iter().find(|part| {
        part.decision == decided.decision
            && part.by == decided.by
            && part.decision != Decision::Allow
    });
    let why = match &decided.by {
        DecidedBy::Rule { rule, source, .. } => {
            let taken = display_width(&terminal_safe_line(rule)) + " ()".len();
            let source = terminal_safe_line(source);
            let source = fitted_end(&source, columns.saturating_sub(taken));
            format!("{rule} ({source})")
        }
        DecidedBy::Builtin { builtin } => builtin.effect().to_owned(),
        DecidedBy::Mode { mode } => format!("mode {}", mode.name()),
        DecidedBy::Default { .. } | DecidedBy::Hook { .. } | DecidedBy::Prompt { .. } => {
            let what = part.map_or(String::new(), |part| format!(" for {}", part.command));
            let hint = decided.hint.as_ref();
            let hint = hint.map(|rule| format!("; {rule} would allow it"));
            format!("no rule{what}{}", hint.unwrap_or_default())
        }
    };
    fitted(&terminal_safe_line(&why), columns)
}
