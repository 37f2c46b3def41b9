//! The windows of plans that Codex records, and that Claude Code tells its status line.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::agent::Agent;
use crate::records::PlanLimitRecord;

/// Returns the windows in `rate_limits` of a record of Codex, or of the input of Claude Code's status line, which an
/// agent wrote at this time. Codex has one with any length in each of two places.
pub fn plan_limits(
    agent: Agent,
    limits: &Value,
    read_at: Timestamp,
    now: Timestamp,
) -> Vec<PlanLimitRecord> {
    let windows = limits.as_object().into_iter().flatten();
    let windows = windows.filter_map(|(name, window)| {
        let number = |names: [&str; 2]| names.iter().find_map(|name| window[*name].as_f64());
        let used_percent = number(["used_percent", "used_percentage"])?;
        let window_minutes = match name.as_str() {
            "five_hour" => Some(5 * 60),
            "seven_day" => Some(7 * 24 * 60),
            _ => window["window_minutes"]
                .as_i64()
                .filter(|minutes| *minutes > 0),
        };
        let is_unnamed = matches!(name.as_str(), "primary" | "secondary");
        if is_unnamed && window_minutes.is_none() {
            return None;
        }
        let mut at = ["resets_at", "reset_at"].iter();
        let at = at.find_map(|name| Timestamp::from_second(window[*name].as_i64()?).ok());
        // Older versions of Codex count from the record.
        let within = window["resets_in_seconds"]
            .as_i64()
            .map(SignedDuration::from_secs);
        let resets_at = at.or_else(|| read_at.checked_add(within?).ok());
        Some(PlanLimitRecord {
            agent: agent.name(),
            plan: limits["plan_type"].as_str().map(str::to_owned),
            window_minutes,
            name: window_minutes.is_none().then(|| name.clone()),
            used_percent,
            resets_at,
            read_at,
            expired: resets_at.is_some_and(|end| end <= now),
            used_by: Vec::new(),
        })
    });
    windows.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn windows_are_named_by_their_length_and_not_by_their_place() {
        let time = |second| Timestamp::from_second(second).unwrap();
        // The limits, and the length, the use, the end and whether it has passed of each window.
        let table = [
            (
                json!({"plan_type": "plus",
                    "primary": {"used_percent": 42.0, "window_minutes": 10080, "resets_at": 2000},
                    "secondary": {"used_percent": 7, "window_minutes": 300, "resets_at": 900}}),
                vec![
                    (Some(10080), 42.0, Some(2000), false),
                    (Some(300), 7.0, Some(900), true),
                ],
            ),
            (
                json!({"primary": null, "secondary": null, "credits": null}),
                vec![],
            ),
            (Value::Null, vec![]),
            (
                json!({"primary_used_percent": 0, "primary_window_minutes": 0}),
                vec![],
            ),
            (
                json!({"primary": {"used_percent": 0, "window_minutes": 0, "resets_in_seconds": 0},
                    "secondary": {"used_percent": 1.5, "window_minutes": 300, "resets_in_seconds": 60}}),
                vec![(Some(300), 1.5, Some(560), true)],
            ),
            (
                json!({"five_hour": {"used_percentage": 23.5, "resets_at": 3000},
                    "seven_day": {"used_percentage": null, "resets_at": null},
                    "spend_limit": {"used_percentage": 110}}),
                vec![
                    (Some(300), 23.5, Some(3000), false),
                    (None, 110.0, None, false),
                ],
            ),
        ];
        for (limits, expected) in table {
            let found = plan_limits(Agent::Codex, &limits, time(500), time(1000));
            let found = found.iter().map(|one| {
                let end = one.resets_at.map(Timestamp::as_second);
                (one.window_minutes, one.used_percent, end, one.expired)
            });
            assert_eq!(found.collect::<Vec<_>>(), expected, "{limits}");
        }
    }
}
