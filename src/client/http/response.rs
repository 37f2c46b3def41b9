//! A request, a response with its headers, whose body arrives in chunks, and failures.

use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use super::{Address, Redaction, Secret};
use crate::io::to_millis;

/// Maximum length of a response, in bytes.
const MAX_RESPONSE_BYTES: usize = 64 << 20;

/// A response whose body is not read yet.
#[derive(Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    pub headers: Headers,
    body: Body,
    received: usize,
}

#[derive(Debug)]
enum Body {
    Network {
        response: reqwest::Response,
        idle: Duration,
        redaction: Redaction,
    },
    /// The rest of a recorded response, and how it ends.
    Recorded {
        pieces: VecDeque<Vec<u8>>,
        ending: Option<HttpFailure>,
    },
}

impl Response {
    pub(super) fn from_network(
        response: reqwest::Response,
        headers: Headers,
        idle: Duration,
        redaction: Redaction,
    ) -> Self {
        Self {
            status: response.status().as_u16(),
            headers,
            body: Body::Network {
                response,
                idle,
                redaction,
            },
            received: 0,
        }
    }

    /// Creates a recorded response. `ending` is the failure at its end.
    pub fn from_recording(
        status: u16,
        headers: Headers,
        pieces: Vec<Vec<u8>>,
        ending: Option<HttpFailure>,
    ) -> Self {
        let pieces = pieces.into();
        Self {
            status,
            headers,
            body: Body::Recorded { pieces, ending },
            received: 0,
        }
    }

    pub fn content_type(&self) -> ContentType {
        let header = |name| self.headers.get(name).map(String::as_str);
        match header("content-encoding") {
            None | Some("" | "identity") => ContentType::parse(header("content-type")),
            Some(_) => ContentType::Compressed,
        }
    }

    /// Returns the next chunk of the body, or `None` at its end.
    ///
    /// # Errors
    /// The connection was interrupted, a timeout expired, or the response is too long.
    pub async fn next_piece(&mut self) -> Result<Option<Vec<u8>>, HttpFailure> {
        let piece = match &mut self.body {
            Body::Recorded { pieces, ending } => match pieces.pop_front() {
                Some(piece) => Some(piece),
                None => ending.take().map_or(Ok(None), Err)?,
            },
            Body::Network {
                response,
                idle,
                redaction,
            } => timeout(*idle, response.chunk())
                .await
                .map_err(|_| HttpFailure::timed_out(*idle))?
                .map_err(|error| HttpFailure::Broken {
                    message: redaction.clean_line(&describe_causes(&error), MAX_MESSAGE_BYTES),
                })?
                .map(|bytes| bytes.to_vec()),
        };
        self.received += piece.as_ref().map_or(0, Vec::len);
        if self.received > MAX_RESPONSE_BYTES {
            return Err(HttpFailure::TooLarge {
                bytes: MAX_RESPONSE_BYTES,
            });
        }
        Ok(piece)
    }

    /// Returns the whole body; `None` if it is longer than `limit` bytes.
    ///
    /// # Errors
    /// As in [`Self::next_piece`].
    pub async fn read_body(&mut self, limit: u64) -> Result<Option<Vec<u8>>, HttpFailure> {
        let mut body = Vec::new();
        while let Some(piece) = self.next_piece().await? {
            body.extend(piece);
            if body.len() as u64 > limit {
                return Ok(None);
            }
        }
        Ok(Some(body))
    }
}

/// Maximum length of an error message, in bytes.
pub(super) const MAX_MESSAGE_BYTES: usize = 300;

/// A failure of a request or a response. Messages are one line without secrets. All variants except `Unusable` can
/// be recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum HttpFailure {
    /// The connection failed, or ended before the response.
    #[error("{message}")]
    Unreachable {
        /// The cause.
        message: String,
    },
    /// The response was interrupted.
    #[error("the connection ended in the middle of the response: {message}")]
    Broken {
        /// The cause.
        message: String,
    },
    /// A timeout.
    #[error("no response within {ms} ms")]
    TimedOut {
        /// The timeout, in milliseconds.
        ms: u64,
    },
    /// The response is too long.
    #[error("the response is longer than {bytes} bytes")]
    TooLarge {
        /// The limit, in bytes.
        bytes: usize,
    },
    /// The request is invalid: certificates, a header, or the address.
    #[error("{message}")]
    #[serde(skip)]
    Unusable {
        /// The cause.
        message: String,
    },
}

impl HttpFailure {
    pub(super) fn timed_out(limit: Duration) -> Self {
        Self::TimedOut {
            ms: to_millis(limit),
        }
    }

