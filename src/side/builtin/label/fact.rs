//! The facts about one call that its label needs.

use crate::message::CallOutcome;

/// Returns the words for an unsuccessful call.
pub(super) fn ending(outcome: CallOutcome) -> &'static str {
    match outcome {
        CallOutcome::Declined => "declined by user",
        CallOutcome::Denied => "denied",
        CallOutcome::Interrupted => "interrupted",
        CallOutcome::Cancelled => "cancelled",
        CallOutcome::Ok | CallOutcome::Failed => "failed",
    }
}

/// The class of a call, in the order of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Class {
    /// Tests, lints, builds.
    Check,
    Edit,
    Write,
    Shell,
    Agent,
    Plan,
    Ask,
    Mcp,
    Web,
    Background,
    Skill,
    Read,
    Search,
    Find,
    List,
    Task,
    Todo,
    Other,
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It succeeded, as far as known.
    Good,
    /// It failed, was declined, or its output reports failures.
    Bad,
    /// It was cancelled because of another call.
    Cancelled,
}

/// The topic of a call, with which several calls can share a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum About {
    /// No topic.
    Nothing,
    /// A file, by its path.
    File(String),
    /// A search.
    Sought {
        /// The searched text.
        noun: String,
        /// Whether there was a match.
        found: bool,
    },
    /// A name.
    Named(String),
    /// A task that changed to this state.
    Task(&'static str),
    /// A command: verb and object.
    Act {
        /// E.g. `Ran`, `Viewed git`.
        verb: String,
        /// E.g. `lint`, `log`.
        object: String,
        /// The result in the output, e.g. `passed`.
        finding: String,
    },
}

/// A finished call, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fact {
    /// The class.
    pub(super) class: Class,
    /// The phrase for this call alone.
    pub(super) phrase: String,
    /// The outcome.
    pub(super) outcome: Outcome,
    /// The topic.
    pub(super) about: About,
    /// The verb of a success, e.g. `Edited`.
    pub(super) verb: &'static str,
    /// The noun for counted calls, e.g. `edit`.
    pub(super) noun: &'static str,
}

impl Fact {
    /// Creates a success without a topic.
    pub(super) fn good(class: Class, phrase: impl Into<String>) -> Self {
        Self {
            class,
            phrase: phrase.into(),
            outcome: Outcome::Good,
            about: About::Nothing,
            verb: "",
            noun: "call",
        }
    }

    /// Creates a failure.
    pub(super) fn bad(class: Class, phrase: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Bad,
            ..Self::good(class, phrase)
        }
    }

    /// Sets the topic.
    pub(super) fn about(self, about: About) -> Self {
        Self { about, ..self }
    }

    /// Sets the verb and the noun for several such calls.
    pub(super) fn counted(self, verb: &'static str, noun: &'static str) -> Self {
        Self { verb, noun, ..self }
    }
}
