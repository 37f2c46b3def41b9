//! An answer, piece by piece.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::timeout;

use super::client::chain;
use super::{ContentType, HttpFailure, Redaction};

/// The largest answer, in bytes.
const LARGEST: usize = 64 << 20;

/// The headers of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers {
    fields: Vec<(String, String)>,
}

impl Headers {
    /// The first value of a header; the case of its name does not matter.
    pub fn get(&self, name: &str) -> Option<&str> {
        let same = |(known, _): &&(String, String)| known.eq_ignore_ascii_case(name);
        self.fields
            .iter()
            .find(same)
            .map(|(_, value)| value.as_str())
    }

    /// All of them, names in small letters.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl<Name: AsRef<str>, Value: Into<String>> FromIterator<(Name, Value)> for Headers {
    fn from_iter<Pairs: IntoIterator<Item = (Name, Value)>>(pairs: Pairs) -> Self {
        let lower =
            |(name, value): (Name, Value)| (name.as_ref().to_ascii_lowercase(), value.into());
        Self {
            fields: pairs.into_iter().map(lower).collect(),
        }
    }
}

/// An answer whose body is still to come.
#[derive(Debug)]
pub struct Response {
    /// Its status.
    pub status: u16,
    /// Its headers.
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
    /// What is left of one that came earlier, and how it ends.
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

    /// An answer that came earlier, in these pieces. `ending` is what it failed with in the end.
    pub fn recorded(
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

    /// What the server says that it sends.
    pub fn content_type(&self) -> ContentType {
        ContentType::of(self.headers.get("content-type"))
    }

    /// The next piece of the body; `None` at its end.
    ///
    /// # Errors
    /// The connection broke, nothing came for too long, or too much came.
    pub async fn piece(&mut self) -> Result<Option<Vec<u8>>, HttpFailure> {
        let piece = match &mut self.body {
            Body::Recorded { pieces, ending } => match (pieces.pop_front(), ending.take()) {
                (None, Some(failure)) => return Err(failure),
                (piece, still) => {
                    *ending = still;
                    piece
                }
            },
            Body::Network {
                response,
                idle,
                redaction,
            } => timeout(*idle, response.chunk())
                .await
                .map_err(|_| HttpFailure::TimedOut(*idle))?
                .map_err(|error| HttpFailure::Broken(redaction.clean_line(&chain(&error), 300)))?
                .map(|bytes| bytes.to_vec()),
        };
        self.received += piece.as_ref().map_or(0, Vec::len);
        if self.received > LARGEST {
            return Err(HttpFailure::TooLarge(LARGEST));
        }
        Ok(piece)
    }
}