    /// Creates a failure for an invalid request.
    pub fn unusable(message: String) -> Self {
        Self::Unusable { message }
    }
}

/// Describes the causes of an error without the URL, which may contain a key.
pub(super) fn describe_causes(error: &reqwest::Error) -> String {
    let mut texts: Vec<String> = Vec::new();
    for cause in error_chain(error) {
        let text = cause.to_string();
        if !texts.iter().any(|known| known.contains(&text)) {
            texts.push(text);
        }
    }
    if texts.is_empty() {
        return "the request failed".to_owned();
    }
    texts.join(": ")
}

pub(super) fn error_chain(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |cause| (*cause).source())
}

/// A POST request with a JSON body, or a GET request without one.
#[derive(Debug, Clone)]
pub struct Outgoing {
    pub address: Address,
    /// Headers in addition to `content-type` and `content-length`.
    pub headers: Vec<Header>,
    /// The body, sent unchanged.
    pub body: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    pub name: String,
    pub value: HeaderValue,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderValue {
    /// Not secret.
    Public(String),
    /// Secret: never displayed.
    Secret(Secret),
}

impl HeaderValue {
    /// Returns the text to send.
    pub(super) fn expose(&self) -> &str {
        match self {
            Self::Public(text) => text,
            Self::Secret(secret) => secret.expose(),
        }
    }

    pub(super) fn secret(&self) -> Option<&Secret> {
        match self {
            Self::Public(_) => None,
            Self::Secret(secret) => Some(secret),
        }
    }
}

impl Header {
    /// Creates a header without a secret.
    pub fn public(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: HeaderValue::Public(value.into()),
        }
    }

    /// Creates a header with a secret.
    pub fn secret(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: HeaderValue::Secret(Secret::new(value)),
        }
    }
}

impl Outgoing {
    /// Returns a redaction of its secrets.
    pub fn redaction(&self) -> Redaction {
        let headers = self.headers.iter();
        let in_headers = headers.filter_map(|header| header.value.secret());
        Redaction::new(in_headers.chain(&self.address.secrets()))
    }

    /// Whether it contains secrets.
    pub fn has_secrets(&self) -> bool {
        let mut headers = self.headers.iter();
        headers.any(|header| header.value.secret().is_some())
    }
}

/// Headers by lower-case name.
pub type Headers = BTreeMap<String, String>;

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
    /// Compressed, although requests do not allow it.
    Compressed,
    /// Any other type.
    Other,
    /// No content type.
    Missing,
}

impl ContentType {
    /// Parses a `content-type`, ignoring parameters and case.
    pub fn parse(header: Option<&str>) -> Self {
        let Some(header) = header else {
            return Self::Missing;
        };
        let essence = header.split(';').next().unwrap_or_default().trim();
        match essence.to_ascii_lowercase().as_str() {
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

/// Returns the delay that a response requests: `retry-after-ms`, or `retry-after` in seconds (fractions allowed)
/// or as a date. A date in the past means no delay. `None` if neither header is valid.
pub fn retry_after(headers: &Headers, now: Timestamp) -> Option<Duration> {
    let parse_delay = |value: &str, unit: f64| {
        let number: f64 = value.trim().parse().ok()?;
        Duration::try_from_secs_f64(number * unit).ok()
    };
    let milliseconds = headers.get("retry-after-ms");
    if let Some(wait) = milliseconds.and_then(|value| parse_delay(value, 0.001)) {
        return Some(wait);
    }
    let value = headers.get("retry-after")?;
    parse_delay(value, 1.0).or_else(|| duration_until(value.trim(), now))
}

fn duration_until(value: &str, now: Timestamp) -> Option<Duration> {
    let time = DateTimeParser::new().parse_timestamp(value).ok()?;
    // Fails for a date in the past: no delay.
    Some(Duration::try_from(time.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_an_address_are_secret() {
        let base = Address::parse("https://host/v1?key=abcdefgh&api-version=2025-01-01").unwrap();
        let outgoing = Outgoing {
            address: base.join("chat?alt=sse"),
            headers: Vec::new(),
            body: String::new(),
        };
        assert_eq!(
            outgoing.redaction().clean(&outgoing.address.to_string()),
            "https://host/v1/chat?key=[redacted]&api-version=2025-01-01&alt=sse"
        );
    }

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
            assert_eq!(ContentType::parse(header), expected, "{header:?}");
        }
    }

    /// Headers, and the delay that they request, in milliseconds.
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
