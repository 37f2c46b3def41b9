//! Failures of requests.

use std::error::Error;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The longest error message, in bytes.
pub(super) const LONGEST_MESSAGE: usize = 300;

/// Why there is no answer, or no more of it. The texts are one line, and free of secrets. All but
/// the last kind can be recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum HttpFailure {
    /// No connection, or one that broke before the answer.
    #[error("{message}")]
    Unreachable {
        /// What happened.
        message: String,
    },
    /// The answer broke off.
    #[error("the connection ended in the middle of the answer: {message}")]
    Broken {
        /// What happened.
        message: String,
    },
    /// A limit was reached.
    #[error("no answer within {ms} ms")]
    TimedOut {
        /// The limit, in milliseconds.
        ms: u64,
    },
    /// The answer is too long.
    #[error("the answer is longer than {bytes} bytes")]
    TooLarge {
        /// The limit.
        bytes: usize,
    },
    /// The request cannot be made: certificates, a header, the address.
    #[error("{message}")]
    #[serde(skip)]
    Unusable {
        /// What is wrong.
        message: String,
    },
}

impl HttpFailure {
    pub(super) fn timed_out(limit: Duration) -> Self {
        let ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        Self::TimedOut { ms }
    }

    /// The request cannot be made.
    pub fn unusable(message: String) -> Self {
        Self::Unusable { message }
    }
}

/// The causes of an error, without the URL, which may contain a key.
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
