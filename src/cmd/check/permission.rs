//! `check permission`: permission decisions about calls; with `--history` about past calls, and rules that would have
//! spared questions.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum as _};
use serde_json::Value;

use crate::cmd::check::input::{Check, CheckInput, CheckOutput};
use crate::cmd::output::name_of;
use crate::cmd::run::guards::{call_decisions, permissions};
use crate::cmd::run::tools::registry;
use crate::cmd::session::source::MatchArguments;
use crate::cmd::{Form, Globals, InputErrors, RecordWriter, Run, Status, UsageError, output};
use crate::config::{Overrides, PermissionFlags, PermissionSettings};
use crate::io::Io;
use crate::jsonl::{TextLineForm, WriteResult};
use crate::message::{DecidedBy, Decision};
use crate::permission::{Action, Decided, Mode};
use crate::records::{
    CheckPermissionRecord, PermissionCheck, PermissionCountRecord, PermissionProposalRecord,
};
use crate::session::{CallEvent, calls_of_all};
use crate::text::{display_width, fitted, fitted_end, terminal_safe_line, with_separators};
use crate::tools::{AskedCall, CallLine, PastDecisions, Registry, ShellGuarantees};
use crate::view::{ProgressLine, count_table, input_gist};

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

impl Run for CheckPermissionArguments {
    reads_sessions!(matching.source);

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
            form: TextLineForm::AnyJson,
            examine: &|checked| {
                let asked = if is_plain {
                    Ok(CallLine::command(&checked.text))
                } else {
                    CallLine::read(&checked.text)
                };
                let asked = asked.and_then(|asked| {
                    let mode = asked.mode.as_deref().map(|name| {
                        Mode::from_str(name, false)
                            .map_err(|_| format!("unknown permission mode `{name}`"))
                    });
                    Ok((mode.transpose()?.unwrap_or(decisions.mode), asked))
                });
                let (mode, asked) = match asked {
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
                let text = |(call, decided)| line(&call, &decided, &directory, columns);
                match prints {
                    Form::Text => CheckOutput::Text(decided.map(text).collect()),
                    Form::Jsonl => CheckOutput::Records(decided.map(record).collect()),
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

fn record((call, decided): (AskedCall, Decided)) -> CheckPermissionRecord {
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

/// Maximum number of rows in text.
const MAX_ROWS: usize = 40;

/// Decides on the calls of these sessions (paths, ids or titles; empty for all), and prints counts and proposals.
///
/// # Errors
/// Decisions cannot be set up, or reading or writing failed.
fn replay(
    sessions: &[String],
    matching: &MatchArguments,
    form: Form,
    registry: Registry,
    permissions: PermissionSettings,
    here: PathBuf,
    io: &mut Io,
) -> anyhow::Result<Status> {
    let denies = permissions.denies_instead_of_asking;
    let shell = ShellGuarantees {
        probes_git: false,
        ..ShellGuarantees::OWN
    };
    let decisions = call_decisions(registry, permissions, here.clone(), shell, io)?;
    let (mut listing, period) = matching.listing_of_calls(io.clock.as_ref());
    let mut errors = InputErrors::new(&io.messages);
    let source = &matching.source;
    let (_copies, candidates) = source.named_or_all(sessions, &mut errors, io)?;
    let progress = ProgressLine::of_sessions("reading", candidates.len(), io);
    listing.examined = progress.done();
    let mut replay = PastDecisions::new(decisions, denies);
    let mut read = 0;
    let mut cwd = here.clone();
    calls_of_all(&candidates, &listing, &mut |event| {
        match event {
            CallEvent::Session(listed) => {
                read += 1;
                let recorded = listed.facts.cwd.as_ref().map(PathBuf::from);
                cwd = recorded.unwrap_or_else(|| here.clone());
            }
            CallEvent::Call(call) if call.is_within(&period) => {
                replay.add(&call.call.name, call.call.input.get(), &cwd);
            }
            CallEvent::Call(_) => {}
            CallEvent::Failed { path, error } => errors.report_all(vec![(path, error)]),
        }
        ControlFlow::Continue(())
    });
    drop(progress);
    if read == 0 && sessions.is_empty() {
        source.note_none(0, io);
    }
    let proposals = replay.proposals(here);
    let mut writer = output::writer(form, io)?;
    if form == Form::Jsonl {
        for record in replay.counts.values() {
            writer.record(record)?;
        }
        for proposal in &proposals {
            writer.record(proposal)?;
        }
    } else {
        print_history(&replay, read, &proposals, &mut writer, io.terminal.columns)?;
    }
    writer.flush()?;
    Ok(errors.outcome(Status::Done))
}

fn print_history(
    replay: &PastDecisions,
    sessions: u64,
    proposals: &[PermissionProposalRecord],
    writer: &mut RecordWriter,
    columns: Option<usize>,
) -> WriteResult {
    let whole = replay
        .counts
        .values()
        .filter(|count| count.command.is_none());
    let sum = |number: fn(&PermissionCountRecord) -> u64| {
        with_separators(whole.clone().map(number).sum::<u64>())
    };
    let head = format!(
        "{} calls of {} sessions: {} allowed, {} asked about, {} denied\n",
        sum(|count| count.calls),
        with_separators(sessions),
        sum(|count| count.allow),
        sum(|count| count.ask),
        sum(|count| count.deny),
    );
    writer.echo(head.as_bytes())?;
    let mut counts: Vec<_> = replay.counts.values().collect();
    counts.sort_by_key(|count| std::cmp::Reverse((count.ask + count.deny, count.calls)));
    let rows = counts.iter().take(MAX_ROWS).map(|count| {
        let command = count.command.as_deref().unwrap_or_default();
        let numbers = [count.calls, count.allow, count.ask, count.deny];
        ([count.tool.as_str(), command], numbers)
    });
    let page = count_table("TOOL COMMAND CALLS ALLOWED ASKED DENIED", rows, columns);
    writer.echo(format!("\n{page}").as_bytes())?;
    if counts.len() > MAX_ROWS {
        let left = with_separators((counts.len() - MAX_ROWS) as u64);
        writer.echo(format!("and {left} more rows; `-o jsonl` prints all\n").as_bytes())?;
    }
    for (index, proposal) in proposals.iter().enumerate() {
        let start = if index == 0 {
            "\nRules that would have spared the most questions:\n"
        } else {
            ""
        };
        let spares = with_separators(proposal.spares);
        let rule = terminal_safe_line(&proposal.rule);
        let also = &proposal.also_allows;
        let text = format!("{start}{spares:>7}  {rule}\n         also: {also}\n");
        writer.echo(text.as_bytes())?;
    }
    Ok(())
}
