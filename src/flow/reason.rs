//! Why there is no title, or no recap.

use super::ask::Cost;
use crate::model::Failure;

/// The reason, as records name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// No model is configured.
    NoFastModel,
    /// The conversation is empty.
    EmptyHistory,
    /// The answer was not usable.
    EmptyResult,
    /// It was stopped.
    Aborted,
    /// The model did not answer.
    ModelError,
    /// The model was not asked, because it refused everything before.
    NotAsked,
    /// A person gave a title.
    ManualTitle,
    /// The session has a title already.
    AlreadyTitled,
    /// There were too many attempts.
    AttemptLimit,
    /// The environment disables it.
    Disabled,
    /// The file cannot be read or written.
    Unreadable,
    /// It is asked for in a batch that is not collected yet.
    InBatch,
    /// An automatic recap is not due.
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
            Self::NotAsked => "not_asked",
            Self::ManualTitle => "manual_title",
            Self::AlreadyTitled => "already_titled",
            Self::AttemptLimit => "attempt_limit",
            Self::Disabled => "disabled",
            Self::Unreadable => "unreadable",
            Self::InBatch => "in_batch",
            Self::Gate(held) => held.name(),
        }
    }

    /// The reason in words, with advice.
    pub fn advice(self) -> &'static str {
        match self {
            Self::NoFastModel => "no fast model is configured (`--model`, TURNPIPE_FAST_MODEL)",
            Self::EmptyHistory => "the session is empty so far",
            Self::EmptyResult => "no usable answer; `turnpipe session rename` sets a title by hand",
            Self::Aborted => "stopped",
            Self::ModelError => "the model did not answer (`-v` shows why)",
            Self::NotAsked => "the model was not asked after its refusal",
            Self::ManualTitle => "a person gave this session a title; `--replace` replaces it",
            Self::AlreadyTitled => "the session has a title already",
            Self::AttemptLimit => "three attempts have failed already",
            Self::Disabled => "disabled by the environment",
            Self::Unreadable => "the session cannot be read",
            Self::InBatch => "asked for in a batch; `turnpipe title --batch collect` fetches it",
            Self::Gate(held) => match held {
                crate::side::recap::Held::NotEnoughNew => {
                    "there is too little new since the last recap"
                }
                crate::side::recap::Held::NotAway => "the absence was too short",
                crate::side::recap::Held::Busy => "a prompt or a call is not answered yet",
            },
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
