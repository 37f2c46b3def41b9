//! An answer that arrives piece by piece.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::timeout;

use super::client::chain;
use super::{ContentType, Headers, Redaction};

/// The largest answer, in bytes.
const LARGEST: usize = 64 << 20;

/// Why there is no answer, or no more of it. The texts are one line, and free of secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpFailure {
    /// No connection, or one that broke before the answer.
    #[error("{0}")]
    Unreachable(String),
    /// The answer broke off.
    #[error("the connection ended in the middle of the answer: {0}")]
    Broken(String),
    /// A limit was reached.
    #[error("no answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The answer is too long.
    #[error("the answer is longer than {0} bytes")]
    TooLarge(usize),
    /// The request cannot be made: certificates, a header, the address.
    #[error("{0}")]
    Unusable(String),
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
    /// The rest of a recorded answer, and how it ends.
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

    /// A recorded answer. `ending` is the failure at its end.
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

    /// The content type that the server declares.
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
