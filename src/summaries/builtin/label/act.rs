//! The acts of a call. Words are chosen last, when a label is written.

use crate::summaries::builtin::clean::upper_first;
use crate::summaries::builtin::cut::cut_end;
use crate::summaries::builtin::names::{list_files, relative_path};

/// Maximum width of a subject, in cells.
const SUBJECT_CELLS: usize = 40;

/// The things that an act may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Effect {
    /// Only the agent's own notes.
    Notes,
    /// Nothing.
    Nothing,
    /// Unknown, because a program ran.
    Unknown,
    /// Files or a repository.
    Changed,
}

/// Declares the kinds of acts: their effect, and the words before the object of a success and of a failure. The words of a
/// failure are empty if the object says enough, such as the name of a program.
macro_rules! verbs {
    ($($verb:ident $effect:ident $past:literal $attempt:literal)*) => {
        /// The kind of an act.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(super) enum Verb { $($verb),* }

        impl Verb {
            /// Returns what an act of this kind changes.
            pub(super) fn effect(self) -> Effect {
                match self { $(Self::$verb => Effect::$effect),* }
            }

            /// Returns the words of a success and of a failure.
            pub(super) fn words(self) -> (&'static str, &'static str) {
                match self { $(Self::$verb => ($past, $attempt)),* }
            }
        }
    };
}

verbs! {
    AskUser Nothing "Asked user" "Question to user"
    CallTool Unknown "Called" ""
    Change Changed "Changed" "Change of"
    Check Nothing "Checked" "Check of"
    CheckTask Nothing "Checked background task" "Background task"
    Commit Changed "Committed:" ""
    Delete Changed "Deleted" "Deletion of"
    Edit Changed "Edited" "Edit of"
    FindNothing Nothing "No matches for" ""
    List Nothing "Listed" "Listing of"
    LoadSkill Nothing "Loaded skill" "Skill"
    LookFor Nothing "Looked for" "File search for"
    MayRun Unknown "May have run" ""
    Note Notes "Updated" "Update of"
    PresentPlan Nothing "Presented plan" "Plan"
    Read Nothing "Read" "Read of"
    Request Nothing "Requested" "Request of"
    Run Unknown "Ran" ""
    RunAgent Unknown "Ran agent" "Agent"
    RunReader Nothing "Ran" ""
    Search Nothing "Searched for" "Search for"
    SearchWeb Nothing "Searched web for" "Web search for"
    SendInput Unknown "Sent input to background task" "Input to background task"
    StartAgent Unknown "Started agent" "Agent"
    StartInBackground Unknown "Started" ""
    StopTask Unknown "Stopped background task" "Stopping of background task"
    UseTool Unknown "Used" ""
    Write Changed "Wrote" "Write of"
}

/// The object of an act.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Object {
    /// Files, by their paths relative to the working directory.
    Files(Vec<String>),
    /// A name; empty if the verb is enough.
    Named(String),
}

/// An act of a call, or of one of the commands in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Act {
    pub(super) verb: Verb,
    pub(super) object: Object,
    /// Distinguishes the act from others with the same name; may be empty.
    pub(super) detail: String,
}

impl Act {
    /// Returns an act on files; on `a file` if there are no paths.
    pub(super) fn on_files<'a>(
        verb: Verb,
        paths: impl IntoIterator<Item = &'a str>,
        cwd: Option<&str>,
    ) -> Self {
        let relative = |path| relative_path(path, cwd).to_owned();
        let paths: Vec<String> = paths.into_iter().map(relative).collect();
        let mut act = Self::new(verb, "a file");
        if !paths.is_empty() {
            act.object = Object::Files(paths);
        }
        act
    }

    pub(super) fn new(verb: Verb, name: impl Into<String>) -> Self {
        Self {
            verb,
            object: Object::Named(name.into()),
            detail: String::new(),
        }
    }

    /// Adds the detail that distinguishes the act from others.
    pub(super) fn with_detail(mut self, detail: String) -> Self {
        self.detail = detail;
        self
    }

    /// Returns an act whose object is quoted from the model; may be empty.
    pub(super) fn quoting(verb: Verb, subject: &str) -> Self {
        Self::new(verb, quote(subject))
    }

    /// Returns the words for a failed act.
    pub(super) fn describe_attempt(&self, cwd: Option<&str>) -> String {
        let (past, attempt) = self.verb.words();
        let object = match &self.object {
            Object::Named(name) => name.clone(),
            Object::Files(paths) => list_files(paths, cwd, SUBJECT_CELLS),
        };
        match (attempt, object.as_str()) {
            ("", "") => past.to_owned(),
            ("", object) => upper_first(object),
            (attempt, object) => format!("{attempt} {object}").trim_end().to_owned(),
        }
    }
}

/// Quotes the first line of a text of the model. Empty if the line is.
pub(super) fn quote(text: &str) -> String {
    let line = cut_end(text.lines().next().unwrap_or_default(), SUBJECT_CELLS);
    let quoted = format!("\"{}\"", line.replace('"', "'"));
    if line.is_empty() { line } else { quoted }
}

/// The end of a call that did not succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    /// The failed part: a command, or the attempt of an act.
    pub(super) name: String,
    /// The ending, such as `failed` or `denied`.
    pub(super) ending: String,
}

/// The acts of a finished call; none if it was cancelled because of another call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CallActs {
    /// What it did. Before a failure, only what may have changed something.
    pub(super) acts: Vec<Act>,
    pub(super) failure: Option<Failure>,
}

impl CallActs {
    pub(super) fn done(acts: Vec<Act>) -> Self {
        let failure = None;
        Self { acts, failure }
    }

    pub(super) fn failed(name: String, ending: impl Into<String>, acts: Vec<Act>) -> Self {
        let ending = ending.into();
        let failure = Some(Failure { name, ending });
        Self { acts, failure }
    }
}
