//! Sessions as text: their dialogs, and the status line of Claude Code.

use std::io;
use std::path::Path;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::discover::Candidate;
use super::following::PrintError;
use super::listing::Listing;
use super::prices::Prices;
use super::session::Session;
use super::stats::Tally;
use super::tree::Scope;
use crate::agent::{Detail, Facts};
use crate::message::{Message, Origin, SessionId};
use crate::records::{MessageContext, SessionCostRecord, SessionDescription};
use crate::text::{dollars, terminal_safe_line};
use crate::view::{
    DialogForm, DialogPrinter, MessageRange, cost_cell, runs_cell, spelled, tokens_cell,
};

/// Prints the messages of a session whose parts are in these files, and what follows the last one.
/// Returns the number of omitted messages of other branches.
pub(crate) fn print_dialog(
    parts: &[Session],
    scope: Scope,
    range: Option<MessageRange>,
    session_id: Option<SessionId>,
    printer: &mut DialogPrinter,
) -> Result<u64, PrintError> {
    let about = MessageContext {
        session_id,
        ..MessageContext::default()
    };
    let mut left_out = 0;
    let mut meter = None;
    for part in parts {
        let failed = |error: io::Error| PrintError::read(&part.file.path, error);
        let messages = part.messages(scope).map_err(failed)?;
        left_out += messages.left_out();
        for message in messages {
            let message = message.map_err(failed)?;
            if is_shown(&message) {
                printer.number += 1;
                if range.is_some_and(|range| range.is_before(printer.number)) {
                    continue;
                }
                if range.is_some_and(|range| range.is_behind(printer.number)) {
                    break;
                }
            } else {
                let is_new = message.usage != meter;
                meter = message.usage;
                if !is_new || range.is_some() || printer.look.form != DialogForm::Jsonl {
                    continue;
                }
            }
            printer.message(message, &about)?;
        }
    }
    printer.finish()?;
    Ok(left_out)
}

/// Returns the facts shown before the messages of a session.
pub(crate) fn dialog_facts(
    session: &Session,
    about: &SessionDescription,
    facts: &Facts,
    prices: &Prices,
) -> io::Result<Vec<(&'static str, String)>> {
    let tally = Tally::of(session, prices)?;
    let cost = tally.total();
    let tokens = tokens_cell(&cost.spending.usage);
    let span = facts.started.zip(facts.last_activity);
    let duration = span.map(|(start, end)| spelled(end.duration_since(start)));
    let id = about.session_id.as_ref();
    let cost_cell = tokens.as_ref().map(|_| cost_cell(&cost.spending));
    let known = [
        ("session", id.map(ToString::to_string)),
        ("agent", Some(about.agent.clone())),
        ("directory", about.cwd.clone()),
        ("branch", about.git_branch.clone()),
        ("model", about.model.clone()),
        ("duration", duration),
        ("tokens", tokens),
        ("cost", cost_cell),
        ("recorded", cost.spending.recorded_cost.map(dollars)),
        ("run", tally.runs().map(runs_cell)),
        ("resume", about.resume.clone()),
    ];
    let known = known.into_iter();
    let known = known.filter_map(|(name, value)| Some((name, value?)));
    Ok(known.collect())
}

/// Whether a message is shown. Readings of token meters are only for totals.
pub(crate) fn is_shown(message: &Message) -> bool {
    message.origin != Origin::Meter
}

/// Minimum period of the requests to read. The start of a block depends on the blocks before it, up to a
/// pause of five hours.
const LOOK_BACK: SignedDuration = SignedDuration::from_hours(24);

/// Returns the line for the input of a status line: the model, what was spent on the session, today and in the
/// current block, and the used part of the context. Reads the recent sessions among `candidates`.
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
    let midnight = now.to_zoned(zone.clone()).start_of_day();
    let midnight = midnight.map_or(Timestamp::MIN, |midnight| midnight.timestamp());
    let recent = now.checked_sub(LOOK_BACK).unwrap_or(Timestamp::MIN);
    let since = midnight.min(recent);
    listing.selection.since = Some(since);
    let mut tally = Tally::within(since..Timestamp::MAX, Detail::Costs);
    // A status line has no place to report unreadable files.
    let _ = tally.add_all(candidates, listing);
    tally.price(prices);

    let spent = |sum: &SessionCostRecord| cost_cell(&sum.spending);
    let session = number("/cost/total_cost_usd").map(dollars).or_else(|| {
        let path = Path::new(text("/transcript_path")?);
        let session = Session::open_with(path, &listing.selection.named_roots).ok()?;
        Some(spent(&Tally::of(&session, prices).ok()?.total()))
    });
    let block = tally.block_at(now).map(|block| {
        let left = spelled(block.end.duration_since(now));
        format!(
            "{} block ({left} left)",
            spent(&tally.cost_since(block.start))
        )
    });
    let parts = [
        text("/model/display_name").map(terminal_safe_line),
        session.map(|cost| format!("{cost} session")),
        Some(format!("{} today", spent(&tally.cost_since(midnight)))),
        block,
        number("/context_window/used_percentage").map(|used| format!("{used:.0}% context")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(" · ") + "\n"
}
