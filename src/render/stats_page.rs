//! Pages of `session stats`.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::cost_table::{CostRow, cost_cell, cost_table, count_table, fit_table, runs_cell};
use super::times::format_duration;
use crate::agent::timestamp;
use crate::records::{Dimension, SessionCostRecord, SessionStatsRecord, SessionToolRecord};
use crate::text::{format_count, format_dollars, format_number, terminal_safe_line};

fn dimension_heads(by: &[Dimension]) -> Vec<String> {
    let heads = by.iter().map(|dimension| match dimension {
        Dimension::Cwd => "DIRECTORY".to_owned(),
        Dimension::AgentType => "AGENT TYPE".to_owned(),
        _ => dimension.name().to_uppercase(),
    });
    heads.collect()
}

/// The name of a group whose sessions do not contain it.
const UNKNOWN: &str = "(unknown)";

/// Returns the names of a group. The group of all requests is the total.
fn group_names<'a>(
    by: &[Dimension],
    group: &'a BTreeMap<Dimension, Option<String>>,
) -> Vec<&'a str> {
    let names = by.iter().enumerate().map(|(index, dimension)| {
        let known = group.get(dimension);
        let name = known.map(|name| name.as_deref().unwrap_or(UNKNOWN));
        name.unwrap_or(if index == 0 { "TOTAL" } else { "" })
    });
    names.collect()
}

/// Returns a page with a row for each of `tools`, and one for the sum.
pub(crate) fn tool_page(
    by: &[Dimension],
    tools: &[SessionToolRecord],
    columns: Option<usize>,
) -> String {
    let mut head = dimension_heads(by);
    head.extend(["CALLS", "FAILED", "RESULTS", "BYTES", "~TOKENS"].map(str::to_owned));
    let mut page = vec![head];
    let mut sum = SessionToolRecord::default();
    for tool in tools {
        sum.calls += tool.calls;
        sum.failed += tool.failed;
        sum.results += tool.results;
        sum.result_bytes += tool.result_bytes;
        sum.result_tokens += tool.result_tokens;
    }
    page.extend(tools.iter().chain([&sum]).map(|tool| {
        let numbers = [
            tool.calls,
            tool.failed,
            tool.results,
            tool.result_bytes,
            tool.result_tokens,
        ];
        let names = group_names(by, &tool.dimensions).into_iter();
        let names = names.map(terminal_safe_line);
        names.chain(numbers.map(format_number)).collect()
    }));
    fit_table(page, by.len(), columns)
}

/// Returns a page with a row for each of `costs`, and one for `all`.
pub(crate) fn cost_page(
    by: &[Dimension],
    costs: &[SessionCostRecord],
    all: &SessionCostRecord,
    columns: Option<usize>,
) -> String {
    let dimensions = dimension_heads(by);
    let rows = costs.iter().chain([all]).map(|cost| CostRow {
        names: group_names(by, &cost.dimensions),
        counts: Vec::new(),
        spending: &cost.spending,
    });
    let heads: Vec<&str> = dimensions.iter().map(String::as_str).collect();
    let bars = match by {
        [Dimension::Day | Dimension::Week | Dimension::Month | Dimension::Block] => costs.len(),
        _ => 0,
    };
    cost_table(&heads, &[], &rows.collect::<Vec<_>>(), bars, columns)
}

/// Returns a line about the current block, if it is among `costs`.
pub(crate) fn block_line(costs: &[SessionCostRecord], zone: &TimeZone) -> String {
    let current = costs.iter().find_map(|cost| {
        let name = cost.dimensions.get(&Dimension::Block)?.as_ref()?;
        let remaining = SignedDuration::from_millis(i64::try_from(cost.left_ms?).ok()?);
        let end = end_of_block(timestamp(cost.block_end.as_deref())?, zone);
        let left = format_duration(remaining);
        Some(format!(
            "\nThe block of {name} lasts until {end}, {left} left.\n"
        ))
    });
    current.unwrap_or_default()
}

/// Returns the time at which a block ends.
pub(crate) fn end_of_block(end: Timestamp, zone: &TimeZone) -> String {
    end.to_zoned(zone.clone()).strftime("%H:%M").to_string()
}

/// Returns a page of all counts, by model, day, prompt id and tool.
pub(crate) fn stats_page(stats: &SessionStatsRecord, columns: Option<usize>) -> String {
    let recorded_cost = stats.spending.recorded_cost;
    let recorded =
        recorded_cost.map(|cost| format!("recorded by the agents: {}\n", format_dollars(cost)));
    let runs = stats.runs.as_ref().map(|runs| runs_cell(runs) + "\n");
    let mut page = format!(
        "{}, {}, {}, {}\n{}{}",
        format_count(stats.sessions, "session", "sessions"),
        format_count(stats.prompts, "prompt", "prompts"),
        format_count(stats.replies, "reply", "replies"),
        cost_cell(&stats.spending),
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
            names: vec![share.name.as_deref().unwrap_or(UNKNOWN)],
            counts: vec![share.replies],
            spending: &share.spending,
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
    let tools = tools.map(|tool| ([tool.tool.as_str()], [tool.calls, tool.failed]));
    page.push('\n');
    page.push_str(&count_table("TOOL CALLS FAILED", tools, columns));
    page
}
