//! `session calls`: lists tool calls.

use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use clap::Args;
use jiff::Timestamp;

use crate::commands::session::names::find_display_path;
use crate::commands::session::source::MatchArguments;
use crate::commands::{Form, FormArguments, Globals, InputErrors, Run, Status, output};
use crate::io::Io;
use crate::message::CallOutcome;
use crate::records::SessionDescription;
use crate::render::{ProgressLine, call_count_page, call_line, calls_heading};
use crate::session::{CallCounts, SeenCall};
use crate::session::{CallEvent, SessionCall, describe_session, visit_all_calls};
use crate::text::terminal_safe_line;

/// List tool calls with their subjects and outcomes
///
/// Prints a line for each call on a terminal, otherwise a record. Sessions are in order of their last activity.
/// With `--since` and `--until` only calls of that time count. Calls of subagents are included; a call that a
/// fork copied appears once. Files changed by edits, writes and patches are listed; changes by shell commands
/// are not known.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe session calls --since yesterday --failed
  turnpipe session calls latest --changed
  turnpipe session calls --path src/main.rs --since 1w
  turnpipe session calls --tool Bash --count --project demo
  turnpipe session calls --tool Bash --field command --json | jq -r .field")]
pub(crate) struct SessionCallsArguments {
    /// Sessions: paths, ids or their prefixes, titles, or `latest` [default: all]
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    #[command(flatten)]
    matching: MatchArguments,
    /// Only calls of these tools; separate several by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    tool: Vec<String>,
    /// Only calls that failed; with `--denied` both kinds
    #[arg(long)]
    failed: bool,
    /// Only calls that the user or a rule denied; with `--failed` both kinds
    #[arg(long)]
    denied: bool,
    /// Only calls that changed files
    #[arg(long)]
    changed: bool,
    /// Only calls that name this file, or a file below this directory
    ///
    /// A path that does not exist in the current directory is relative to the directory of each session.
    #[arg(long, value_name = "PATH")]
    path: Option<PathBuf>,
    /// Print this member of the input instead of all of it
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    field: Option<String>,
    /// Print the number of calls of each tool and program instead
    #[arg(short, long, conflicts_with = "field", hide_short_help = true)]
    count: bool,
    /// Print at most N calls
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "count")]
    limit: Option<NonZeroUsize>,
    #[command(flatten)]
    form: FormArguments,
}

impl Run for SessionCallsArguments {
    reads_sessions!(matching.source, sessions);

    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let form = self.form.form(io.terminal);
        let (mut listing, period) = self.matching.call_listing(io.clock.as_ref());
        let mut errors = InputErrors::new(&io.messages);
        let source = &self.matching.source;
        let (named, candidates) = source.resolve_or_all(&self.sessions, &mut errors, io)?;
        if form == Form::Text {
            if candidates.is_empty() && self.sessions.is_empty() {
                source.report_none_found(0, io);
                return Ok(errors.to_status(Status::Done));
            }
            output::use_pager(globals, io);
        }
        let progress = ProgressLine::for_sessions("reading", candidates.len(), io);
        listing.examined = progress.counter();
        let mut writer = output::open_writer(form, io)?;
        let (style, columns) = (globals.style(io), io.terminal.columns);
        let zone = io.clock.time_zone();
        // The session of the calls that follow, and its heading until it is printed.
        let mut about = SessionDescription::default();
        let mut heading = None;
        // A path that does not exist here is relative to the directory of each session.
        let path = match &self.path {
            Some(path) if path.exists() => Some(std::path::absolute(path)?),
            path => path.clone(),
        };
        let mut counts = CallCounts::default();
        let mut left = self.limit.map_or(usize::MAX, NonZeroUsize::get);
        let (mut written, mut has_calls) = (Ok(()), false);
        visit_all_calls(&candidates, &listing, &mut |event| {
            match event {
                CallEvent::Session(listed) => {
                    let path = find_display_path(listed.path, &named);
                    about = describe_session(path, listed.agent, listed.facts);
                    heading = Some(calls_heading(&about, style, columns));
                }
                CallEvent::Call(call) => {
                    let seen = SeenCall::new(&call, about.cwd.as_deref());
                    if !self.is_selected(&call, &seen, &period, path.as_deref()) {
                        return ControlFlow::Continue(());
                    }
                    has_calls = true;
                    if self.count {
                        counts.add(&call, &seen);
                        return ControlFlow::Continue(());
                    }
                    let record = call.to_record(seen, &about, self.field.as_deref());
                    written = match form {
                        Form::Jsonl => writer.record(&record),
                        Form::Text => {
                            let line = call_line(&record, style, &zone, columns);
                            writer.echo((heading.take().unwrap_or_default() + &line).as_bytes())
                        }
                    };
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
            let counts = counts.into_sorted();
            match form {
                Form::Jsonl => counts.iter().try_for_each(|count| writer.record(count)),
                Form::Text => writer.echo(call_count_page(&counts, columns).as_bytes()),
            }?;
        }
        if let Some(path) = path.filter(|_| form == Form::Text && !has_calls) {
            let path = path.display().to_string();
            let problem = format!("no call names {}", terminal_safe_line(&path));
            io.messages.warn(&problem);
        }
        writer.flush()?;
        Ok(errors.to_status(Status::Done))
    }
}

impl SessionCallsArguments {
    /// Whether a call is in the period and matches the filters. `path` is the path of `--path`.
    fn is_selected(
        &self,
        call: &SessionCall,
        seen: &SeenCall,
        period: &Range<Timestamp>,
        path: Option<&Path>,
    ) -> bool {
        let outcome = seen.outcome;
        let is_denied = outcome.is_some_and(CallOutcome::is_denied);
        let has_name = |name: &String| name.eq_ignore_ascii_case(&call.call.name);
        call.is_within(period)
            && (self.tool.is_empty() || self.tool.iter().any(has_name))
            && (!(self.failed || self.denied)
                || self.failed && outcome == Some(CallOutcome::Failed)
                || self.denied && is_denied)
            && (!self.changed || seen.changes().next().is_some())
            && path.is_none_or(|path| seen.has_path(path))
    }
}
