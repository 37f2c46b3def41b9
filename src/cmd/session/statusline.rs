//! The line that Claude Code shows below its prompt. It is created anew after every reply.

use std::io::Read;
use std::path::Path;

use anyhow::Context;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::cmd::UsageError;
use crate::cmd::inputs::take_stdin;
use crate::cmd::session::cost_table::cost_cell;
use crate::cmd::session::show::cost_of;
use crate::cmd::session::source::SourceArguments;
use crate::cmd::times::{TimeArgument, spelled};
use crate::io::Io;
use crate::records::SessionCostRecord;
use crate::session::{Agent, Depth, Detail, Prices, Session, Tally};
use crate::text::terminal_safe_line;

/// Minimum period of the requests to read. The start of a block depends on the blocks before it, up to a
/// pause of five hours.
const LOOK_BACK: SignedDuration = SignedDuration::from_hours(24);

/// Maximum size of the input, in bytes.
const MAX_INPUT: u64 = 1024 * 1024;

/// The line for the input on standard input.
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
    source.agent.get_or_insert(Agent::Claude);
    let mut listing = source.listing(Depth::Whole);
    listing.selection.since = Some(since);
    let mut tally = Tally::within(since..Timestamp::MAX, Detail::Costs);
    // A file that cannot be read is nothing to report below a prompt.
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
            let session = Session::open(Path::new(path)).ok()?;
            cost_of(&session, prices).ok()
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
