//! The limits of plans that Codex records, and that Claude Code passes to its status line.

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use super::agent::Agent;
use crate::records::PlanLimitRecord;

/// A period in which the use of a plan is limited.
#[derive(Deserialize)]
struct Window {
    #[serde(alias = "used_percentage")]
    used_percent: f64,
    #[serde(rename = "window_minutes")]
    minutes: Option<i64>,
    #[serde(alias = "reset_at")]
    resets_at: Option<i64>,
    resets_in_seconds: Option<i64>,
}

/// Parses the windows in `rate_limits`: a member of a record of Codex, or of the input of Claude Code's status line,
/// written at `read_at`. Windows of Codex have any length and one of two keys.
pub fn parse_plan_limits(
    agent: Agent,
    limits: &Value,
    read_at: Timestamp,
    now: Timestamp,
) -> Vec<PlanLimitRecord> {
    let meter = limits["limit_name"]
        .as_str()
        .or(limits["limit_id"].as_str())
        .filter(|meter| *meter != agent.name());
    let members = limits.as_object().into_iter().flatten();
    let windows = members.filter_map(|(key, window)| {
        let window = Window::deserialize(window).ok()?;
        let window_minutes = match key.as_str() {
            "five_hour" => Some(5 * 60),
            "seven_day" => Some(7 * 24 * 60),
            "primary" | "secondary" => Some(window.minutes.filter(|minutes| *minutes > 0)?),
            _ => None,
        };
        let stated = window.resets_at.map(Timestamp::from_second);
        // Older versions of Codex count from the record.
        let rest = window.resets_in_seconds.map(SignedDuration::from_secs);
        let computed = rest.map(|rest| read_at.checked_add(rest));
        let resets_at = stated.or(computed).and_then(Result::ok);
        Some(PlanLimitRecord {
            agent: agent.name(),
            plan: limits["plan_type"].as_str().map(str::to_owned),
            window_minutes,
            name: window_minutes
                .map_or(Some(&**key), |_| meter)
                .map(str::to_owned),
            used_percent: window.used_percent,
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
            let found = parse_plan_limits(Agent::Codex, &limits, time(500), time(1000));
            let found = found.iter().map(|one| {
                let end = one.resets_at.map(Timestamp::as_second);
                (one.window_minutes, one.used_percent, end, one.expired)
            });
            assert_eq!(found.collect::<Vec<_>>(), expected, "{limits}");
        }
    }
}
