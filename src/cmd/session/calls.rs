//! `session calls`: lists tool calls.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use clap::Args;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use crate::cmd::session::source::{MatchArguments, SourceArguments, about};
use crate::cmd::{
    Form, FormArguments, Globals, InputErrors, RecordWriter, Run, Status, UsageError, output,
};
use crate::io::Io;
use crate::jsonl::WriteResult;
use crate::message::CallOutcome;
use crate::records::{FileChange, SessionCallCountRecord, SessionCallRecord, SessionDescription};
use crate::session::{CallEvent, SessionCall, calls_of_all};
use crate::shell::{program_and_subcommand, simple_commands};
use crate::text::{fitted, terminal_safe_line};
use crate::tool_facts::{Parameter, Purpose, command_line, parameters, texts};
use crate::view::{ProgressLine, changed_files, count_table, input_gist, recorded_minute};

/// List tool calls with their subjects and outcomes
///
/// Prints a line for each call on a terminal, otherwise a record. Sessions are in order of their last activity.
/// With `--since` and `--until` only calls of that time count. Calls of subagents are included; a call that a
/// fork copied appears once. Files changed by edits, writes and patches are listed; changes by shell commands
/// are not known.
#[derive(Debug, Args)]
pub(crate) struct SessionCallsArguments {
    /// Sessions: paths, ids or their prefixes, titles, or `latest` [default: all]
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    #[command(flatten)]
    matching: MatchArguments,
    /// Only calls of these tools; separate several by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    tool: Vec<String>,
    /// Only calls that failed
    #[arg(long)]
    failed: bool,
    /// Only calls that the user or a rule denied
    #[arg(long)]
    denied: bool,
    /// Only calls that changed files
    #[arg(long)]
    changed: bool,
    /// Only calls that name this file, or a file below this directory
    #[arg(long, value_name = "PATH")]
    path: Option<PathBuf>,
    /// Print this member of the input instead of all of it
    #[arg(long, value_name = "NAME")]
    field: Option<String>,
    /// Print the number of calls of each tool and program instead
    #[arg(short, long, conflicts_with = "field")]
    count: bool,
    /// Print at most N calls
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "count")]
    limit: Option<NonZeroUsize>,
    #[command(flatten)]
    form: FormArguments,
}

impl Run for SessionCallsArguments {
    fn source(&mut self) -> Option<&mut SourceArguments> {
        Some(&mut self.matching.source)
    }

    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let form = self.form.form(io.terminal);
        let (mut listing, period) = self.matching.listing_of_calls(io.clock.as_ref());
        let mut errors = InputErrors::new(&io.messages);
        let source = &self.matching.source;
        let (_copies, candidates) = source.named_or_all(&self.sessions, &mut errors, io)?;
        if form == Form::Text && candidates.is_empty() && self.sessions.is_empty() {
            source.note_none(0, io);
            return Ok(errors.outcome(Status::Done));
        }
        if form == Form::Text {
            output::use_pager(globals, io);
        }
        let progress = ProgressLine::of_sessions("reading", candidates.len(), io);
        listing.examined = progress.done();
        let mut printer = Printer {
            writer: output::writer(form, io)?,
            form,
            colored: globals.colors_output(io),
            columns: io.terminal.columns,
            zone: io.clock.time_zone(),
            about: SessionDescription::default(),
            heading: None,
        };
        let path = self.path.as_deref().map(std::path::absolute).transpose()?;
        let mut counts = Counts::default();
        let mut left = self.limit.map_or(usize::MAX, NonZeroUsize::get);
        let mut written = Ok(());
        calls_of_all(&candidates, &listing, &mut |event| {
            match event {
                CallEvent::Session(listed) => {
                    printer.session(about(listed.path, listed.agent, listed.facts));
                }
                CallEvent::Call(call) => {
                    let seen = SeenCall::new(&call, &printer.about);
                    if !self.admits(&call, &seen, &period, path.as_deref()) {
                        return ControlFlow::Continue(());
                    }
                    if self.count {
                        counts.add(&call, &seen);
                        return ControlFlow::Continue(());
                    }
                    written = printer.call(*call, seen, self.field.as_deref());
                    left -= 1;
                }
                CallEvent::Failed { path, error } => {
                    errors.report(path.display(), &UsageError::reason(error));
                }
            }
            if written.is_err() || left == 0 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        written?;
        drop(progress);
        if self.count {
            printer.counts(counts)?;
        }
        printer.writer.flush()?;
        Ok(errors.outcome(Status::Done))
    }
}

impl SessionCallsArguments {
    fn admits(
        &self,
        call: &SessionCall,
        seen: &SeenCall,
        period: &Range<Timestamp>,
        path: Option<&Path>,
    ) -> bool {
        let outcome = seen.outcome;
        let is_denied = outcome.is_some_and(CallOutcome::is_denied);
        let is_of = |name: &String| name.eq_ignore_ascii_case(&call.call.name);
        is_within(call, period)
            && (self.tool.is_empty() || self.tool.iter().any(is_of))
            && (!self.failed || outcome == Some(CallOutcome::Failed))
            && (!self.denied || is_denied)
            && (!self.changed || (outcome == Some(CallOutcome::Ok) && !seen.files.is_empty()))
            && path.is_none_or(|path| seen.paths().any(|named| named.starts_with(path)))
    }
}

/// Facts in the input and the result of a call.
pub(crate) struct SeenCall {
    pub(crate) input: Map<String, Value>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) files: Vec<FileChange>,
    pub(crate) outcome: Option<CallOutcome>,
}

