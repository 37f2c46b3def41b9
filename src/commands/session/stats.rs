//! `session stats`: tokens and costs of sessions.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::commands::inputs::take_stdin;
use crate::commands::session::agent_name::AgentName;
use crate::commands::session::gates::{parse_amount, report_failed_gates};
use crate::commands::session::limits;
use crate::commands::session::names::NamedSession;
use crate::commands::session::source::{MatchArguments, SourceArguments};
use crate::commands::{Globals, InputErrors, Run, Status, UsageError, output};
use crate::config::Overrides;
use crate::io::{Io, Messages};
use crate::records::{Dimension, Spending};
use crate::render::sessions::status_line;
use crate::render::{
    ProgressLine, block_line, cost_cell, cost_page, csv_table, limits_page, stats_page, tool_page,
};
use crate::session::{Agent, Depth, Detail, Prices, Tally, discover_paths, find_subagents_beside};
use crate::summaries::check_cost;
use crate::text::{format_count, format_dollars, terminal_safe_line};

/// Count tokens, costs and calls by model, tool, day and prompt id
///
/// Counts the named sessions, or all of them. With `--since` and `--until` only requests of that
/// time count. All branches of a session count, because they were paid for. The cost is what an
/// agent recorded, else list prices of the tokens, regardless of subscriptions. Tokens of models
/// without a price are not in the cost, which is then followed by a plus.
///
/// `--by project` sees the work trees of a repository as one. `--by agent-type` divides the sums among the conversation
/// and its subagents.
///
/// `--by tool` counts calls and the text of their results. The cost of a reply is not divided among
/// its calls. A token is assumed to be four bytes.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe stats
  turnpipe stats --since 1w --json
  turnpipe stats --by day,model --since 1w
  turnpipe stats --by project --json | jq -s 'sort_by(.usage.cost_usd) | .[-5:]'
  turnpipe stats --by day,model -o csv
  turnpipe stats --by tool --since yesterday
  turnpipe stats --limits
  turnpipe stats --since today --max-cost 20 || echo 'enough for today'
  turnpipe stats latest")]
pub(crate) struct SessionStatsArguments {
    /// Sessions: paths, ids or their prefixes, titles, or `latest`
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    #[command(flatten)]
    matching: MatchArguments,
    /// One row for each day, model and so on, and in text a row with the sum; separate several by commas
    #[arg(long, value_enum, value_name = "DIMENSION", value_delimiter = ',')]
    by: Vec<Dimension>,
    /// Time zone of days, weeks, months, `--since` and `--until`, e.g. Europe/Berlin
    /// [default: the system's zone]
    #[arg(long, value_name = "ZONE", value_parser = parse_zone, hide_short_help = true)]
    tz: Option<TimeZone>,
    /// Prices that take precedence over the built-in ones; `data/prices.toml` in the source shows the
    /// format
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    prices: Option<PathBuf>,
    /// Print one line, and exit with 6 if the cost is unknown or more than this many US dollars
    #[arg(long, value_name = "AMOUNT", conflicts_with = "by", value_parser = parse_amount, hide_short_help = true)]
    max_cost: Option<f64>,
    /// Print how much of each window of the plan is used, when it ends, and what the sessions used in it
    ///
    /// From the records of Codex, and for Claude Code from the last input of `--statusline`.
    #[arg(long, conflicts_with_all = ["by", "max_cost", "since", "until", "sessions"])]
    limits: bool,
    /// Print a line for Claude Code's status line, whose input is read from standard input: the model,
    /// the cost of the session, the day and the current block of five hours, and the use of the
    /// context and the plan. Only sessions of the last 24 hours are read
    #[arg(long, conflicts_with_all = ["by", "max_cost", "since", "until", "sessions", "output", "json", "limits"], hide_short_help = true)]
    statusline: bool,
    /// The output form [default: text on a terminal, else jsonl]
    #[arg(short, long, value_enum, value_name = "FORM")]
    output: Option<StatsForm>,
    /// The same as `-o jsonl`
    #[arg(long, conflicts_with = "output", hide_short_help = true)]
    json: bool,
}

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StatsForm {
    /// A table for the terminal
    Text,
    /// Records, one JSON object per line
    #[value(alias = "json")]
    Jsonl,
    /// A table for spreadsheets
    Csv,
}

