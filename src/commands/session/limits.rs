//! `session stats --limits`: the windows of plans, and the sessions that used them. Claude Code has its windows only in the
//! input of its status line, so the last input with windows is stored in the state directory.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rustix::fs::Mode;
use serde_json::{Value, json};

use crate::agent::parse_plan_limits;
use crate::commands::InputErrors;
use crate::commands::session::agent_name::AgentName;
use crate::commands::session::source::SourceArguments;
use crate::io::{Io, replace_below};
use crate::records::{Dimension, PlanLimitRecord, SessionCostRecord};
use crate::session::{Agent, Depth, Detail, Prices, Tally, read_codex_limits};

/// The file in the state directory.
const FILE: &str = "plan-limits.json";

/// Stores the windows in the input of a status line, if there are any.
///
/// # Errors
/// Writing failed.
pub(super) fn store_windows(input: &Value, state: &Path, now: Timestamp) -> io::Result<()> {
    let limits = &input["rate_limits"];
    if parse_plan_limits(Agent::Claude, limits, now, now).is_empty() {
        return Ok(());
    }
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(state)?;
    let stored = json!({ "read_at": format!("{now:.3}"), "rate_limits": limits }).to_string();
    let write = |mut file: &File| file.write_all(stored.as_bytes());
    replace_below(state, Path::new(FILE), Mode::RWXU, write, |error| error).map(drop)
}

/// Returns the stored windows of Claude Code.
fn read_stored(state: &Path, now: Timestamp) -> Vec<PlanLimitRecord> {
    // Without a status line there is no file.
    let json = fs::read_to_string(state.join(FILE)).unwrap_or_default();
    let stored: Value = serde_json::from_str(&json).unwrap_or_default();
    let read_at = stored["read_at"]
        .as_str()
        .and_then(|time| time.parse().ok());
    let limits = &stored["rate_limits"];
    let all = |time| parse_plan_limits(Agent::Claude, limits, time, now);
    read_at.map_or_else(Vec::new, all)
}

/// Lists the windows of the plans of Claude Code and Codex, with the costs of the sessions in each.
pub(super) fn list_windows(
    mut source: SourceArguments,
    prices: &Prices,
    zone: &TimeZone,
    state: &Path,
    errors: &mut InputErrors,
    io: &Io,
) -> Vec<PlanLimitRecord> {
    let now = io.clock.now();
    let named = source.agent.as_ref().and_then(AgentName::known_agent);
    let mut windows = Vec::new();
    for agent in [Agent::Claude, Agent::Codex] {
        if named.is_some_and(|named| named != agent) {
            continue;
        }
        source.agent = Some(AgentName::Known(agent));
        let candidates = source.candidates(&io.environment);
        let mut limits = match agent {
            Agent::Claude => read_stored(state, now),
            _ => read_codex_limits(&candidates, now),
        };
        for limit in &mut limits {
            let Some(start) = limit.start() else {
                continue;
            };
            let mut listing = source.listing(Depth::Whole);
            listing.selection.since = Some(start);
            let mut tally = Tally::with_period(start..Timestamp::MAX, Detail::Costs);
            errors.report_all(tally.add_all(&candidates, &listing));
            tally.price(prices);
            limit.used_by = tally.sum_costs(&[Dimension::Model, Dimension::Cwd], zone);
            let cost = |sum: &SessionCostRecord| sum.spending.usage.cost.unwrap_or_default();
            let users = &mut limit.used_by;
            users.sort_by(|one, other| cost(other).total_cmp(&cost(one)));
        }
        windows.extend(limits);
    }
    windows
}
