//! Failures of requests.

use std::error::Error;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Maximum length of an error message, in bytes.
pub(super) const MAX_MESSAGE_BYTES: usize = 300;

/// A failure of a request or a response. Messages are one line without secrets. All variants but `Unusable` can
/// be recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum HttpFailure {
    /// No connection, or it ended before the response.
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
        let ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        Self::TimedOut { ms }
    }

    /// Creates a failure for an invalid request.
    pub fn unusable(message: String) -> Self {
        Self::Unusable { message }
    }
}

/// Returns the causes of an error without the URL, which may contain a key.
pub(super) fn chain(error: &reqwest::Error) -> String {
    let mut texts: Vec<String> = Vec::new();
    for cause in causes(error) {
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

pub(super) fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |cause| (*cause).source())
}
