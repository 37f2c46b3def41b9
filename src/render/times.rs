//! Durations and points in time as text.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::agent::timestamp;
use crate::text::terminal_safe_line;

/// Returns the time since `time` as text; the date if it is older than two weeks.
pub(crate) fn format_age(time: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let minutes = now.duration_since(time).as_mins();
    match minutes {
        0 => "just now".to_owned(),
        1..60 => format!("{minutes} min ago"),
        60..1440 => format!("{} h ago", minutes / 60),
        1440..2880 => "1 day ago".to_owned(),
        2880..20160 => format!("{} days ago", minutes / 1440),
        _ => time.to_zoned(zone.clone()).date().to_string(),
    }
}

/// Returns a duration as text, with its two largest units.
pub(crate) fn format_duration(length: SignedDuration) -> String {
    let minutes = length.as_mins();
    match minutes {
        ..1 => format!("{} s", length.as_secs()),
        1..60 => format!("{minutes} min"),
        60..1440 => format!("{} h {:02} min", minutes / 60, minutes % 60),
        1440.. => format!("{} d {} h", minutes / 1440, minutes / 60 % 24),
    }
}

/// Returns the time in a record as terminal-safe text, without seconds; unchanged if it is not RFC 3339.
pub(crate) fn format_recorded_minute(time: Option<&str>, zone: &TimeZone) -> String {
    match timestamp(time) {
        Some(time) => format_minute(time, zone),
        None => terminal_safe_line(time.unwrap_or_default()),
    }
}

/// Returns a time as text, without seconds.
pub(crate) fn format_minute(time: Timestamp, zone: &TimeZone) -> String {
    let zoned = time.to_zoned(zone.clone());
    zoned.strftime("%Y-%m-%d %H:%M").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_their_largest_units() {
        let rows = [
            (5, "5 s"),
            (119, "1 min"),
            (3600, "1 h 00 min"),
            (86_399, "23 h 59 min"),
            (200_000, "2 d 7 h"),
        ];
        for (seconds, expected) in rows {
            assert_eq!(
                format_duration(SignedDuration::from_secs(seconds)),
                expected
            );
        }
    }

    #[test]
    fn past_times_have_one_unit() {
        let now: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
        let rows = [
            ("2026-01-31T12:00:00Z", "just now"),
            ("2026-01-31T11:59:01Z", "just now"),
            ("2026-01-31T11:59:00Z", "1 min ago"),
            ("2026-01-31T11:00:01Z", "59 min ago"),
            ("2026-01-31T10:59:59Z", "1 h ago"),
            ("2026-01-30T12:00:01Z", "23 h ago"),
            ("2026-01-29T13:00:00Z", "1 day ago"),
            ("2026-01-18T12:00:00Z", "13 days ago"),
            ("2026-01-17T12:00:00Z", "2026-01-17"),
            // The clock of the other machine is ahead.
            ("2026-02-01T12:00:00Z", "2026-02-01"),
        ];
        for (time, expected) in rows {
            let time = time.parse().unwrap();
            assert_eq!(format_age(time, now, &TimeZone::UTC), expected, "{time}");
        }
    }
}
