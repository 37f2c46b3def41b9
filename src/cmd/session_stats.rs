//! `session stats`: what sessions cost.

use clap::Args;
use jiff::Timestamp;

use super::command::Run;
use super::inputs::InputErrors;
use super::output::{self, Form, FormArguments};
use super::progress::ProgressLine;
use super::session_source::SourceArguments;
use super::table::table;
use super::times::Moment;
use super::{Globals, Outcome, UsageError};
use crate::io::Io;
use crate::session::{Depth, Tally};
use crate::text::terminal_safe_line;
use crate::wire::records::SessionStatsRecord;

/// Count tokens and calls by model, tool, day and purpose
///
/// Counts the named sessions, or all of them. Every branch of a session counts, because it was paid
/// for.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe session stats
  turnpipe session stats --since 1w --json
  turnpipe session stats latest")]
pub(super) struct SessionStatsArguments {
    /// Sessions: paths, ids or their beginnings, titles, or `latest`
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    #[command(flatten)]
    source: SourceArguments,
    /// Only what was asked and answered at this time or later (RFC 3339, a date, or an age like 2d)
    #[arg(long, value_name = "TIME")]
    since: Option<Moment>,
    /// Only what was asked and answered before this time
    #[arg(long, value_name = "TIME")]
    until: Option<Moment>,
    #[command(flatten)]
    form: FormArguments,
}

impl Run for SessionStatsArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        let now = io.clock.now();
        let since = self.since.map(|since| since.time(now));
        let until = self.until.map(|until| until.time(now));
        let progress = ProgressLine::spinner("reading sessions", globals.quiet, io);
        let mut tally =
            Tally::within(since.unwrap_or(Timestamp::MIN)..until.unwrap_or(Timestamp::MAX));
        let mut errors = InputErrors::new(&io.messages);
        if self.sessions.is_empty() {
            self.source.check_roots(&mut errors);
            let mut listing = self.source.listing(Depth::Whole);
            listing.filter.since = since;
            let candidates = self.source.candidates(&io.environment);
            for (path, error) in tally.add_all(&candidates, &listing) {
                errors.report(path.display(), &UsageError::reason(error));
            }
        }
        for named in self.source.named_for_reading(&self.sessions, io)? {
            let session = named.open();
            let added = session.and_then(|session| tally.add(&session).map_err(UsageError::reason));
            if let Err(error) = added {
                errors.report(&named.name, &error);
            }
        }
        let stats = tally.finish();
        drop(progress);
        match self.form.form(io.terminal) {
            Form::Text => output::print(io, &page(&stats))?,
            Form::Jsonl => {
                let mut writer = output::record_writer(io)?;
                writer.record(&stats)?;
                writer.flush()?;
            }
        }
        Ok(errors.outcome(Outcome::Done))
    }
}

fn page(stats: &SessionStatsRecord) -> String {
    let mut page = format!(
        "{} sessions, {} prompts, {} replies\n",
        stats.sessions, stats.prompts, stats.replies
    );
    let usage_head = ["REPLIES", "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE"];
    for (title, shares) in [
        ("MODEL", &stats.by_model),
        ("DAY", &stats.by_day),
        ("ASKED BY", &stats.by_prompt_id),
    ] {
        let rows = shares.iter().map(|share| {
            let usage = &share.usage;
            let tokens = [
                usage.input,
                usage.output,
                usage.cache_read,
                usage.cache_write,
            ];
            (&share.name, [&[share.replies], &tokens[..]].concat())
        });
        page.push_str(&numbers(title, &usage_head, rows));
    }
    let tools = stats.by_tool.iter();
    let tools = tools.map(|tool| (&tool.name, vec![tool.calls, tool.failed]));
    page.push_str(&numbers("TOOL", &["CALLS", "FAILED"], tools));
    page
}

/// A table of numbers by name, below an empty line.
fn numbers<'a>(
    title: &str,
    head: &[&str],
    rows: impl Iterator<Item = (&'a String, Vec<u64>)>,
) -> String {
    let head = std::iter::once(&title).chain(head);
    let mut lines = vec![head.map(|name| (*name).to_owned()).collect()];
    for (name, numbers) in rows {
        let numbers = numbers.iter().map(u64::to_string);
        lines.push(
            std::iter::once(terminal_safe_line(name))
                .chain(numbers)
                .collect(),
        );
    }
    format!("\n{}", table(lines, 1))
}
