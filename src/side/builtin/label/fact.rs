//! The finished calls of a batch, as the rules see them, and facts about them.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::message::CallOutcome;
use crate::side::builtin::command::Effect;
use crate::text::{redact, redact_strings};
use crate::tool_facts::{Parameter, Purpose, parameters};

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

/// A finished call of a batch.
#[derive(Debug, Clone, Copy)]
pub struct FinishedCall<'a> {
    /// The tool's name.
    pub name: &'a str,
    /// The arguments: a JSON object.
    pub input: &'a RawValue,
    /// The text of the result, or the start and the end of a long one.
    pub text: &'a str,
    /// Whether the call failed.
    pub failed: bool,
}

/// A parsed finished call.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    pub(super) kind: Purpose,
    pub(super) input: Value,
    pub(super) text: Cow<'a, str>,
    pub(super) status: CallOutcome,
    pub(super) cwd: Option<&'a str>,
}

impl<'a> Call<'a> {
    /// Parses a finished call, with secrets masked: a part of one is not recognisable. Paths are shown relative to
    /// `cwd`.
    pub(super) fn of(call: &FinishedCall<'a>, cwd: Option<&'a str>) -> Self {
        let mut input = serde_json::from_str(call.input.get()).unwrap_or_default();
        redact_strings(&mut input);
        Self {
            name: call.name,
            kind: Purpose::of(call.name),
            input,
            text: redact(call.text),
            status: CallOutcome::of_result(call.text, call.failed),
            cwd,
        }
    }

    /// Returns the first file or directory in the arguments.
    pub(super) fn path(&self) -> Option<&str> {
        self.argument(parameters(Parameter::Path))
    }

    /// Returns the first of these members that is a non-empty string.
    pub(super) fn argument(&self, names: &[&str]) -> Option<&str> {
        names
            .iter()
            .find_map(|name| self.input.get(name)?.as_str())
            .filter(|text| !text.trim().is_empty())
    }
}

/// Whether a tool of any agent reads, searches or lists files.
pub fn is_look(tool: &str) -> bool {
    matches!(
        Purpose::of(tool),
        Purpose::Read | Purpose::Search | Purpose::Find | Purpose::List
    )
}

/// Returns the maximum number of characters of a result of this tool that the rules need: the outcome is at the
/// start, and contents of files are not used.
pub fn needed_of_result(tool: &str) -> usize {
    match Purpose::of(tool) {
        Purpose::Read | Purpose::ReadMany | Purpose::Write | Purpose::Edit | Purpose::Patch => 768,
        _ => usize::MAX,
    }
}
