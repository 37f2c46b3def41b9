//! Headers of responses.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

/// Headers by lower-case name.
pub type Headers = BTreeMap<String, String>;

/// The content type of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentType {
    /// A JSON value.
    Json,
    /// Server-sent events.
    EventStream,
    /// JSON values, one per line.
    JsonLines,
    /// A web page, for example of a proxy.
    Html,
    /// Any other type.
    Other,
    /// No content type.
    Missing,
}

impl ContentType {
    /// Parses a `content-type`, ignoring parameters and case.
    pub fn of(header: Option<&str>) -> Self {
        let Some(header) = header else {
            return Self::Missing;
        };
        let essence = header.split(';').next().unwrap_or_default().trim();
        let essence = essence.to_ascii_lowercase();
        match essence.as_str() {
            "" => Self::Missing,
            "text/event-stream" => Self::EventStream,
            "application/x-ndjson"
            | "application/ndjson"
            | "application/jsonl"
            | "application/x-jsonlines"
            | "application/json-lines" => Self::JsonLines,
            "text/html" | "application/xhtml+xml" => Self::Html,
            "application/json" | "text/json" => Self::Json,
            other if other.ends_with("+json") => Self::Json,
            _ => Self::Other,
        }
    }
}

/// Returns the wait that a response asks for: `retry-after-ms`, or `retry-after` in seconds (fractions allowed)
/// or as a date. A date in the past means no wait. `None` if neither header is valid.
pub fn retry_after(headers: &Headers, now: Timestamp) -> Option<Duration> {
    let seconds = |value: &str, unit: f64| {
        let number: f64 = value.trim().parse().ok()?;
        Duration::try_from_secs_f64(number * unit).ok()
    };
    let precise = headers.get("retry-after-ms");
    if let Some(wait) = precise.and_then(|value| seconds(value, 0.001)) {
        return Some(wait);
    }
    let value = headers.get("retry-after")?;
    seconds(value, 1.0).or_else(|| until(value.trim(), now))
}

fn until(value: &str, now: Timestamp) -> Option<Duration> {
    let time = DateTimeParser::new().parse_timestamp(value).ok()?;
    Some(Duration::try_from(time.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_case_do_not_matter() {
        let rows = [
            (Some("application/json"), ContentType::Json),
            (Some("Application/JSON; charset=utf-8"), ContentType::Json),
            (Some("application/problem+json"), ContentType::Json),
            (
                Some("text/event-stream;charset=utf-8"),
                ContentType::EventStream,
            ),
            (Some("application/x-ndjson"), ContentType::JsonLines),
            (Some("text/html"), ContentType::Html),
            (Some("text/plain"), ContentType::Other),
            (Some(""), ContentType::Missing),
            (None, ContentType::Missing),
        ];
        for (header, expected) in rows {
            assert_eq!(ContentType::of(header), expected, "{header:?}");
        }
    }

    /// Headers, and the milliseconds that they ask for.
    type Row<'a> = (&'a [(&'a str, &'a str)], Option<u64>);

    #[test]
    fn every_form_is_read() {
        let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let rows: [Row<'_>; 12] = [
            (&[("retry-after", "2")], Some(2000)),
            (&[("retry-after", " 0.5 ")], Some(500)),
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
            let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            let headers = headers.iter().map(owned).collect();
            let expected = expected.map(Duration::from_millis);
            assert_eq!(retry_after(&headers, now), expected, "{headers:?}");
        }
    }
}
