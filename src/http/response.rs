//! An answer that arrives piece by piece.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::timeout;

use super::failure::{LONGEST_MESSAGE, chain};
use super::{ContentType, Headers, HttpFailure, Redaction};

/// The largest answer, in bytes.
const LARGEST: usize = 64 << 20;

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
        ContentType::of(self.headers.get("content-type").map(String::as_str))
    }

    /// The next piece of the body; `None` at its end.
    ///
    /// # Errors
    /// The connection broke, nothing came for too long, or too much came.
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
                    message: redaction.clean_line(&chain(&error), LONGEST_MESSAGE),
                })?
                .map(|bytes| bytes.to_vec()),
        };
        self.received += piece.as_ref().map_or(0, Vec::len);
        if self.received > LARGEST {
            return Err(HttpFailure::TooLarge { bytes: LARGEST });
        }
        Ok(piece)
    }
}
