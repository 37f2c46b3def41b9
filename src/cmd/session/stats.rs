//! `session stats`: tokens and costs of sessions.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::Value;

use crate::cmd::inputs::take_stdin;
use crate::cmd::session::agent_name::AgentName;
use crate::cmd::session::source::{MatchArguments, SourceArguments};
use crate::cmd::times::TimeArgument;
use crate::cmd::{Form, FormArguments, Globals, InputErrors, Run, Status, UsageError, output};
use crate::io::Io;
use crate::records::{Dimension, SessionCostRecord, SessionStatsRecord, SessionToolRecord};
use crate::session::{Agent, Depth, Detail, Prices, Session, Tally, subagents_beside};
use crate::text::{counted, dollars, terminal_safe_line, with_separators};
use crate::view::{
    CostRow, ProgressLine, cost_cell, cost_table, count_table, fitted_table, runs_cell, spelled,
};

/// Count tokens, costs and calls by model, tool, day and prompt id
///
/// Counts the named sessions, or all of them. With `--since` and `--until` only requests of that
/// time count. All branches of a session count, because they were paid for. The cost is what an
/// agent recorded, else list prices of the tokens, regardless of subscriptions. Tokens of models
/// without a price are not in the cost, which is then followed by a plus.
///
/// `--by tool` counts calls and the text of their results. The cost of a reply is not divided among
/// its calls. A token is assumed to be four bytes.
#[derive(Debug, Args)]
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
    #[arg(long, value_name = "ZONE", value_parser = zone)]
    tz: Option<TimeZone>,
    /// Prices that take precedence over the built-in ones; `data/prices.toml` in the source shows the
    /// format
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Print one line, and exit with 1 if more than this many US dollars were spent
    #[arg(long, value_name = "AMOUNT", conflicts_with = "by", value_parser = amount)]
    budget: Option<f64>,
    /// Print a line for Claude Code's status line, whose input is read from standard input: the model,
    /// the cost of the session, the day and the current block of five hours, and the use of the
    /// context. Only sessions of the last 24 hours are read
    #[arg(long, conflicts_with_all = ["by", "budget", "since", "until", "sessions", "output", "json"])]
    statusline: bool,
    #[command(flatten)]
    form: FormArguments,
}

pub(crate) fn amount(text: &str) -> Result<f64, &'static str> {
    let amount = text.parse().ok();
    amount
        .filter(|amount: &f64| amount.is_finite() && *amount >= 0.0)
        .ok_or("not an amount of US dollars, such as 20 or 2.50")
}

fn zone(name: &str) -> Result<TimeZone, &'static str> {
    TimeZone::get(name).map_err(|_| "not a time zone, such as Europe/Berlin or UTC")
}

impl Run for SessionStatsArguments {
    fn source(&mut self) -> Option<&mut SourceArguments> {
        Some(&mut self.matching.source)
    }

    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let now = io.clock.now();
        let form = self.form.form(io.terminal);
        let zone = self.tz.unwrap_or_else(|| io.clock.time_zone());
        let (since, until) = self.matching.filter.period(now, &zone);
        let prices = globals.prices(self.prices.as_deref(), io)?;
        if self.statusline {
            let line = statusline(self.matching.source, &prices, &zone, io)?;
            output::print(io, &line)?;
            return Ok(Status::Done);
        }
        let is_about_tools = self.by.contains(&Dimension::Tool);
        let detail = match (is_about_tools, self.by.is_empty() && self.budget.is_none()) {
            (true, _) => Detail::Full,
            (false, true) => Detail::Activity,
            (false, false) => Detail::Costs,
        };
        let period = since.unwrap_or(Timestamp::MIN)..until.unwrap_or(Timestamp::MAX);
        let mut tally = Tally::within(period, detail);
        let mut errors = InputErrors::new(&io.messages);
        let mut candidates = Vec::new();
        if self.sessions.is_empty() {
            self.matching.source.check_roots(&mut errors);
            candidates = self.matching.source.candidates(&io.environment);
            candidates.extend(subagents_beside(&candidates));
        }
        let named = self.matching.source.named_for_reading(&self.sessions, io)?;
        let count = candidates.len() + named.len();
        if count == 0 && form == Form::Text && self.budget.is_none() {
            self.matching.source.note_none(count, io);
            return Ok(errors.outcome(Status::Done));
        }
        let progress = ProgressLine::of_sessions("reading", count, io);
        if self.sessions.is_empty() {
            let mut listing = self.matching.listing(Depth::Whole, io.clock.as_ref());
            // The period applies to requests. A session may continue after it.
            listing.selection.since = since;
            listing.selection.until = None;
            listing.examined = progress.done();
            errors.report_all(tally.add_all(&candidates, &listing));
        }
        for named in named {
            let session = named.open();
            let added = session.and_then(|session| tally.add(&session).map_err(UsageError::reason));
            if let Err(error) = added {
                errors.report(&named.name, &error);
            }
            progress.advance();
        }
        tally.price(&prices);
        drop(progress);
        let all = tally.total();
        if !all.unpriced_models.is_empty() && !is_about_tools {
            let models: Vec<&str> = all.unpriced_models.iter().map(String::as_str).collect();
            let models = terminal_safe_line(&models.join(", "));
            io.messages.warn(&format!(
                "no price for {models}; the cost does not include it"
            ));
            io.messages.hint("`--prices FILE` adds prices");
        }
        let columns = io.terminal.columns;
        if let Some(budget) = self.budget {
            let page = |_: &[_]| {
                let cost = cost_cell(&all.usage, &all.unpriced_models);
                format!("{cost} of {}\n", dollars(budget))
            };
            print(form, std::slice::from_ref(&all), page, globals, io)?;
            let is_exceeded = all.usage.cost.is_some_and(|cost| cost > budget);
            return Ok(errors.outcome(Status::negative_if(is_exceeded)));
        }
        if is_about_tools {
            let tools = tally.tools(&self.by, &zone);
            let page = |tools: &[_]| tool_page(&self.by, tools, columns);
            print(form, &tools, page, globals, io)?;
        } else if self.by.is_empty() {
            let stats = tally.finish(all, &zone);
            print(
                form,
                &[stats],
                |stats| page(&stats[0], columns),
                globals,
                io,
            )?;
        } else {
            let costs = tally.costs(&self.by, &zone);
            let page = |costs: &[_]| cost_page(&self.by, costs, &all, columns);
            print(form, &costs, page, globals, io)?;
        }
        Ok(errors.outcome(Status::Done))
    }
}

