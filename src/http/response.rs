//! A response whose body arrives in chunks.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::timeout;

use super::failure::{MAX_MESSAGE_BYTES, chain};
use super::{ContentType, Headers, HttpFailure, Redaction};

/// Maximum length of a response, in bytes.
const MAX_RESPONSE_BYTES: usize = 64 << 20;

/// A response whose body is not read yet.
#[derive(Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The headers.
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

    /// Returns the content type.
    pub fn content_type(&self) -> ContentType {
        ContentType::of(self.headers.get("content-type").map(String::as_str))
    }

    /// Returns the next chunk of the body, or `None` at its end.
    ///
    /// # Errors
    /// The connection was interrupted, a timeout expired, or the response is too long.
    pub async fn piece(&mut self) -> Result<Option<Vec<u8>>, HttpFailure> {
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
                    message: redaction.clean_line(&chain(&error), MAX_MESSAGE_BYTES),
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
}
