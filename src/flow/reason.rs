//! Why there is no title, or no recap.

use super::ask::Cost;
use crate::model::{Failure, Retryability};

/// The reason, as records name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// No model is configured, and nobody asked.
    NoFastModel,
    /// Nothing was said yet.
    EmptyHistory,
    /// Nothing usable came.
    EmptyResult,
    /// Somebody stopped it.
    Aborted,
    /// The model could not be asked, or did not answer.
    ModelError,
    /// A person gave a title.
    ManualTitle,
    /// The session has a title already.
    AlreadyTitled,
    /// It was tried too often.
    AttemptLimit,
    /// The environment switches it off.
    Disabled,
    /// The agent's files have no place for it.
    UnsupportedFormat,
    /// The file cannot be read or written.
    Unreadable,
    /// A gate of recaps holds it back.
    Gate(crate::side::recap::Held),
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
            Self::ManualTitle => "manual_title",
            Self::AlreadyTitled => "already_titled",
            Self::AttemptLimit => "attempt_limit",
            Self::Disabled => "disabled",
            Self::UnsupportedFormat => "unsupported_format",
            Self::Unreadable => "unreadable",
            Self::Gate(held) => held.name(),
        }
    }

    /// What a person may do about it.
    pub fn advice(self) -> &'static str {
        match self {
            Self::NoFastModel => "no fast model is configured (`--model`, TURNPIPE_FAST_MODEL)",
            Self::EmptyHistory => "nothing was said in this session yet",
            Self::EmptyResult => {
                "nothing usable came of it; `turnpipe session rename` sets a title by hand"
            }
            Self::Aborted => "stopped",
            Self::ModelError => "the model did not answer (`-v` says why)",
            Self::ManualTitle => "a person gave this session a title; `--replace` replaces it",
            Self::AlreadyTitled => "the session has a title already",
            Self::AttemptLimit => "tried three times already",
            Self::Disabled => "switched off by the environment",
            Self::UnsupportedFormat => "this agent's files have no place for it",
            Self::Unreadable => "the session cannot be read",
            Self::Gate(held) => match held {
                crate::side::recap::Held::NotEnoughNew => {
                    "too little was said since the last recap"
                }
                crate::side::recap::Held::NotAway => "nobody was away for long enough",
                crate::side::recap::Held::Busy => "something waits for an answer",
            },
        }
    }
}

/// Why there is none, and what that cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Nothing {
    /// Why.
    pub reason: Reason,
    /// What went wrong, in words.
    pub error: Option<String>,
    /// What it cost.
    pub cost: Option<Box<Cost>>,
    /// Whether another try may help, if a model failed.
    pub retryability: Option<Retryability>,
}

impl From<Reason> for Nothing {
    fn from(reason: Reason) -> Self {
        Self {
            reason,
            error: None,
            cost: None,
            retryability: None,
        }
    }
}

impl Nothing {
    /// The same, in words.
    #[must_use]
    pub fn because(self, error: impl Into<String>) -> Self {
        Self {
            error: Some(error.into()),
            ..self
        }
    }

    /// The same, because a model failed.
    #[must_use]
    pub fn of_failure(self, failure: &Failure) -> Self {
        Self {
            error: Some(failure.to_string()),
            retryability: Some(failure.retryability()),
            ..self
        }
    }

    /// The same, at this cost.
    #[must_use]
    pub fn at_cost(self, cost: Option<Cost>) -> Self {
        Self {
            cost: cost.map(Box::new),
            ..self
        }
    }
}
