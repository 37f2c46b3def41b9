//! Times on the command line.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::UsageError;

/// A time: RFC 3339, a date (its start in UTC), or an age (`30m`, `12h`, `2d`, `1w`).
///
/// # Errors
/// It is none of these; `option` is named in the message.
pub(super) fn parse_moment(
    option: &str,
    text: &str,
    now: Timestamp,
) -> Result<Timestamp, UsageError> {
    let age = || {
        let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        let number: i64 = digits.parse().ok()?;
        let seconds = match &text[digits.len()..] {
            "s" => 1,
            "m" => 60,
            "h" => 60 * 60,
            "d" => 24 * 60 * 60,
            "w" => 7 * 24 * 60 * 60,
            _ => return None,
        };
        let ago = jiff::SignedDuration::from_secs(number.checked_mul(seconds)?);
        now.checked_sub(ago).ok()
    };
    let date = || {
        let date: Date = text.parse().ok()?;
        let start = date.to_zoned(TimeZone::UTC).ok()?;
        Some(start.timestamp())
    };
    text.parse::<Timestamp>()
        .ok()
        .or_else(age)
        .or_else(date)
        .ok_or_else(|| {
            UsageError::new(format!("{option} {text}: not a time"))
                .with_hint("e.g. 2026-01-31, 2026-01-31T12:00:00Z, or 2d for two days ago")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_dates_and_ages() {
        let now = "2026-01-02T00:00:00Z".parse().unwrap();
        let rows = [
            ("2026-01-01T12:00:00Z", Some("2026-01-01T12:00:00Z")),
            ("2025-12-31", Some("2025-12-31T00:00:00Z")),
            ("2d", Some("2025-12-31T00:00:00Z")),
            ("90m", Some("2026-01-01T22:30:00Z")),
            ("2", None),
            ("yesterday", None),
            ("", None),
        ];
        for (text, expected) in rows {
            let moment = parse_moment("--since", text, now).ok();
            let expected = expected.map(|time| time.parse().unwrap());
            assert_eq!(moment, expected, "{text}");
        }
    }
}
