//! `check permission`: whether calls may run, and what decides.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum as _};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::assemble::{Decoder, Event};
use crate::cmd::check::input::{Check, CheckInput, Reply};
use crate::cmd::check::line::{LineForm, on_one_line};
use crate::cmd::command::Run;
use crate::cmd::output::Form;
use crate::cmd::run::call_decisions::CallDecisions;
use crate::cmd::run::permission_arguments::permissions;
use crate::cmd::run::tools::registry;
use crate::cmd::{Globals, Outcome};
use crate::config::{Overrides, PermissionFlags};
use crate::io::Io;
use crate::message::{DecidedBy, Decision};
use crate::permission::{Decided, Mode};
use crate::records::{CheckPermissionRecord, PermissionCheck};
use crate::text::{display_width, fitted, fitted_end, terminal_safe_line};
use crate::tools::{AskedCall, Input, ShellGuarantees};
use crate::view::input_gist;

/// How wide the description of a call is where there is no terminal, unless it is longer.
const CALL_COLUMNS: usize = 56;

/// How wide it is on a terminal at most.
const MOST_CALL_COLUMNS: usize = 90;

/// Check whether calls may run, and what decides
///
/// Reads one call per line, as an object with a `name` and an `input`, or as a record with calls in
/// any dialect that `run-tools` reads; `cwd` and `mode` in the same object say where and in which mode.
/// Writes one record per call with the `decision` (allow, ask or deny), what it was made `by`, and for
/// a command line of several commands the same of each of its `parts`. As text, prints one line per
/// call: the decision, the tool, what the call is about, and the rule that decided with its file. With
/// `--plain` each line is a command for the shell.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  echo 'npm test && git push' | turnpipe check permission --plain --allow 'Bash(npm *)'
  turnpipe check permission --settings settings.json -o text < reply.jsonl
  turnpipe check permission --settings settings.json --exit-status < reply.jsonl")]
pub(crate) struct CheckPermissionArguments {
    #[command(flatten)]
    permissions: PermissionFlags,
    /// Add the command tools of a manifest (TOML or JSON, see `docs/command-tools.md`); repeatable
    #[arg(long, value_name = "FILE")]
    tools: Vec<PathBuf>,
    #[command(flatten)]
    input: CheckInput,
    /// Exit with 1 if a call is not allowed, or a line is unusable
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

/// What is read from a line in addition to its calls, and a call without any frame.
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
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        let here = std::env::current_dir().context("cannot find the working directory")?;
        let overrides = Overrides {
            manifests: self.tools,
            ..Overrides::default()
        };
        let registry = registry(&globals.settings(overrides, &io.environment)?)?;
        let permissions = permissions(&self.permissions, &here, globals, io)?;
        let denies = permissions.denies_instead_of_asking;
        let shell = ShellGuarantees::OWN;
        let decisions = CallDecisions::new(registry, permissions, here.clone(), shell, io)?;
        let all_allowed = Cell::new(true);
        let is_plain = self.input.plain;
        let prints = self.input.form.form(io.terminal);
        let columns = io.terminal.columns;
        let check = Check {
            name: "permission",
            prints,
            form: LineForm::AnyJson,
            answer: &|question| {
                let asked = if is_plain {
                    Ok(Asked::command(&question.text))
                } else {
                    Asked::read(&question.text)
                };
                let asked = match asked {
                    Ok(asked) => asked,
                    Err(problem) => {
                        all_allowed.set(false);
                        return Reply::Unusable(problem);
                    }
                };
                let directory = asked
                    .directory
                    .map_or_else(|| here.clone(), |given| here.join(given));
                let mode = asked.mode.unwrap_or_else(|| decisions.mode());
                let decided = asked.calls.into_iter().map(|(name, input)| {
                    let (call, mut decided) = decisions.decide(&name, &input, &directory, mode);
                    if denies && decided.decision == Decision::Ask {
                        decided.decision = Decision::Deny;
                    }
                    if decided.decision != Decision::Allow {
                        all_allowed.set(false);
                    }
                    (call, decided)
                });
                match prints {
                    Form::Text => Reply::Text(
                        decided
                            .map(|(call, decided)| line(&call, &decided, &directory, columns))
                            .collect(),
                    ),
                    Form::Jsonl => Reply::Records(
                        decided
                            .map(|(call, decided)| record(call.tool, decided))
                            .collect(),
                    ),
                }
            },
        };
        let outcome = self.input.answer_each(&check, globals, io)?;
        Ok(match outcome {
            Outcome::Done if self.exit_status && !all_allowed.get() => Outcome::AnswerIsNo,
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
            Mode::from_str(&name, false).map_err(|_| format!("`{name}` is no permission mode"))
        });
        let calls = match (read.kind, read.name, read.input) {
            (None, Some(name), Some(input)) => vec![(name, input)],
            _ => recorded_calls(line)?,
        };
        if calls.is_empty() {
            return Err("there is no call in it".to_owned());
        }
        Ok(Self {
            calls,
            directory: read.cwd,
            mode: mode.transpose()?,
        })
    }
}

/// The calls of a record.
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

fn record(tool: String, decided: Decided) -> CheckPermissionRecord {
    CheckPermissionRecord {
        check: PermissionCheck::Only,
        name: tool,
        decision: decided.decision,
        by: decided.by,
        parts: decided.parts,
        remedy: decided.remedy,
    }
}

/// The line about a call for people, as wide as the terminal at most. Lines are printed as soon as they
/// are known, so that columns have fixed widths; what is longer is cut on terminals only.
fn line(call: &AskedCall, decided: &Decided, directory: &Path, columns: Option<usize>) -> String {
    let decision = match decided.decision {
        Decision::Allow => "allow",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    };
    let tool = terminal_safe_line(&call.tool);
    let gist = terminal_safe_line(&input_gist(&call.input, directory.to_str()));
    let call = format!("{decision:5}  {tool:9}  {gist}");
    let width = columns.map_or(CALL_COLUMNS, |columns| {
        (columns * 3 / 5).min(MOST_CALL_COLUMNS)
    });
    let (call, room) = match columns {
        Some(columns) => (fitted(&call, width), columns.saturating_sub(width + 2)),
        None => (call, usize::MAX),
    };
    let padding = " ".repeat(width.saturating_sub(display_width(&call)));
    format!("{call}{padding}  {}\n", reason(decided, room))
}

/// What decided, in at most this many columns.
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
            let remedy = decided.remedy.as_ref();
            let remedy = remedy.map(|rule| format!("; {rule} would allow it"));
            format!("no rule{what}{}", remedy.unwrap_or_default())
        }
    };
    fitted(&terminal_safe_line(&why), columns)
}