/// Prints records, or a page of text.
fn print<Record: Serialize>(
    form: Form,
    records: &[Record],
    page: impl FnOnce(&[Record]) -> String,
    globals: &Globals,
    io: &mut Io,
) -> anyhow::Result<()> {
    if form == Form::Text {
        return output::page(&page(records), globals, io);
    }
    output::records(records, io)
}

fn heads(by: &[Dimension]) -> Vec<String> {
    let heads = by.iter().filter_map(|dimension| match dimension {
        Dimension::Cwd => Some("DIRECTORY".to_owned()),
        _ => Some(dimension.to_possible_value()?.get_name().to_uppercase()),
    });
    heads.collect()
}

/// Returns a page with a row for each of `tools`, and one for the sum.
fn tool_page(by: &[Dimension], tools: &[SessionToolRecord], columns: Option<usize>) -> String {
    let mut head = heads(by);
    head.extend(["CALLS", "FAILED", "RESULTS", "BYTES", "~TOKENS"].map(str::to_owned));
    let mut page = vec![head];
    let mut sum = [0; 5];
    for tool in tools {
        let names = by
            .iter()
            .filter_map(|dimension| tool.dimensions.get(dimension));
        let numbers = [
            tool.calls,
            tool.failed,
            tool.results,
            tool.result_bytes,
            tool.result_tokens,
        ];
        for (sum, number) in sum.iter_mut().zip(numbers) {
            *sum += number;
        }
        let names = names.map(|name| terminal_safe_line(name));
        page.push(names.chain(numbers.map(with_separators)).collect());
    }
    let names = (0..by.len()).map(|place| if place == 0 { "TOTAL" } else { "" });
    let names = names.map(str::to_owned);
    page.push(names.chain(sum.map(with_separators)).collect());
    fitted_table(page, by.len(), columns)
}

