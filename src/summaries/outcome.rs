//! The outcome of generating a label, a title or a recap.

use super::recap::RecapSkipped;
use crate::client::model::{Failure, PromptId};
use crate::message::Usage;
use crate::records::{SideExtension, TextRejection};

/// The model in records of texts by rules.
const MODEL: &str = "builtin";

/// A label, a title or a recap.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// One line.
    pub text: String,
    /// The model, or `builtin`.
    pub model: String,
    /// The tokens; `None` if no model was asked or it reported none.
    pub cost: Option<Cost>,
}

impl Text {
    /// Returns a text by the built-in rules.
    pub fn builtin(text: String) -> Self {
        Self {
            text,
            model: MODEL.to_owned(),
            cost: None,
        }
    }
}

/// The tokens of a request, successful or not.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// The model.
    pub model: String,
    /// The prompt id for the accounting of the tokens.
    pub prompt: PromptId,
    /// The tokens.
    pub usage: Usage,
}

/// Returns the part of a record that names the model of a text and its cost.
pub fn extension(model: Option<String>, cost: Option<&Cost>) -> SideExtension {
    SideExtension {
        model: model.or_else(|| cost.map(|cost| cost.model.clone())),
        prompt_id: cost.map(|cost| cost.prompt.0.to_owned()),
        usage: cost.map(|cost| cost.usage),
        ..SideExtension::default()
    }
}

/// The reason for a missing text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// No model is configured.
    #[error("no fast model is configured (`--model`, TURNPIPE_FAST_MODEL)")]
    NoFastModel,
    /// The conversation is empty.
    #[error("the session is empty")]
    EmptyHistory,
    /// The reply was not usable.
    #[error("no usable reply; `turnpipe session rename` sets a title manually")]
    EmptyResult,
    /// The request was cancelled.
    #[error("cancelled")]
    Aborted,
    /// The request failed.
    #[error("the model did not reply (`-v` shows why)")]
    ModelError,
    /// Skipped, because the model refused an earlier request.
    #[error("skipped: the model refused an earlier request")]
    NotAsked,
    /// The user set the title.
    #[error("the user set this title; `--replace` replaces it")]
    ManualTitle,
    /// The session has an automatic title.
    #[error("the session already has a title")]
    AlreadyTitled,
    /// `--stale` skips a session without a title.
    #[error("the session has no title")]
    Untitled,
    /// `--stale` skips a title that fits.
    #[error("the session has not moved on from its title")]
    TitleFits,
    /// `--stale` skips a title of unknown time.
    #[error("it is not recorded when the session got its title")]
    UnknownTitleTime,
    /// The requests have cost as much as they may.
    #[error("not asked: `--max-cost` is reached")]
    CostLimit,
    /// `--auto` failed too often for this session.
    #[error("three attempts have failed already")]
    AttemptLimit,
    /// Disabled by the environment or the settings.
    #[error("disabled by the environment")]
    Disabled,
    /// The file cannot be read or written.
    #[error("cannot read the session")]
    Unreadable,
    /// An automatic recap is not due.
    #[error(transparent)]
    Skipped(#[from] RecapSkipped),
}

impl Reason {
    /// Returns the name in records.
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
            Self::Untitled => "untitled",
            Self::TitleFits => "title_fits",
            Self::UnknownTitleTime => "unknown_title_time",
            Self::CostLimit => "cost_limit",
            Self::AttemptLimit => "attempt_limit",
            Self::Disabled => "disabled",
            Self::Unreadable => "unreadable",
            Self::Skipped(skipped) => skipped.name(),
        }
    }
}

/// A missing text: the reason, and the cost of the attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct NoText {
    /// The reason.
    pub reason: Reason,
    /// The error message.
    pub error: Option<String>,
    /// The cost of the request.
    pub cost: Option<Box<Cost>>,
    /// The failure of the request.
    pub failure: Option<Box<Failure>>,
}

impl From<Reason> for NoText {
    fn from(reason: Reason) -> Self {
        Self {
            reason,
            error: None,
            cost: None,
            failure: None,
        }
    }
}

impl From<Failure> for NoText {
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

impl From<TextRejection> for NoText {
    fn from(rejection: TextRejection) -> Self {
        Self::unusable(rejection.to_string())
    }
}

impl NoText {
    /// Creates the outcome for an unusable reply of the model.
    pub fn unusable(why: impl Into<String>) -> Self {
        let reason = why.into();
        Self {
            reason: Reason::EmptyResult,
            ..Failure::Malformed { reason }.into()
        }
    }

    /// Creates the outcome for a session that cannot be read or written.
    pub fn unreadable(error: impl std::fmt::Display) -> Self {
        Self::from(Reason::Unreadable).because(error.to_string())
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
