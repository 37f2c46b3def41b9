//! The use of plans as text.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::columns::format_table;
use super::cost_table::cost_cell;
use super::times::{format_duration, format_minute};
use crate::records::PlanLimitRecord;
use crate::text::terminal_safe_line;

/// Width of a bar, in columns.
const BAR_COLUMNS: u32 = 20;

/// Maximum number of rows about the use of a window.
const MAX_USERS: usize = 5;

/// Formats the windows of plans with bars, each followed by the costs of its use.
pub(crate) fn limits_page(limits: &[PlanLimitRecord], zone: &TimeZone, now: Timestamp) -> String {
    let mut page = String::new();
    for limit in limits {
        let middle = |step: u32| (f64::from(step) + 0.5) * 100.0 / f64::from(BAR_COLUMNS);
        let is_used = |step: &u32| middle(*step) <= limit.used_percent;
        let used_steps = (0..BAR_COLUMNS).filter(is_used).count();
        let bar = "█".repeat(used_steps) + &"░".repeat(BAR_COLUMNS as usize - used_steps);
        let state = match limit.resets_at {
            Some(_) if limit.expired => "reset since".to_owned(),
            Some(end) => format!("resets in {}", format_duration(end.duration_since(now))),
            None => "no reset known".to_owned(),
        };
        let suffix = limit.plan.as_ref().map(|plan| format!(" ({plan})"));
        let plan = terminal_safe_line(&format!("{}{}", limit.agent, suffix.unwrap_or_default()));
        let window = window_name(limit);
        let read = format_minute(limit.read_at, zone);
        let used = limit.used_percent;
        let head = format!("{plan:<14}  {window:>4}  {bar} {used:>3.0}%  {state}, as of {read}");
        page += &(head + "\n");
        let rows = limit.used_by.iter().take(MAX_USERS).map(|sum| {
            let names = sum
                .dimensions
                .values()
                .map(|name| terminal_safe_line(name.as_deref().unwrap_or("(unknown)")));
            let cost = format!("    {}", cost_cell(&sum.spending));
            std::iter::once(cost).chain(names).collect()
        });
        page += &format_table(rows.collect(), usize::MAX);
    }
    page
}

/// Returns the name of a window: its length, as in `5h` and `7d`, and the agent's name, if it has one.
pub(crate) fn window_name(limit: &PlanLimitRecord) -> String {
    let length = limit.window_minutes.map(|minutes| match minutes {
        _ if minutes % 1440 == 0 => format!("{}d", minutes / 1440),
        _ if minutes % 60 == 0 => format!("{}h", minutes / 60),
        _ => format!("{minutes}min"),
    });
    let names = length.into_iter().chain(limit.name.clone());
    terminal_safe_line(&names.collect::<Vec<_>>().join(" "))
}
