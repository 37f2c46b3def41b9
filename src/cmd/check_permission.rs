//! `check permission`: whether calls may run, and what decides.

use std::cell::Cell;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueEnum as _};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::call_decisions::CallDecisions;
use super::check_input::{Check, CheckInput, Reply};
use super::check_line::LineForm;
use super::command::Run;
use super::permission_arguments::PermissionArguments;
use super::tools::registry;
use super::{Globals, Outcome};
use crate::config::Overrides;
use crate::io::Io;
use crate::permission::{Decided, Mode};
use crate::process::{Enforcement, LaneOptions, Spawners};
use crate::tools::Input;
use crate::wire::records::{CheckPermissionRecord, CheckedPart, Decision, PermissionCheck};
use crate::wire::{Decoder, Event};

/// Check whether calls may run, and what decides
///
/// Reads one call per line, as an object with a `name` and an `input`, or as a record with calls in
/// any dialect that `run-tools` reads; `cwd` and `mode` in the same object say where and in which mode.
/// Writes one record per call with the `decision` (allow, ask or deny), what it was made `by`, and for
/// a command line of several commands the same of each of its `parts`. With `--plain` each line is a
/// command for the shell.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  echo 'npm test && git push' | turnpipe check permission --plain --allow 'Bash(npm *)'
  turnpipe check permission --settings settings.json --exit-status < reply.jsonl")]
pub(super) struct CheckPermissionArguments {
    #[command(flatten)]
    permissions: PermissionArguments,
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
        let permissions = self.permissions.load(&here, globals, io)?;
        let lane = LaneOptions {
            enforcement: Enforcement::Auto,
            temporary: None,
        };
        let lane = Spawners::lane(1, lane)?;
        let decisions = CallDecisions::new(registry, permissions, here.clone(), lane, io);
        let all_allowed = Cell::new(true);
        let is_plain = self.input.plain;
        let check = Check {
            name: "permission",
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
                    let (call, decided) = decisions.decide(&name, &input, &directory, mode);
                    if decided.decision != Decision::Allow {
                        all_allowed.set(false);
                    }
                    record(call.tool, decided)
                });
                Reply::Records(decided.collect())
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
        let read: Line<'_> =
            serde_json::from_str(line).map_err(|error| format!("not a call: {error}"))?;
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
        match event {
            Event::Call(call) => {
                let input = serde_json::from_str(call.input.get())
                    .map_err(|error| format!("{}: {error}", call.name))?;
                calls.push((call.name, input));
            }
            Event::Invalid(call) => return Err(format!("{}: {}", call.name, call.reason)),
            _ => {}
        }
    }
    Ok(calls)
}

fn record(tool: String, decided: Decided) -> CheckPermissionRecord {
    let parts = decided.parts.into_iter().map(|part| CheckedPart {
        command: part.command,
        decision: part.decision,
        by: part.by,
    });
    CheckPermissionRecord {
        check: PermissionCheck::Only,
        name: tool,
        decision: decided.decision,
        by: decided.by,
        parts: parts.collect(),
        remedy: decided.remedy,
    }
}