fn parse_zone(name: &str) -> Result<TimeZone, &'static str> {
    TimeZone::get(name).map_err(|_| "not a time zone, such as Europe/Berlin or UTC")
}

impl Run for SessionStatsArguments {
    reads_sessions!(matching.source, sessions);

    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let now = io.clock.now();
        let form = match self.output {
            Some(form) => form,
            None if io.terminal.stdout && !self.json => StatsForm::Text,
            None => StatsForm::Jsonl,
        };
        let zone = self.tz.clone().unwrap_or_else(|| io.clock.time_zone());
        let (since, until) = self.matching.filter.period(now, &zone);
        let prices = globals.prices(self.prices.as_deref(), io)?;
        if self.statusline {
            let line = format_statusline(self.matching.source, &prices, &zone, globals, io)?;
            output::print(io, &line)?;
            return Ok(Status::Done);
        }
        if self.limits {
            return print_limits(self.matching.source, &prices, &zone, form, globals, io);
        }
        let is_about_tools = self.by.contains(&Dimension::Tool);
        let period = since.unwrap_or(Timestamp::MIN)..until.unwrap_or(Timestamp::MAX);
        let mut tally = Tally::with_period(period, self.detail());
        let mut errors = InputErrors::new(&io.messages);
        let mut candidates = Vec::new();
        if self.sessions.is_empty() {
            self.matching.source.check_roots(&mut errors);
            candidates = self.matching.source.candidates(&io.environment);
            candidates.extend(find_subagents_beside(&candidates));
        }
        let mut listing = self.matching.listing(Depth::Whole, io.clock.as_ref());
        let named = self
            .matching
            .source
            .resolve_for_reading(&self.sessions, io)?;
        if self.by.contains(&Dimension::Project) {
            let mut all = self.matching.source.candidates(&io.environment);
            let paths = named.iter().flat_map(NamedSession::paths);
            all.extend(discover_paths(paths));
            listing.learn_projects(&all);
            tally.projects = Arc::clone(&listing.selection.projects);
        }
        let count = candidates.len() + named.len();
        if count == 0 && (form == StatsForm::Text || self.max_cost.is_some()) {
            self.matching.source.report_none_found(count, io);
            if self.max_cost.is_none() {
                return Ok(errors.to_status(Status::Done));
            }
        }
        let progress = ProgressLine::for_sessions("reading", count, io);
        if self.sessions.is_empty() {
            (listing.selection.since, listing.selection.until) = (since, until);
            listing.examined = progress.counter();
            errors.report_all(tally.add_all(&candidates, &listing));
        }
        let mut has_added = named.is_empty();
        for named in named {
            let session = named.open();
            let added = session.and_then(|session| tally.add(&session).map_err(UsageError::reason));
            match added {
                Ok(_) => has_added = true,
                Err(error) => errors.report(&named.name, &error),
            }
            progress.advance();
        }
        if !has_added {
            return Ok(errors.to_status(Status::Done));
        }
        tally.price(&prices);
        drop(progress);
        let all = tally.total();
        if !is_about_tools {
            warn_of_gaps(&all.spending, tally.partial_sums, &io.messages);
        }
        let columns = io.terminal.columns;
        if let Some(limit) = self.max_cost {
            let page = |_: &[_]| {
                let cost = cost_cell(&all.spending);
                format!("{cost} of {}\n", format_dollars(limit))
            };
            print(form, std::slice::from_ref(&all), page, globals, io)?;
            let gate = check_cost(&tally.sum_costs(&[Dimension::Session], &zone), limit);
            return Ok(errors.to_status(report_failed_gates(&[gate], io)));
        }
        if is_about_tools {
            let tools = tally.sum_tools(&self.by, &zone);
            let page = |tools: &[_]| tool_page(&self.by, tools, columns);
            print(form, &tools, page, globals, io)?;
        } else if self.by.is_empty() {
            let stats = [tally.finish(all, &zone)];
            let page = |stats: &[_]| stats_page(&stats[0], columns);
            print(form, &stats, page, globals, io)?;
        } else {
            let mut costs = tally.sum_costs(&self.by, &zone);
            if self.by.contains(&Dimension::Block) {
                tally.add_block_ends(&mut costs, &zone, now);
            }
            let page =
                |costs: &[_]| cost_page(&self.by, costs, &all, columns) + &block_line(costs, &zone);
            print(form, &costs, page, globals, io)?;
        }
        Ok(errors.to_status(Status::Done))
    }
}

