//! Why there is no answer.

use std::time::Duration;

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
    /// The answer is longer than any answer is.
    #[error("the answer is longer than {0} bytes")]
    TooLarge(usize),
    /// The request cannot be made: certificates, a header, the address.
    #[error("{0}")]
    Unusable(String),
}
