//! The facts about one call that its label needs.

use super::call::Call;
use crate::message::CallOutcome;
use crate::side::builtin::command::Effect;

/// The rank of edits among commands: above commits, below pushes.
const EDIT_RANK: u8 = 98;

/// Returns the words for an unsuccessful call.
pub(super) fn ending(outcome: CallOutcome) -> &'static str {
    match outcome {
        CallOutcome::Declined => "declined",
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
    /// Files, by their paths.
    Files(Vec<String>),
    /// The object of the verb.
    Named(String),
}

/// A finished call, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fact {
    pub(super) class: Class,
    /// The phrase for this call alone.
    pub(super) phrase: String,
    pub(super) outcome: Outcome,
    pub(super) about: About,
    /// The verb of a success, e.g. `Edited`.
    pub(super) verb: String,
    /// The result in the output of a command, e.g. `passed`.
    pub(super) finding: String,
    /// The noun for counted calls, e.g. `edit`.
    pub(super) noun: &'static str,
    /// How much the call may have changed, and the rank of a command.
    pub(super) effect: (Effect, u8),
}

impl Fact {
    /// Creates a success without a topic.
    pub(super) fn good(class: Class, phrase: impl Into<String>) -> Self {
        Self {
            class,
            phrase: phrase.into(),
            outcome: Outcome::Good,
            about: About::Nothing,
            verb: String::new(),
            finding: String::new(),
            noun: "call",
            effect: match class {
                Class::Edit | Class::Write => (Effect::Changed, EDIT_RANK),
                Class::Agent | Class::Mcp | Class::Background | Class::Other => {
                    (Effect::Unknown, 0)
                }
                _ => (Effect::None, 0),
            },
        }
    }

    /// Creates a failure.
    pub(super) fn bad(class: Class, phrase: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Bad,
            ..Self::good(class, phrase)
        }
    }

    /// Creates the fact about a call: `did` on success, else `doing` and the ending.
    pub(super) fn of(call: &Call<'_>, class: Class, did: &str, doing: &str) -> Self {
        match call.status {
            CallOutcome::Ok => Self::good(class, did),
            other => Self::bad(class, format!("{doing} {}", ending(other))),
        }
    }

    /// Appends a topic to the phrase, unless it is empty.
    pub(super) fn on(mut self, topic: &str) -> Self {
        if !topic.is_empty() {
            self.phrase = format!("{}: {topic}", self.phrase);
        }
        self
    }

    /// Sets the verb, the noun and the topic for several such calls.
    pub(super) fn counted(self, verb: &str, noun: &'static str, about: About) -> Self {
        Self {
            verb: verb.to_owned(),
            noun,
            about,
            ..self
        }
    }
}
