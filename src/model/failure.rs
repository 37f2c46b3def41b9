//! Why there is no reply.

use std::time::Duration;

use crate::dialog::Usage;

/// Why there is no whole, usable reply. Every text in it is one line without secrets; it comes
/// from a server, though, and is not safe for a terminal.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Failure {
    /// The provider refused the request: key, quota, an invalid request, an unknown model.
    #[error("the provider refused: {}{message}", status_prefix(*status))]
    Rejected {
        /// The HTTP status; `None` if the refusal came inside of a reply.
        status: Option<u16>,
        /// What it said.
        message: String,
    },
    /// The provider has no time, or is broken.
    #[error("the provider is overloaded or failing: {}{message}", status_prefix(*status))]
    Overloaded {
        /// The HTTP status; `None` if the error came inside of a reply.
        status: Option<u16>,
        /// What it said.
        message: String,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
    },
    /// There was no connection, or it broke before an answer began.
    #[error("the provider cannot be reached: {message}")]
    Unreachable {
        /// What happened.
        message: String,
    },
    /// The answer did not come in time.
    #[error("no answer within {} ms", limit.as_millis())]
    TimedOut {
        /// The limit that was reached.
        limit: Duration,
    },
    /// Somebody stopped the call ([`super::Stop`]).
    #[error("aborted")]
    Aborted,
    /// The answer began and was cut off.
    #[error("the answer was cut off: {cut}")]
    Cut {
        /// By what.
        cut: Cut,
        /// What it cost, as far as it is known.
        usage: Usage,
    },
    /// The answer has nothing in it.
    #[error("the answer is empty{silence}")]
    Empty {
        /// Whether at least something was thought.
        silence: Silence,
        /// What it cost.
        usage: Usage,
    },
    /// The model, or a filter before it, will not answer.
    #[error("the model declined: {reason}")]
    Declined {
        /// Why, in its words or the API's.
        reason: String,
        /// What it cost.
        usage: Usage,
    },
    /// What came is not what the API says: a web page, another type, broken JSON.
    #[error("unusable answer: {reason}")]
    Malformed {
        /// What is wrong with it.
        reason: String,
    },
    /// The request is not in the recording that is replayed.
    #[error("not in the recording {file}: {reason}")]
    NotRecorded {
        /// The recording.
        file: String,
        /// What is different to the nearest request.
        reason: String,
        /// The differences, one a line, for people; empty if the recording is.
        difference: String,
    },
    /// The machine has no certificate, key or file that the request needs.
    #[error("{message}")]
    Unusable {
        /// What is missing.
        message: String,
    },
}

/// What cut an answer off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Cut {
    /// The token budget was used up.
    #[error("the token budget was used up")]
    Budget,
    /// The connection ended before the answer did.
    #[error("the connection ended first")]
    Connection,
}

/// What kind of empty an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// Nothing at all.
    Complete,
    /// Thinking, and nothing after it.
    OnlyThinking,
}

impl std::fmt::Display for Silence {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Complete => "",
            Self::OnlyThinking => ": the model only thought",
        })
    }
}

/// What another try would be good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prospect {
    /// Nothing: the request has to change (exit status 4).
    Hopeless,
    /// The trouble may pass (exit status 5).
    MayPass,
    /// Nobody wants one.
    Stopped,
}

impl Failure {
    /// What another try would be good for.
    pub fn prospect(&self) -> Prospect {
        match self {
            Self::Rejected { .. }
            | Self::Declined { .. }
            | Self::Malformed { .. }
            | Self::NotRecorded { .. }
            | Self::Unusable { .. }
            | Self::Empty { .. }
            | Self::Cut {
                cut: Cut::Budget, ..
            } => Prospect::Hopeless,
            Self::Overloaded { .. }
            | Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::Cut {
                cut: Cut::Connection,
                ..
            } => Prospect::MayPass,
            Self::Aborted => Prospect::Stopped,
        }
    }

    /// What was paid all the same.
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
            | Self::NotRecorded { .. }
            | Self::Unusable { .. } => None,
        }
    }
}

fn status_prefix(status: Option<u16>) -> String {
    status.map_or_else(String::new, |status| format!("status {status}: "))
}