impl SessionStatsArguments {
    /// Returns the part of each record to read.
    fn detail(&self) -> Detail {
        // The types of subagents are in calls.
        let of_calls = [Dimension::Tool, Dimension::Subagent, Dimension::AgentType];
        if of_calls.iter().any(|dimension| self.by.contains(dimension)) {
            Detail::Full
        } else if self.by.is_empty() && self.max_cost.is_none() {
            Detail::Activity
        } else {
            Detail::Costs
        }
    }
}

/// Warns of models without a price, and of sessions whose only sum of tokens is partly outside of the period.
fn warn_of_gaps(spending: &Spending, partial_sums: u64, messages: &Messages) {
    if partial_sums > 0 {
        let sessions = format_count(partial_sums, "session", "sessions");
        messages.warn(&format!(
            "the tokens leave out {sessions} whose agent records one sum, and which are not wholly in the period"
        ));
    }
    let models: Vec<&str> = spending
        .unpriced_models
        .iter()
        .map(String::as_str)
        .collect();
    if !models.is_empty() {
        let models = terminal_safe_line(&models.join(", "));
        messages.warn(&format!("the cost leaves out {models}"));
        messages.hint("`--prices FILE` adds prices");
    }
}

/// Prints the windows of plans.
fn print_limits(
    source: SourceArguments,
    prices: &Prices,
    zone: &TimeZone,
    form: StatsForm,
    globals: &Globals,
    io: &mut Io,
) -> anyhow::Result<Status> {
    let mut errors = InputErrors::new(&io.messages);
    let state = state_root(globals, io)?;
    let windows = limits::list_windows(source, prices, zone, &state, &mut errors, io);
    if windows.is_empty() {
        io.messages.hint(
            "no limits found: Codex records them, and Claude Code tells `stats --statusline`",
        );
    }
    let now = io.clock.now();
    let page = |windows: &[_]| limits_page(windows, zone, now);
    print(form, &windows, page, globals, io)?;
    Ok(errors.to_status(Status::Done))
}

/// Returns the directory of session state.
fn state_root(globals: &Globals, io: &Io) -> Result<PathBuf, UsageError> {
    let settings = globals.config(io)?.settings(Overrides::default());
    Ok(settings.state_root.0)
}

/// Prints records, or a page of text.
fn print<Record: Serialize>(
    form: StatsForm,
    records: &[Record],
    page: impl FnOnce(&[Record]) -> String,
    globals: &Globals,
    io: &mut Io,
) -> anyhow::Result<()> {
    match form {
        StatsForm::Text => output::page(&page(records), globals, io),
        StatsForm::Jsonl => output::print_records(records, io),
        StatsForm::Csv => output::print(io, &csv_table(records)?),
    }
}

/// Maximum size of the input, in bytes.
const MAX_INPUT: u64 = 1024 * 1024;

/// Formats the status line for the input on standard input.
///
/// # Errors
/// The input cannot be read, or is not JSON.
fn format_statusline(
    mut source: SourceArguments,
    prices: &Prices,
    zone: &TimeZone,
    globals: &Globals,
    io: &mut Io,
) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    let mut stdin = take_stdin(io)?.take(MAX_INPUT);
    stdin
        .read_to_end(&mut bytes)
        .context("cannot read standard input")?;
    // Claude Code does not escape control characters in names.
    let text = String::from_utf8_lossy(&bytes).replace(|sign: char| sign.is_ascii_control(), " ");
    let input = serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|_| {
        UsageError::new("standard input is not the input of a status line").with_hint(
            "set it up in Claude Code's settings: \
             {\"statusLine\": {\"type\": \"command\", \"command\": \"turnpipe stats --statusline\"}}",
        )
    })?;
    source.agent.get_or_insert(AgentName::Known(Agent::Claude));
    let mut listing = source.listing(Depth::Whole);
    let candidates = source.candidates(&io.environment);
    let now = io.clock.now();
    let state = state_root(globals, io)?;
    if let Err(error) = limits::store_windows(&input, &state, now) {
        let state = state.display();
        io.messages
            .warn(&format!("cannot write to {state}: {error}"));
    }
    Ok(status_line(
        &input,
        &candidates,
        &mut listing,
        prices,
        zone,
        now,
    ))
}
