//! How long a server asks to wait.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

use super::Headers;

/// The wait that the headers of an answer ask for: `retry-after-ms`, else `retry-after` in seconds
/// (fractions allowed) or as a date. `now` is what dates are held against; one that has passed is
/// no wait. `None` if nothing usable is there.
pub fn retry_after(headers: &Headers, now: Timestamp) -> Option<Duration> {
    if let Some(wait) = headers.get("retry-after-ms").and_then(milliseconds) {
        return Some(wait);
    }
    let value = headers.get("retry-after")?.trim();
    seconds(value).or_else(|| until(value, now))
}

fn milliseconds(value: &str) -> Option<Duration> {
    let number: f64 = value.trim().parse().ok()?;
    Duration::try_from_secs_f64(number / 1000.0).ok()
}

fn seconds(value: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(value.parse().ok()?).ok()
}

fn until(value: &str, now: Timestamp) -> Option<Duration> {
    let time = DateTimeParser::new().parse_timestamp(value).ok()?;
    Some(Duration::try_from(time.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Headers, and the milliseconds that they ask for.
    type Row<'a> = (&'a [(&'a str, &'a str)], Option<u64>);

    #[test]
    fn every_form_is_read() {
        let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let rows: [Row<'_>; 12] = [
            (&[("retry-after", "2")], Some(2000)),
            (&[("Retry-After", " 0.5 ")], Some(500)),
            (&[("retry-after", "0")], Some(0)),
            (
                &[("retry-after-ms", "250"), ("retry-after", "9")],
                Some(250),
            ),
            (
                &[("retry-after-ms", "soon"), ("retry-after", "9")],
                Some(9000),
            ),
            (
                &[("retry-after", "Fri, 02 Jan 2026 03:04:15 GMT")],
                Some(10_000),
            ),
            (&[("retry-after", "Fri, 02 Jan 2026 03:04:00 GMT")], Some(0)),
            (&[("retry-after", "-1")], None),
            (&[("retry-after", "NaN")], None),
            (&[("retry-after", "1e300")], None),
            (&[("retry-after", "tomorrow")], None),
            (&[], None),
        ];
        for (headers, expected) in rows {
            let headers = headers.iter().copied().collect();
            let expected = expected.map(Duration::from_millis);
            assert_eq!(retry_after(&headers, now), expected, "{headers:?}");
        }
    }
}
