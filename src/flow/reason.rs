//! Why there is no title, or no recap.

use super::ask::Cost;
use crate::model::Failure;
use crate::side::recap::Held;

/// The reason, with what can be done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// No model is configured.
    #[error("no fast model is configured (`--model`, TURNPIPE_FAST_MODEL)")]
    NoFastModel,
    /// The conversation is empty.
    #[error("the session is empty so far")]
    EmptyHistory,
    /// The answer was not usable.
    #[error("no usable answer; `turnpipe session rename` sets a title by hand")]
    EmptyResult,
    /// It was stopped.
    #[error("stopped")]
    Aborted,
    /// The model did not answer.
    #[error("the model did not answer (`-v` shows why)")]
    ModelError,
    /// The model was not asked, because it refused everything before.
    #[error("the model was not asked after its refusal")]
    NotAsked,
    /// A person gave a title.
    #[error("a person gave this session a title; `--replace` replaces it")]
    ManualTitle,
    /// The session has a title already.
    #[error("the session has a title already")]
    AlreadyTitled,
    /// There were too many attempts.
    #[error("three attempts have failed already")]
    AttemptLimit,
    /// The environment disables it.
    #[error("disabled by the environment")]
    Disabled,
    /// The file cannot be read or written.
    #[error("the session cannot be read")]
    Unreadable,
    /// An automatic recap is not due.
    #[error("{0}")]
    Gate(Held),
}

impl Reason {
    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoFastModel => "no_fast_model",
            Self::EmptyHistory => "empty_history",
            Self::EmptyResult => "empty_result",
            Self::Aborted => "aborted",
            Self::ModelError => "model_error",
            Self::NotAsked => "not_asked",
            Self::ManualTitle => "manual_title",
            Self::AlreadyTitled => "already_titled",
            Self::AttemptLimit => "attempt_limit",
            Self::Disabled => "disabled",
            Self::Unreadable => "unreadable",
            Self::Gate(held) => held.name(),
        }
    }
}

/// Why there is no title or recap, and what the attempt cost.
#[derive(Debug, Clone, PartialEq)]
pub struct NoResult {
    /// Why.
    pub reason: Reason,
    /// The error message.
    pub error: Option<String>,
    /// What it cost.
    pub cost: Option<Box<Cost>>,
    /// How a model failed, if one did.
    pub failure: Option<Box<Failure>>,
}

impl From<Reason> for NoResult {
    fn from(reason: Reason) -> Self {
        Self {
            reason,
            error: None,
            cost: None,
            failure: None,
        }
    }
}

impl From<Failure> for NoResult {
    fn from(failure: Failure) -> Self {
        let reason = match failure {
            Failure::Aborted => return Reason::Aborted.into(),
            Failure::NotAsked { .. } => Reason::NotAsked,
            Failure::Empty { .. } => Reason::EmptyResult,
            _ => Reason::ModelError,
        };
        Self {
            error: Some(failure.to_string()),
            failure: Some(Box::new(failure)),
            ..reason.into()
        }
    }
}

impl NoResult {
    /// The answer of a model cannot be used.
    pub fn unusable(why: impl Into<String>) -> Self {
        let reason = why.into();
        Self {
            reason: Reason::EmptyResult,
            ..Failure::Malformed { reason }.into()
        }
    }

    /// Adds an error message.
    #[must_use]
    pub fn because(self, error: impl Into<String>) -> Self {
        Self {
            error: Some(error.into()),
            ..self
        }
    }

    /// Adds the cost.
    #[must_use]
    pub fn at_cost(self, cost: Option<Cost>) -> Self {
        Self {
            cost: cost.map(Box::new),
            ..self
        }
    }
}