impl SeenCall {
    pub(crate) fn new(call: &SessionCall, about: &SessionDescription) -> Self {
        let input = serde_json::from_str(call.call.input.get()).unwrap_or_default();
        let cwd = about.cwd.as_ref().map(PathBuf::from);
        let mut files = changed_files(&input);
        for file in &mut files {
            if let Some(cwd) = &cwd {
                file.path = cwd.join(&file.path).display().to_string();
            }
        }
        Self {
            input,
            cwd,
            files,
            outcome: call.result.as_ref().map(|result| result.outcome),
        }
    }

    /// Returns the files that the input names.
    fn paths(&self) -> impl Iterator<Item = PathBuf> {
        let changed = self.files.iter().map(|file| PathBuf::from(&file.path));
        let named = texts(&self.input, Parameter::Path).unwrap_or_default();
        let named = named.into_iter().map(|path| match &self.cwd {
            Some(cwd) => cwd.join(path),
            None => PathBuf::from(path),
        });
        changed.chain(named)
    }

    /// Returns the shell command that a call runs.
    pub(crate) fn command(&self, call: &SessionCall) -> Option<String> {
        if Purpose::of(&call.call.name) != Purpose::Shell {
            return None;
        }
        let mut names = parameters(Parameter::Command).iter();
        names.find_map(|name| command_line(self.input.get(*name)?))
    }
}

/// Whether a call was made in this period. Calls without a time count if the period has no start.
pub(crate) fn is_within(call: &SessionCall, period: &Range<Timestamp>) -> bool {
    let time = call.time.as_deref().and_then(|time| time.parse().ok());
    period.contains(&time.unwrap_or(Timestamp::MIN))
}

/// Returns the time from a call to its result, in milliseconds.
pub(crate) fn duration_ms(call: &SessionCall) -> Option<u64> {
    let parse = |time: &str| time.parse::<Timestamp>().ok();
    let start = parse(call.time.as_deref()?)?;
    let end = parse(call.result.as_ref()?.time.as_deref()?)?;
    u64::try_from(end.duration_since(start).as_millis()).ok()
}

/// Counts by tool and program.
#[derive(Default)]
struct Counts(BTreeMap<(String, Option<String>), SessionCallCountRecord>);

impl Counts {
    /// Adds a call, for each program that its command runs.
    fn add(&mut self, call: &SessionCall, seen: &SeenCall) {
        let tool = &call.call.name;
        let line = seen.command(call).unwrap_or_default();
        let mut commands: Vec<Option<String>> = simple_commands(&line)
            .commands
            .iter()
            .filter_map(|command| program_and_subcommand(&command.words).map(Some))
            .collect();
        commands.sort_unstable();
        commands.dedup();
        if commands.is_empty() {
            commands.push(None);
        }
        for command in commands {
            let count = self.0.entry((tool.clone(), command.clone()));
            let count = count.or_insert_with(|| SessionCallCountRecord {
                tool: tool.clone(),
                command,
                calls: 0,
                failed: 0,
                denied: 0,
                duration_ms: 0,
                result_bytes: 0,
            });
            count.calls += 1;
            count.failed += u64::from(seen.outcome == Some(CallOutcome::Failed));
            let is_denied = seen.outcome.is_some_and(CallOutcome::is_denied);
            count.denied += u64::from(is_denied);
            count.duration_ms += duration_ms(call).unwrap_or_default();
            count.result_bytes += call.result.as_ref().map_or(0, |result| result.bytes);
        }
    }

