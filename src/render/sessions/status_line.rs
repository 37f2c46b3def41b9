//! The status line of Claude Code.

use std::path::Path;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::agent::{Agent, Detail, parse_plan_limits};
use crate::records::SessionCostRecord;
use crate::render::{cost_cell, end_of_block, format_duration, window_name};
use crate::session::{Candidate, Listing, Prices, Session, Tally};
use crate::text::{format_dollars, terminal_safe_line};

/// Minimum period of the requests to read. The start of a block depends on the blocks before it, up to a
/// pause of five hours.
const LOOK_BACK: SignedDuration = SignedDuration::from_hours(24);

/// Returns the line for the input of a status line: the model, what was spent on the session, today and in the
/// current block, and the used parts of the context and of the plan. Reads the recent sessions among `candidates`.
pub(crate) fn status_line(
    input: &Value,
    candidates: &[Candidate],
    listing: &mut Listing,
    prices: &Prices,
    zone: &TimeZone,
    now: Timestamp,
) -> String {
    let text = |path| input.pointer(path).and_then(Value::as_str);
    let number = |path| input.pointer(path).and_then(Value::as_f64);
    let start_of_day = now.to_zoned(zone.clone()).start_of_day();
    let midnight = start_of_day.map_or(Timestamp::MIN, |start| start.timestamp());
    let recent = now.checked_sub(LOOK_BACK).unwrap_or(Timestamp::MIN);
    let since = midnight.min(recent);
    listing.selection.since = Some(since);
    let mut tally = Tally::with_period(since..Timestamp::MAX, Detail::Costs);
    // A status line has no place to report unreadable files.
    let _ = tally.add_all(candidates, listing);
    tally.price(prices);

    let format_spent = |sum: &SessionCostRecord| cost_cell(&sum.spending);
    let session = number("/cost/total_cost_usd")
        .map(format_dollars)
        .or_else(|| {
            let path = Path::new(text("/transcript_path")?);
            let session = Session::open_with(path, &listing.selection.named_roots).ok()?;
            Some(format_spent(
                &Tally::from_session(&session, prices).ok()?.total(),
            ))
        });
    let block = tally.find_block_at(now).map(|block| {
        let left = format_duration(block.end.duration_since(now));
        format!(
            "{} block (until {}, {left} left)",
            format_spent(&tally.sum_since(block.start)),
            end_of_block(block.end, zone)
        )
    });
    let parts = [
        text("/model/display_name").map(terminal_safe_line),
        session.map(|cost| format!("{cost} session")),
        Some(format!(
            "{} today",
            format_spent(&tally.sum_since(midnight))
        )),
        block,
        number("/context_window/used_percentage").map(|used| format!("{used:.0}% context")),
    ];
    let limits = parse_plan_limits(Agent::Claude, &input["rate_limits"], now, now)
        .into_iter()
        .filter(|limit| !limit.expired)
        .map(|limit| format!("{:.0}% of {}", limit.used_percent, window_name(&limit)));
    let known: Vec<String> = parts.into_iter().flatten().chain(limits).collect();
    known.join(" · ") + "\n"
}
