//! `session calls`: lists tool calls.

use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use clap::Args;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::cmd::session::source::MatchArguments;
use crate::cmd::{Form, FormArguments, Globals, InputErrors, RecordWriter, Run, Status, output};
use crate::io::Io;
use crate::jsonl::WriteResult;
use crate::message::CallOutcome;
use crate::records::{SessionCallRecord, SessionDescription};
use crate::session::{
    CallCounts, CallEvent, SeenCall, SessionCall, calls_of_all, session_description,
};
use crate::text::{fitted, terminal_safe_line};
use crate::view::{ProgressLine, count_table, input_gist, recorded_minute};

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
    reads_sessions!(matching.source);

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
        let mut counts = CallCounts::default();
        let mut left = self.limit.map_or(usize::MAX, NonZeroUsize::get);
        let mut written = Ok(());
        calls_of_all(&candidates, &listing, &mut |event| {
            match event {
                CallEvent::Session(listed) => {
                    printer.session(session_description(listed.path, listed.agent, listed.facts));
                }
                CallEvent::Call(call) => {
                    let seen = SeenCall::new(&call, printer.about.cwd.as_deref());
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
                CallEvent::Failed { path, error } => errors.report_all(vec![(path, error)]),
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
        call.is_within(period)
            && (self.tool.is_empty() || self.tool.iter().any(is_of))
            && (!self.failed || outcome == Some(CallOutcome::Failed))
            && (!self.denied || is_denied)
            && (!self.changed || seen.changes().next().is_some())
            && path.is_none_or(|path| seen.names(path))
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
        let duration_ms = call.duration_ms();
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
        let seconds = call.duration_ms().map(|duration| {
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

    fn counts(&mut self, counts: CallCounts) -> WriteResult {
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