    /// Returns the counts, largest first.
    fn sorted(self) -> Vec<SessionCallCountRecord> {
        let mut counts: Vec<_> = self.0.into_values().collect();
        counts.sort_by_key(|count| std::cmp::Reverse(count.calls));
        counts
    }
}

/// Maximum width of a tool's name in text, in columns.
const TOOL_COLUMNS: usize = 12;

struct Printer {
    writer: RecordWriter,
    form: Form,
    colored: bool,
    columns: Option<usize>,
    zone: TimeZone,
    /// The session of the calls that follow.
    about: SessionDescription,
    /// The heading of that session, until it is printed.
    heading: Option<String>,
}

impl Printer {
    fn session(&mut self, about: SessionDescription) {
        let title = about.title.as_deref().or(about.first_prompt.as_deref());
        let title = terminal_safe_line(title.unwrap_or("Session"));
        let heading = format!("{title} · {}", about.agent);
        let heading = fitted(&heading, self.columns.unwrap_or(usize::MAX));
        self.heading = Some(output::styled(self.colored, "1", &heading));
        self.about = about;
    }

    fn call(&mut self, call: SessionCall, seen: SeenCall, field: Option<&str>) -> WriteResult {
        let topic = input_gist(&seen.input, self.about.cwd.as_deref());
        if self.form == Form::Text {
            let field = field.map(|name| seen.input.get(name).map(text_of).unwrap_or_default());
            return self.line(&call, &field.unwrap_or(topic));
        }
        let about = &self.about;
        let duration_ms = duration_ms(&call);
        let result = call.result.as_ref();
        let record = SessionCallRecord {
            session_id: about.session_id.clone(),
            agent: about.agent.clone(),
            path: about.path.clone(),
            cwd: about.cwd.clone(),
            subagent: call.is_subagent,
            timestamp: call.time,
            duration_ms,
            tool_use_id: call.call.id,
            tool: call.call.name,
            about: topic,
            input: field.is_none().then(|| call.call.input.get().to_owned()),
            field: field.and_then(|name| seen.input.get(name).map(text_of)),
            outcome: seen.outcome,
            exit_status: result.and_then(|result| result.exit_status),
            result_bytes: result.map(|result| result.bytes),
            files: seen.files,
        };
        self.writer.record(&record)
    }

    fn line(&mut self, call: &SessionCall, topic: &str) -> WriteResult {
        if let Some(heading) = self.heading.take() {
            self.writer.echo(format!("{heading}\n").as_bytes())?;
        }
        let time = recorded_minute(call.time.as_deref(), &self.zone);
        let outcome = match &call.result {
            None => "no result",
            Some(result) => match result.outcome {
                CallOutcome::Ok => "ok",
                CallOutcome::Failed => "failed",
                CallOutcome::Declined | CallOutcome::Denied => "denied",
                CallOutcome::Interrupted => "stopped",
                CallOutcome::Cancelled => "cancelled",
            },
        };
        let seconds = duration_ms(call).map(|duration| {
            let tenths = duration / 100;
            format!("{}.{} s", tenths / 10, tenths % 10)
        });
        let seconds = seconds.unwrap_or_default();
        let tool = fitted(&terminal_safe_line(&call.call.name), TOOL_COLUMNS);
        let head = format!("{time:16}  {outcome:9} {seconds:>8}  {tool:TOOL_COLUMNS$}  ");
        let width = self
            .columns
            .map(|columns| columns.saturating_sub(head.chars().count()));
        let topic = fitted(&terminal_safe_line(topic), width.unwrap_or(usize::MAX));
        let is_bad = !matches!(outcome, "ok" | "no result");
        let head = output::styled(self.colored, if is_bad { "31" } else { "2" }, &head);
        self.writer.echo(format!("{head}{topic}\n").as_bytes())
    }

    fn counts(&mut self, counts: Counts) -> WriteResult {
        let counts = counts.sorted();
        if self.form == Form::Jsonl {
            return counts
                .iter()
                .try_for_each(|count| self.writer.record(count));
        }
        let heads = "TOOL COMMAND CALLS FAILED DENIED SECONDS BYTES";
        let rows = counts.iter().map(|count| {
            let command = count.command.as_deref().unwrap_or_default();
            let numbers = [
                count.calls,
                count.failed,
                count.denied,
                count.duration_ms / 1000,
                count.result_bytes,
            ];
            ([count.tool.as_str(), command], numbers)
        });
        let page = count_table(heads, rows, self.columns);
        self.writer.echo(page.as_bytes())
    }
}

/// Returns a string unchanged, any other value as JSON.
fn text_of(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
