//! `session stats`: what sessions cost.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::command::Run;
use super::cost_table::{CostRow, cost_cell, cost_table};
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
use crate::wire::records::{Dimension, SessionCostRecord, SessionStatsRecord};

/// Count tokens, money and calls by model, tool, day and purpose
///
/// Counts the named sessions, or all of them. Every branch of a session counts, because it was paid
/// for. Money is what an agent recorded, else what the tokens cost by list prices, whatever a
/// subscription covers. Tokens of a model without a price are not in the cost, which is then marked by
/// a plus.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe session stats
  turnpipe session stats --since 1w --json
  turnpipe session stats --by day,model --since 1w
  turnpipe session stats --by project --json | jq -s 'sort_by(.usage.cost_usd) | .[-5:]'
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
    /// One row for each day, model and so on, and in text their sum; separate several by commas
    #[arg(long, value_enum, value_name = "DIMENSION", value_delimiter = ',')]
    by: Vec<Dimension>,
    /// Where days, weeks and months begin, as in Europe/Berlin [default: the system's zone in text, UTC
    /// in records]
    #[arg(long, value_name = "ZONE", value_parser = zone)]
    tz: Option<TimeZone>,
    /// Prices that count more than those that are built in; `data/prices.toml` in the source shows
    /// the form
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    #[command(flatten)]
    form: FormArguments,
}

fn zone(name: &str) -> Result<TimeZone, &'static str> {
    TimeZone::get(name).map_err(|_| "not a time zone, such as Europe/Berlin or UTC")
}

impl Run for SessionStatsArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        let now = io.clock.now();
        let since = self.since.map(|since| since.time(now));
        let until = self.until.map(|until| until.time(now));
        let config = globals.config(&io.environment)?;
        let prices = config.prices(self.prices.as_deref());
        let prices = prices.map_err(UsageError::reason)?;
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
        tally.price(&prices);
        drop(progress);
        let form = self.form.form(io.terminal);
        let zone = self.tz.unwrap_or_else(|| match form {
            Form::Text => io.clock.time_zone(),
            Form::Jsonl => TimeZone::UTC,
        });
        let all = tally.costs(&[], &zone).pop().unwrap_or_default();
        if !all.unpriced_models.is_empty() && !globals.quiet {
            let models: Vec<&str> = all.unpriced_models.iter().map(String::as_str).collect();
            let models = terminal_safe_line(&models.join(", "));
            io.messages.note(&format!(
                "no price for {models}; the cost is without their tokens"
            ));
            io.messages.hint("`--prices FILE` adds prices");
        }
        let columns = io.terminal.columns;
        if self.by.is_empty() {
            let stats = tally.finish(&zone);
            print(form, &[stats], |stats| page(&stats[0], columns), io)?;
        } else {
            let costs = tally.costs(&self.by, &zone);
            let page = |costs: &[_]| cost_page(&self.by, costs, &all, columns);
            print(form, &costs, page, io)?;
        }
        Ok(errors.outcome(Outcome::Done))
    }
}

/// Prints records, or a page about them.
fn print<Record: Serialize>(
    form: Form,
    records: &[Record],
    page: impl FnOnce(&[Record]) -> String,
    io: &mut Io,
) -> anyhow::Result<()> {
    if form == Form::Text {
        return output::print(io, &page(records));
    }
    let mut writer = output::record_writer(io)?;
    for record in records {
        writer.record(record)?;
    }
    writer.flush()?;
    Ok(())
}

/// A row for each of `costs`, and one for `all`.
fn cost_page(
    by: &[Dimension],
    costs: &[SessionCostRecord],
    all: &SessionCostRecord,
    columns: Option<usize>,
) -> String {
    let heads = by.iter().filter_map(Dimension::to_possible_value);
    let heads: Vec<String> = heads.map(|head| head.get_name().to_uppercase()).collect();
    let rows = costs.iter().chain([all]).map(|cost| {
        let names = by.iter().enumerate().map(|(place, dimension)| {
            let name = cost.by.get(dimension).map(String::as_str);
            name.unwrap_or(if place == 0 { "TOTAL" } else { "" })
        });
        CostRow {
            names: names.collect(),
            counts: Vec::new(),
            usage: &cost.usage,
            unpriced_models: &cost.unpriced_models,
        }
    });
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    cost_table(&heads, &[], &rows.collect::<Vec<_>>(), columns)
}

fn page(stats: &SessionStatsRecord, columns: Option<usize>) -> String {
    let mut page = format!(
        "{} sessions, {} prompts, {} replies, {}\n",
        stats.sessions,
        stats.prompts,
        stats.replies,
        cost_cell(&stats.usage, &stats.unpriced_models)
    );
    for (title, shares) in [
        ("MODEL", &stats.by_model),
        ("DAY", &stats.by_day),
        ("ASKED BY", &stats.by_prompt_id),
    ] {
        let rows = shares.iter().map(|share| CostRow {
            names: vec![&share.name],
            counts: vec![share.replies],
            usage: &share.usage,
            unpriced_models: &share.unpriced_models,
        });
        page.push('\n');
        let rows: Vec<CostRow> = rows.collect();
        page.push_str(&cost_table(&[title], &["REPLIES"], &rows, columns));
    }
    let head = ["TOOL", "CALLS", "FAILED"].map(str::to_owned).to_vec();
    let tools = stats.by_tool.iter().map(|tool| {
        let counts = [tool.calls, tool.failed].map(|count| count.to_string());
        [vec![terminal_safe_line(&tool.name)], counts.to_vec()].concat()
    });
    page.push('\n');
    page.push_str(&table(std::iter::once(head).chain(tools).collect(), 1));
    page
}