/// Returns a page with a row for each of `costs`, and one for `all`.
fn cost_page(
    by: &[Dimension],
    costs: &[SessionCostRecord],
    all: &SessionCostRecord,
    columns: Option<usize>,
) -> String {
    let heads = heads(by);
    let rows = costs.iter().chain([all]).map(|cost| {
        let names = by.iter().enumerate().map(|(place, dimension)| {
            let name = cost.dimensions.get(dimension).map(String::as_str);
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
    let bars = match by {
        [Dimension::Day | Dimension::Week | Dimension::Month | Dimension::Block] => costs.len(),
        _ => 0,
    };
    cost_table(&heads, &[], &rows.collect::<Vec<_>>(), bars, columns)
}

fn page(stats: &SessionStatsRecord, columns: Option<usize>) -> String {
    let recorded = stats.recorded_cost;
    let recorded = recorded.map(|cost| format!("recorded by the agents: {}\n", dollars(cost)));
    let runs = stats.runs.as_ref().map(|runs| runs_cell(runs) + "\n");
    let mut page = format!(
        "{}, {}, {}, {}\n{}{}",
        counted(stats.sessions, "session", "sessions"),
        counted(stats.prompts, "prompt", "prompts"),
        counted(stats.replies, "reply", "replies"),
        cost_cell(&stats.usage, &stats.unpriced_models),
        recorded.unwrap_or_default(),
        runs.unwrap_or_default(),
    );
    for (title, shares) in [
        ("MODEL", &stats.by_model),
        ("DAY", &stats.by_day),
        ("ASKED BY", &stats.by_prompt_id),
    ] {
        if shares.is_empty() {
            continue;
        }
        let rows = shares.iter().map(|share| CostRow {
            names: vec![&share.name],
            counts: vec![share.replies],
            usage: &share.usage,
            unpriced_models: &share.unpriced_models,
        });
        page.push('\n');
        let rows: Vec<CostRow> = rows.collect();
        let bars = if title == "DAY" { rows.len() } else { 0 };
        page.push_str(&cost_table(&[title], &["REPLIES"], &rows, bars, columns));
    }
    if stats.by_tool.is_empty() {
        return page;
    }
    let tools = stats.by_tool.iter();
    let tools = tools.map(|tool| ([tool.name.as_str()], [tool.calls, tool.failed]));
    page.push('\n');
    page.push_str(&count_table("TOOL CALLS FAILED", tools, columns));
    page
}

/// Minimum period of the requests to read. The start of a block depends on the blocks before it, up to a
/// pause of five hours.
const LOOK_BACK: SignedDuration = SignedDuration::from_hours(24);

/// Maximum size of the input, in bytes.
const MAX_INPUT: u64 = 1024 * 1024;

/// Returns the line for the input on standard input.
///
/// # Errors
/// The input cannot be read, or is not an object.
pub(crate) fn statusline(
    mut source: SourceArguments,
    prices: &Prices,
    zone: &TimeZone,
    io: &mut Io,
) -> anyhow::Result<String> {
    let mut text = String::new();
    let mut stdin = take_stdin(io)?.take(MAX_INPUT);
    stdin
        .read_to_string(&mut text)
        .context("cannot read standard input")?;
    let input: Value = serde_json::from_str(&text).map_err(|_| {
        UsageError::new("standard input is not the input of a status line").with_hint(
            "set it up in Claude Code's settings: \
             {\"statusLine\": {\"type\": \"command\", \"command\": \"turnpipe session stats --statusline\"}}",
        )
    })?;
    let member = |path: &str| input.pointer(path);
    let now = io.clock.now();
    let midnight = TimeArgument::DaysAgo(0).time(now, zone);
    let since = midnight.min(now.saturating_sub(LOOK_BACK)?);
    source.agent.get_or_insert(AgentName::Known(Agent::Claude));
    let mut listing = source.listing(Depth::Whole);
    listing.selection.since = Some(since);
    let mut tally = Tally::within(since..Timestamp::MAX, Detail::Costs);
    // A status line has no place to report unreadable files.
    let _ = tally.add_all(&source.candidates(&io.environment), &listing);
    tally.price(prices);

    let mut parts = Vec::new();
    let model = member("/model/display_name").and_then(Value::as_str);
    parts.extend(model.map(terminal_safe_line));
    let spent = |sum: &SessionCostRecord, on: &str| {
        format!("{} {on}", cost_cell(&sum.usage, &sum.unpriced_models))
    };
    let transcript = member("/transcript_path").and_then(Value::as_str);
    let session = match member("/cost/total_cost_usd").and_then(Value::as_f64) {
        Some(cost) => {
            let mut sum = SessionCostRecord::default();
            sum.usage.cost = Some(cost);
            Some(sum)
        }
        None => transcript.and_then(|path| {
            let session = Session::open_with(Path::new(path), &source.named_roots).ok()?;
            Some(Tally::of(&session, prices).ok()?.total())
        }),
    };
    parts.extend(session.map(|sum| spent(&sum, "session")));
    parts.push(spent(&tally.cost_since(midnight), "today"));
    if let Some(block) = tally.block_at(now) {
        let left = spelled(block.end.duration_since(now));
        let sum = spent(&tally.cost_since(block.start), "block");
        parts.push(format!("{sum} ({left} left)"));
    }
    let used = member("/context_window/used_percentage").and_then(Value::as_f64);
    parts.extend(used.map(|used| format!("{used:.0}% context")));
    Ok(parts.join(" · ") + "\n")
}
