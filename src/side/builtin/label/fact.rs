//! What is known of one call.

/// What kind of thing a call was, in the order of labels.
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

/// Whether a call did what it was to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It did, or nothing says otherwise.
    Good,
    /// It failed, was refused, or its output reports failures.
    Bad,
    /// It was ended because of another.
    Cancelled,
}

/// What a call was about, so that several can share a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum About {
    /// Nothing that could be counted.
    Nothing,
    /// A file, by its path.
    File(String),
    /// Something that was looked for, and whether it was found.
    Sought {
        /// What.
        noun: String,
        /// There was something.
        found: bool,
    },
    /// Something with a name.
    Named(String),
    /// A task that changed to this state.
    Task(&'static str),
    /// What a command did: a verb, and what to.
    Act {
        /// E.g. `Ran`, `Viewed git`.
        verb: String,
        /// E.g. `lint`, `log`.
        object: String,
        /// What the output also says, e.g. `passed`.
        finding: String,
    },
}

/// A finished call, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fact {
    /// What it was.
    pub(super) class: Class,
    /// What is said of it alone.
    pub(super) phrase: String,
    /// Whether it succeeded.
    pub(super) outcome: Outcome,
    /// What it shares with others.
    pub(super) about: About,
    /// The verb of a success, e.g. `Edited`.
    pub(super) verb: &'static str,
    /// What such a call is called where it is counted, e.g. `edit`.
    pub(super) noun: &'static str,
}

impl Fact {
    /// A success about nothing that could be counted.
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

    /// A failure.
    pub(super) fn bad(class: Class, phrase: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Bad,
            ..Self::good(class, phrase)
        }
    }

    /// The same, about something.
    pub(super) fn about(self, about: About) -> Self {
        Self { about, ..self }
    }

    /// The same, with the verb and the noun for several such calls.
    pub(super) fn counted(self, verb: &'static str, noun: &'static str) -> Self {
        Self { verb, noun, ..self }
    }
}
