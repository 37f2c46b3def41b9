//! The use of plans as text.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::columns::table;
use super::cost_table::cost_cell;
use super::times::{spell_duration, to_the_minute};
use crate::records::PlanLimitRecord;
use crate::text::terminal_safe_line;

/// Width of a bar, in columns.
const BAR: usize = 20;

/// Maximum number of rows about what used a window.
const MAX_USERS: usize = 5;

/// Returns the windows of plans with bars, each above what used it.
pub(crate) fn limits_page(limits: &[PlanLimitRecord], zone: &TimeZone, now: Timestamp) -> String {
    let mut page = String::new();
    for limit in limits {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            reason = "the part is between 0 and 1"
        )]
        let filled = ((limit.used_percent / 100.0).clamp(0.0, 1.0) * BAR as f64).round() as usize;
        let bar = "█".repeat(filled) + &"░".repeat(BAR - filled);
        let state = match limit.resets_at {
            Some(_) if limit.expired => "reset since".to_owned(),
            Some(end) => format!("resets in {}", spell_duration(end.duration_since(now))),
            None => "no reset known".to_owned(),
        };
        let plan = limit.plan.as_ref().map(|plan| format!(" ({plan})"));
        let plan = terminal_safe_line(&format!("{}{}", limit.agent, plan.unwrap_or_default()));
        let window = window_name(limit);
        let read = to_the_minute(limit.read_at, zone);
        let used = limit.used_percent;
        page += &format!("{plan:<14}  {window:>4}  {bar} {used:>3.0}%  {state}, as of {read}\n");
        let rows = limit.used_by.iter().take(MAX_USERS).map(|sum| {
            let names = sum
                .dimensions
                .values()
                .map(|name| terminal_safe_line(name.as_deref().unwrap_or("(unknown)")));
            let cost = format!("    {}", cost_cell(&sum.spending));
            std::iter::once(cost).chain(names).collect()
        });
        page += &table(rows.collect(), usize::MAX);
    }
    page
}

/// Returns the name of a window: its length, as in `5h` and `7d`, or the agent's name.
pub(crate) fn window_name(limit: &PlanLimitRecord) -> String {
    match limit.window_minutes {
        None => terminal_safe_line(limit.name.as_deref().unwrap_or_default()),
        Some(minutes) if minutes % 1440 == 0 => format!("{}d", minutes / 1440),
        Some(minutes) if minutes % 60 == 0 => format!("{}h", minutes / 60),
        Some(minutes) => format!("{minutes}min"),
    }
}
