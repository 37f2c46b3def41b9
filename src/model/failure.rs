//! Failed requests to models, and the classes of servers' error messages. Pure.

use std::time::Duration;

use serde_json::Value;

use crate::http::{Address, Redaction};
use crate::jsonl::replace_lone_surrogates;
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
        what: Refused,
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
    /// The reply was cut off.
    #[error("the reply was cut off: {cut}")]
    Cut {
        /// The cause.
        cut: CutCause,
        /// Usage, if known.
        usage: Usage,
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
        /// The missing item.
        message: String,
    },
}

/// Scope of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Only this request.
    Request,
    /// Only this request, which exceeds the context window.
    Length,
    /// All requests: the key, quota, model or address is wrong.
    Everything,
}

/// Cause of an incomplete reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CutCause {
    /// The token limit was reached.
    #[error("the token budget was used up")]
    Budget,
    /// The connection closed early.
    #[error("the connection ended first")]
    Connection,
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
            | Self::Cut {
                cut: CutCause::Budget,
                ..
            } => Retryability::Permanent,
            Self::Overloaded { .. }
            | Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::Cut {
                cut: CutCause::Connection,
                ..
            } => Retryability::Temporary,
            Self::Aborted => Retryability::Stopped,
            Self::NotAsked { refusal } => refusal.retryability(),
        }
    }

    /// Whether all other requests to the model would fail too.
    pub fn refuses_everything(&self) -> bool {
        match self {
            Self::Rejected { what, .. } => *what == Refused::Everything,
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

    /// Adds the address to the message of a 404 failure.
    pub(super) fn located(mut self, address: &Address) -> Self {
        if let Self::Rejected {
            status: Some(404 | 405),
            message,
            ..
        } = &mut self
        {
            let repeats = address.repeated_part().map_or_else(String::new, |part| {
                format!(" (`{part}` occurs twice: shorten the base URL)")
            });
            *message = format!("{address}{repeats}: {message}");
        }
        self
    }

    /// Shortens all texts, puts them on one line and redacts secrets.
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
                *message = redaction.clean_line(message, MAX_MESSAGE_BYTES);
            }
            Self::NotRecorded {
                reason, difference, ..
            } => {
                *reason = redaction.clean_line(reason, MAX_MESSAGE_BYTES);
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

/// Returns the wait that a server asks for, if no retry of this run waits that long.
fn wait_suffix(wait: Option<Duration>) -> String {
    let long = wait.filter(|wait| *wait >= Duration::from_mins(1));
    long.map_or_else(String::new, |wait| {
        format!("; it asks to wait {} s", wait.as_secs())
    })
}

fn status_prefix(status: Option<u16>) -> String {
    status.map_or_else(String::new, |status| format!("status {status}: "))
}

/// An error reported by a server.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ServerError {
    message: String,
    /// Status in the text; errors in replies have no other.
    status: Option<u16>,
    /// All error codes and types, in lower case.
    kinds: Vec<String>,
    retry_after: Option<Duration>,
}

/// Kinds that a retry cannot fix, with any status.
const EXHAUSTED: &str = "insufficient_quota credit_balance_exhausted billing_error \
    billing_hard_limit_reached enforced_spend_limit_reached insufficient_balance \
    quota_exceeded arrearage";

/// Phrases in messages and kinds about an exhausted quota.
const EXHAUSTED_WORDS: &str =
    "credit balance is too low|limit: 0|per day|perday|insufficient balance";

/// Permanent kinds of errors in replies, which have no HTTP status.
const FINAL: &str = "invalid_request_error invalid_parameter_error authentication_error \
    permission_error not_found_error request_too_large exceed_context_size_error \
    context_length_exceeded invalid_argument permission_denied unauthenticated \
    failed_precondition not_found";

/// Kinds of errors about requests that exceed the context window.
const TOO_LONG: &str = "context_length_exceeded exceed_context_size_error request_too_large";

/// Phrases about such requests, from servers without a kind for them.
const TOO_LONG_WORDS: &str = "prompt is too long|maximum context length|context window|\
    exceeds the maximum number of tokens|range of input length should be|input is too long|\
    exceeds the available context size";

impl ServerError {
    /// Parses the error in a response with a success status.
    pub(super) fn inside(json: &str) -> Option<Self> {
        if !json.contains("\"error\"") {
            return None;
        }
        let reply = first_value(json)?;
        let error = &reply["error"];
        (!error.is_null()).then(|| Self::read(error))
    }

    /// Parses the error in a response with another status, which may be any text.
    pub(super) fn of_body(body: &str) -> Self {
        let response = first_value(body).unwrap_or_default();
        let mut error = match &response["error"] {
            Value::Null => Self::read(&response),
            error => Self::read(error),
        };
        if error.message.is_empty() {
            let elsewhere = [&response["message"], &response["detail"]];
            let message = elsewhere.into_iter().find_map(Value::as_str);
            message
                .unwrap_or(body.trim())
                .clone_into(&mut error.message);
        }
        error
    }

    fn read(error: &Value) -> Self {
        let message = match error {
            Value::String(message) => message.clone(),
            Value::Object(_) | Value::Null => {
                error["message"].as_str().unwrap_or_default().to_owned()
            }
            other => other.to_string(),
        };
        let mut kinds = vec![&error["type"], &error["code"], &error["status"]];
        let mut retry_after = None;
        // An object, or a list of objects.
        let details = &error["details"];
        let details = details
            .as_array()
            .map_or(std::slice::from_ref(details), Vec::as_slice);
        for detail in details {
            kinds.push(&detail["error_code"]);
            let violations = detail["violations"].as_array().into_iter().flatten();
            kinds.extend(violations.map(|violation| &violation["quotaId"]));
            retry_after = retry_after.or(detail["retryDelay"].as_str().and_then(seconds));
        }
        let kinds = kinds.into_iter().filter_map(Value::as_str);
        Self {
            message,
            status: status(&error["code"]),
            kinds: kinds.map(str::to_ascii_lowercase).collect(),
            retry_after,
        }
    }

    /// Converts the error to a failure, with status and delay from the response headers.
    pub(super) fn failure(self, status: Option<u16>, retry_after: Option<Duration>) -> Failure {
        let status = status.or(self.status);
        let is_exhausted = self.is_exhausted();
        let may_pass = match status {
            Some(408 | 409 | 425 | 429) => true,
            Some(501 | 505) => false,
            Some(status) => status >= 500,
            // A server that started a reply had accepted the request.
            None => !self.is_one_of(FINAL),
        };
        let retry_after = retry_after.or(self.retry_after);
        let message = if self.message.is_empty() {
            "no reason given".to_owned()
        } else {
            self.message.clone()
        };
        if may_pass && !is_exhausted {
            return Failure::Overloaded {
                status,
                message,
                retry_after,
            };
        }
        // The key, account, address or model is wrong for all requests.
        let what = if is_exhausted || matches!(status, Some(401..=404 | 407)) {
            Refused::Everything
        } else if self.is_too_long(&message) {
            Refused::Length
        } else {
            Refused::Request
        };
        Failure::Rejected {
            status,
            message,
            what,
        }
    }

    fn is_one_of(&self, kinds: &str) -> bool {
        let mut known = kinds.split_whitespace();
        known.any(|known| self.kinds.iter().any(|kind| kind == known))
    }

    fn is_too_long(&self, message: &str) -> bool {
        let message = message.to_lowercase();
        let mut phrases = TOO_LONG_WORDS.split('|');
        self.is_one_of(TOO_LONG) || phrases.any(|phrase| message.contains(phrase))
    }

    /// Whether a quota is exhausted for a long time.
    fn is_exhausted(&self) -> bool {
        let message = self.message.to_lowercase();
        let mut texts = self.kinds.iter().chain([&message]);
        self.is_one_of(EXHAUSTED)
            || texts.any(|text| EXHAUSTED_WORDS.split('|').any(|words| text.contains(words)))
    }
}

/// Parses a JSON value, or the first one of an array: a stream without event framing is an array.
fn first_value(json: &str) -> Option<Value> {
    let repaired = replace_lone_surrogates(json);
    match serde_json::from_str(repaired.as_deref().unwrap_or(json)).ok()? {
        Value::Array(values) => values.into_iter().next(),
        value => Some(value),
    }
}

/// Parses a status given as a number or string.
fn status(code: &Value) -> Option<u16> {
    let number = code.as_u64().or_else(|| code.as_str()?.parse().ok())?;
    let number = u16::try_from(number).ok()?;
    (400..600).contains(&number).then_some(number)
}

/// Parses a duration such as `46s` or `1.5s`.
fn seconds(delay: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

#[cfg(test)]
#[path = "failure_tests.rs"]
mod tests;
