//! Durations and points in time on the command line.

use std::str::FromStr;
use std::time::Duration;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// Units, and their length in milliseconds.
const UNITS: [(&str, f64); 6] = [
    ("ms", 1.0),
    ("s", 1000.0),
    ("m", 60.0 * 1000.0),
    ("h", 3600.0 * 1000.0),
    ("d", 24.0 * 3600.0 * 1000.0),
    ("w", 7.0 * 24.0 * 3600.0 * 1000.0),
];

/// Parses a duration: a number and a unit (`500ms`, `1.5s`, `10m`, `2h`, `3d`, `1w`).
fn parse_span(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let is_plain = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = digits
        .parse()
        .ok()
        .filter(|_| is_plain)
        .ok_or("expected a duration such as 30s or 5m")?;
    let unit = &text[digits.len()..];
    let (_, milliseconds) = UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .ok_or("expected a unit: ms, s, m, h, d or w")?;
    Duration::try_from_secs_f64(number * milliseconds / 1000.0).map_err(|_| "too long".to_owned())
}

/// Parses a duration; a number without a unit is in seconds.
///
/// # Errors
/// The problem, for the argument parser.
pub(super) fn parse_span_or_seconds(text: &str) -> Result<Duration, String> {
    if text.ends_with(|letter: char| letter.is_ascii_digit()) {
        return parse_span(&format!("{text}s"));
    }
    parse_span(text)
}

/// A point in time: RFC 3339, the start of a date, `today`, `yesterday`, or a duration ago (`30m`, `12h`,
/// `2d`, `1w`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeArgument {
    At(Timestamp),
    On(Date),
    /// The start of the day that was this many days ago.
    DaysAgo(i64),
    Ago(Duration),
}

impl FromStr for TimeArgument {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let date = || text.parse().ok().map(Self::On);
        let ago = || parse_span(text).ok().map(Self::Ago);
        match text {
            "today" => return Ok(Self::DaysAgo(0)),
            "yesterday" => return Ok(Self::DaysAgo(1)),
            _ => {}
        }
        let time = text.parse().ok();
        time.map(Self::At).or_else(ago).or_else(date).ok_or(
            "expected a time such as 2026-01-31, 2026-01-31T12:00:00Z, yesterday, or 2d for two days ago",
        )
    }
}

impl TimeArgument {
    /// Returns the timestamp, given the current time and the time zone of dates. Saturates at the
    /// minimum.
    pub(super) fn to_timestamp(self, now: Timestamp, zone: &TimeZone) -> Timestamp {
        let start = |date: Date| {
            let start = date.to_zoned(zone.clone());
            start.map_or(Timestamp::MIN, |start| start.timestamp())
        };
        match self {
            Self::At(time) => time,
            Self::On(date) => start(date),
            Self::DaysAgo(days) => {
                let today = now.to_zoned(zone.clone()).date();
                start(today.saturating_sub(days.days()))
            }
            Self::Ago(span) => now.checked_sub(span).unwrap_or(Timestamp::MIN),
        }
    }

    /// Returns the end of a period that ends with this time, or with this day.
    pub(super) fn to_period_end(self, now: Timestamp, zone: &TimeZone) -> Timestamp {
        let start = self.to_timestamp(now, zone);
        match self {
            Self::On(_) | Self::DaysAgo(_) => {
                let next = start.to_zoned(zone.clone()).checked_add(1.day());
                next.map_or(Timestamp::MAX, |next| next.timestamp())
            }
            Self::At(_) | Self::Ago(_) => start,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_units() {
        let rows = [
            ("500ms", Some(Duration::from_millis(500))),
            ("1.5s", Some(Duration::from_millis(1500))),
            ("10m", Some(Duration::from_mins(10))),
            ("3d", Some(Duration::from_hours(72))),
            ("0s", Some(Duration::ZERO)),
            ("5", None),
            ("-5s", None),
            ("infs", None),
            ("nans", None),
            ("1e3s", None),
            ("s", None),
            ("5y", None),
            ("99999999999999999999999w", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(parse_span(text).ok(), expected, "{text}");
        }
        assert_eq!(parse_span_or_seconds("5"), Ok(Duration::from_secs(5)));
        assert_eq!(parse_span_or_seconds("5m"), Ok(Duration::from_mins(5)));
        assert!(parse_span_or_seconds("").is_err());
    }

    #[test]
    fn times_dates_and_ages() {
        let now = "2026-01-02T00:00:00Z".parse().unwrap();
        let rows = [
            ("2026-01-01T12:00:00Z", Some("2026-01-01T12:00:00Z")),
            ("2025-12-31", Some("2025-12-31T00:00:00Z")),
            ("2d", Some("2025-12-31T00:00:00Z")),
            ("90m", Some("2026-01-01T22:30:00Z")),
            ("2", None),
            ("today", Some("2026-01-02T00:00:00Z")),
            ("yesterday", Some("2026-01-01T00:00:00Z")),
            ("tomorrow", None),
            ("", None),
        ];
        for (text, expected) in rows {
            let moment = text.parse::<TimeArgument>().ok();
            let moment = moment.map(|moment| moment.to_timestamp(now, &TimeZone::UTC));
            let expected = expected.map(|time| time.parse().unwrap());
            assert_eq!(moment, expected, "{text}");
        }
        let east = TimeZone::fixed(jiff::tz::offset(9));
        let day: TimeArgument = "2025-12-31".parse().unwrap();
        assert_eq!(
            day.to_timestamp(now, &east).to_string(),
            "2025-12-30T15:00:00Z"
        );
        let today: TimeArgument = "today".parse().unwrap();
        assert_eq!(
            today.to_timestamp(now, &east).to_string(),
            "2026-01-01T15:00:00Z"
        );
    }
}
