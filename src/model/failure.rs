//! Why there is no reply.

use std::time::Duration;

use crate::http::{Address, Redaction};
use crate::message::Usage;

/// The longest message, in bytes.
const LONGEST_MESSAGE: usize = 400;

/// Why there is no whole, usable reply. Every text in it is one line without secrets.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Failure {
    /// The provider refused the request: key, quota, an invalid request, an unknown model.
    #[error("the provider refused: {}{message}", status_prefix(*status))]
    Rejected {
        /// The HTTP status; `None` if the refusal came inside of a reply.
        status: Option<u16>,
        /// What it said.
        message: String,
        /// How much it refused.
        what: Refused,
    },
    /// The provider is overloaded or broken.
    #[error("the provider is overloaded or failing: {}{message}", status_prefix(*status))]
    Overloaded {
        /// The HTTP status; `None` if the error came inside of a reply.
        status: Option<u16>,
        /// What it said.
        message: String,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
    },
    /// There was no connection, or it broke before the answer began.
    #[error("the provider cannot be reached: {message}")]
    Unreachable {
        /// What happened.
        message: String,
    },
    /// The answer did not arrive in time.
    #[error("no answer within {} ms", limit.as_millis())]
    TimedOut {
        /// The limit that was reached.
        limit: Duration,
    },
    /// The call was stopped ([`crate::io::CancelToken`]).
    #[error("aborted")]
    Aborted,
    /// The answer began and was cut off.
    #[error("the answer was cut off: {cut}")]
    Cut {
        /// What cut it off.
        cut: Cut,
        /// The usage, if known.
        usage: Usage,
    },
    /// The answer is empty.
    #[error("the answer is empty{silence}")]
    Empty {
        /// Whether the model at least produced thinking.
        silence: Silence,
        /// What it cost.
        usage: Usage,
    },
    /// The model, or a filter, declined to answer.
    #[error("the model declined: {reason}")]
    Declined {
        /// Why, in its words or the API's.
        reason: String,
        /// What it cost.
        usage: Usage,
    },
    /// The answer does not follow the API: a web page, another type, broken JSON.
    #[error("unusable answer: {reason}")]
    Malformed {
        /// What is wrong with it.
        reason: String,
    },
    /// The request was not sent, because an earlier refusal concerns it as well.
    #[error("{refusal}")]
    NotAsked {
        /// The refusal.
        refusal: Box<Failure>,
    },
    /// The request is not in the recording that is replayed.
    #[error("not in the recording {file}: {reason}")]
    NotRecorded {
        /// The recording.
        file: String,
        /// How the request differs from the nearest recorded one.
        reason: String,
        /// The differences, one a line, for people; empty if the recording is.
        difference: String,
    },
    /// The request cannot be made: a certificate, key or file is missing.
    #[error("{message}")]
    Unusable {
        /// What is missing.
        message: String,
    },
}

/// How much a provider refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// This request.
    Request,
    /// This request, which is longer than the model can read.
    Length,
    /// Every request: the key, the quota, the model or the address is no good.
    Everything,
}

/// What cut an answer off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Cut {
    /// The token budget ran out.
    #[error("the token budget was used up")]
    Budget,
    /// The connection ended before the answer did.
    #[error("the connection ended first")]
    Connection,
}

/// What kind of empty an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Silence {
    /// Nothing at all.
    #[error("")]
    Complete,
    /// Thinking, and nothing after it.
    #[error(": the model only thought")]
    OnlyThinking,
}

/// Whether another attempt makes sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retryability {
    /// It does not: the request has to change (exit status 4).
    Permanent,
    /// It does: the trouble may pass (exit status 5).
    Temporary,
    /// The call was stopped.
    Stopped,
}

impl Failure {
    /// Whether another attempt makes sense.
    pub fn retryability(&self) -> Retryability {
        match self {
            Self::Rejected { .. }
            | Self::Declined { .. }
            | Self::Malformed { .. }
            | Self::NotRecorded { .. }
            | Self::Unusable { .. }
            | Self::Empty { .. }
            | Self::Cut {
                cut: Cut::Budget, ..
            } => Retryability::Permanent,
            Self::Overloaded { .. }
            | Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::Cut {
                cut: Cut::Connection,
                ..
            } => Retryability::Temporary,
            Self::Aborted => Retryability::Stopped,
            Self::NotAsked { refusal } => refusal.retryability(),
        }
    }

    /// Whether every other request to the model would fail as well.
    pub fn refuses_everything(&self) -> bool {
        match self {
            Self::Rejected { what, .. } => *what == Refused::Everything,
            Self::Unusable { .. } => true,
            _ => false,
        }
    }

    /// The HTTP status, if there was one.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Rejected { status, .. } | Self::Overloaded { status, .. } => *status,
            Self::NotAsked { refusal } => refusal.status(),
            _ => None,
        }
    }

    /// What was paid nevertheless.
    pub fn usage(&self) -> Option<&Usage> {
        match self {
            Self::Cut { usage, .. } | Self::Empty { usage, .. } | Self::Declined { usage, .. } => {
                Some(usage).filter(|usage| !usage.is_empty())
            }
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

    /// The same failure with the address, if that may be why the server has nothing there.
    pub(super) fn located(mut self, address: &Address) -> Self {
        if let Self::Rejected {
            status: Some(404 | 405),
            message,
            ..
        } = &mut self
        {
            let repeats = address.repeated_part().map_or_else(String::new, |part| {
                format!(" (`{part}` is there twice: shorten the base URL)")
            });
            *message = format!("{address}{repeats}: {message}");
        }
        self
    }

    /// The same failure with texts that are short, on one line, and without secrets.
    pub(super) fn cleaned(mut self, redaction: &Redaction) -> Self {
        match &mut self {
            Self::Rejected { message, .. }
            | Self::Overloaded { message, .. }
            | Self::Unreachable { message }
            | Self::Unusable { message }
            | Self::Declined {
                reason: message, ..
            }
            | Self::Malformed { reason: message } => {
                *message = redaction.clean_line(message, LONGEST_MESSAGE);
            }
            Self::NotRecorded {
                reason, difference, ..
            } => {
                *reason = redaction.clean_line(reason, LONGEST_MESSAGE);
                *difference = redaction.clean(difference);
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

fn status_prefix(status: Option<u16>) -> String {
    status.map_or_else(String::new, |status| format!("status {status}: "))
}
