//! Failed requests to models.

use std::time::Duration;

use super::Reply;
use crate::client::http::{Address, Redaction};
use crate::message::Usage;

/// Maximum length of a message, in bytes.
const MAX_MESSAGE_BYTES: usize = 400;

/// A failed request. All texts in it are single lines without secrets.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Failure {
    /// The provider refused the request: key, quota, invalid request or unknown model.
    #[error("the provider refused: {}{message}", status_prefix(*status))]
    Rejected {
        /// HTTP status; `None` if the error was part of a reply.
        status: Option<u16>,
        /// Message of the server.
        message: String,
        /// Scope of the refusal.
        scope: RefusalScope,
    },
    /// The provider is overloaded or has an internal error.
    #[error("the provider is overloaded or failing: {}{message}{}", status_prefix(*status), wait_suffix(*retry_after))]
    Overloaded {
        /// HTTP status; `None` if the error was part of a reply.
        status: Option<u16>,
        /// Message of the server.
        message: String,
        /// Delay requested by the server.
        retry_after: Option<Duration>,
    },
    /// Connecting failed, or the connection broke before the response.
    #[error("the provider cannot be reached: {message}")]
    Unreachable {
        /// The network error.
        message: String,
    },
    /// The response took too long.
    #[error("no response within {} ms", limit.as_millis())]
    TimedOut {
        /// The time limit.
        limit: Duration,
    },
    /// Cancelled by the caller ([`crate::io::CancelToken`]).
    #[error("aborted")]
    Aborted,
    /// The connection closed before the end of the reply.
    #[error("the reply was cut off: the connection ended first")]
    Cut {
        /// Usage, if known.
        usage: Usage,
    },
    /// The reply reached the token limit.
    #[error("the reply was cut off: the token budget was used up")]
    OverBudget {
        /// The reply up to there. Its last part may be incomplete.
        partial: Box<Reply>,
    },
    /// The reply is empty.
    #[error("the reply is empty{kind}")]
    Empty {
        /// Whether there was thinking.
        kind: EmptyReply,
        /// Usage of the request.
        usage: Usage,
    },
    /// The model or a filter refused to reply.
    #[error("the model declined: {reason}")]
    Declined {
        /// The reason, in the words of the model or the API.
        reason: String,
        /// Usage of the request.
        usage: Usage,
    },
    /// The response does not follow the API: a web page, another content type, invalid JSON.
    #[error("unusable reply: {reason}")]
    Malformed { reason: String },
    /// The request was not sent, because an earlier refusal applies to it too.
    #[error("{refusal}")]
    NotAsked {
        /// The earlier refusal.
        refusal: Box<Failure>,
    },
    /// The recording to replay does not contain the request.
    #[error("not in the recording {file}: {reason}")]
    NotRecorded {
        /// Path of the recording.
        file: String,
        /// One-line difference from the nearest recorded request.
        reason: String,
        /// Line diff to the nearest recorded request; empty if the recording is empty.
        difference: String,
    },
    /// The request cannot be built: a certificate, key or file is missing.
    #[error("{message}")]
    Unusable {
        /// The reason.
        message: String,
    },
}

/// Scope of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalScope {
    /// Only this request.
    Request,
    /// Only this request, which exceeds the context window.
    Length,
    /// All requests: the key, quota, model or address is wrong.
    Everything,
}

/// Kind of empty reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EmptyReply {
    /// Empty, without thinking.
    #[error("")]
    Complete,
    #[error(": the model returned only thinking")]
    OnlyThinking,
}

/// Whether a retry can succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retryability {
    /// No: the request has to change (exit status 4).
    Permanent,
    /// Yes: the problem is temporary (exit status 5).
    Temporary,
    /// Cancelled by the caller.
    Stopped,
}

impl Failure {
    /// Returns whether a retry can succeed.
    pub fn retryability(&self) -> Retryability {
        match self {
            Self::Rejected { .. }
            | Self::Declined { .. }
            | Self::Malformed { .. }
            | Self::NotRecorded { .. }
            | Self::Unusable { .. }
            | Self::Empty { .. }
            | Self::OverBudget { .. } => Retryability::Permanent,
            Self::Overloaded { .. }
            | Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::Cut { .. } => Retryability::Temporary,
            Self::Aborted => Retryability::Stopped,
            Self::NotAsked { refusal } => refusal.retryability(),
        }
    }

    /// Whether all other requests to the model would fail too.
    pub fn refuses_everything(&self) -> bool {
        match self {
            Self::Rejected { scope, .. } => *scope == RefusalScope::Everything,
            Self::Unusable { .. } => true,
            _ => false,
        }
    }

    /// Returns the HTTP status, if there was a response.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Rejected { status, .. } | Self::Overloaded { status, .. } => *status,
            Self::NotAsked { refusal } => refusal.status(),
            _ => None,
        }
    }

    /// Returns the usage that was billed despite the failure.
    pub fn usage(&self) -> Option<&Usage> {
        match self {
            Self::Cut { usage } | Self::Empty { usage, .. } | Self::Declined { usage, .. } => {
                Some(usage).filter(|usage| !usage.is_empty())
            }
            Self::OverBudget { partial } => Some(&partial.usage).filter(|usage| !usage.is_empty()),
            Self::Rejected { .. }
            | Self::Overloaded { .. }
            | Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::Aborted
            | Self::Malformed { .. }
            | Self::NotAsked { .. }
            | Self::NotRecorded { .. }
            | Self::Unusable { .. } => None,
        }
    }

    /// Adds the address to the message of a 404 failure.
    pub(super) fn with_address(mut self, address: &Address) -> Self {
        if let Self::Rejected {
            status: Some(404 | 405),
            message,
            ..
        } = &mut self
        {
            let hint = address.repeated_part().map_or_else(String::new, |part| {
                format!(" (`{part}` occurs twice: shorten the base URL)")
            });
            *message = format!("{address}{hint}: {message}");
        }
        self
    }

    /// Shortens all texts, puts them on one line and redacts secrets.
    pub(super) fn into_redacted(mut self, redaction: &Redaction) -> Self {
        match &mut self {
            Self::Rejected { message, .. }
            | Self::Overloaded { message, .. }
            | Self::Unreachable { message }
            | Self::Unusable { message }
            | Self::Declined {
                reason: message, ..
            }
            | Self::Malformed { reason: message } => {
                *message = redaction.clean_line(message, MAX_MESSAGE_BYTES);
            }
            Self::NotRecorded {
                reason, difference, ..
            } => {
                *reason = redaction.clean_line(reason, MAX_MESSAGE_BYTES);
                *difference = redaction.clean(difference);
            }
            Self::OverBudget { partial } => {
                let reply = std::mem::take(&mut **partial);
                **partial = reply.into_redacted(redaction);
            }
            Self::TimedOut { .. }
            | Self::Aborted
            | Self::Cut { .. }
            | Self::Empty { .. }
            | Self::NotAsked { .. } => {}
        }
        self
    }
}

/// Formats the delay that a server requests for the end of a message. Empty if it is shorter than a minute.
fn wait_suffix(wait: Option<Duration>) -> String {
    let long_wait = wait.filter(|wait| *wait >= Duration::from_mins(1));
    long_wait.map_or_else(String::new, |wait| {
        format!("; it asks to wait {} s", wait.as_secs())
    })
}

fn status_prefix(status: Option<u16>) -> String {
    status.map_or_else(String::new, |status| format!("status {status}: "))
}
