//! What one simple command did.

use super::segments::{Segment, is_assignment};
use super::{gh, git, programs, runners};

/// What kind of thing a command did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Test,
    Lint,
    Format,
    Build,
    /// A change of a repository, or on its host.
    Repository,
    Install,
    /// Files were changed.
    Change,
    /// A program was run.
    Run,
    /// Something was read; what it says is not about the command.
    Read,
    /// Files or texts were looked for.
    Search,
}

impl Kind {
    /// Whether the output is evidence of a success or a failure.
    pub(super) fn is_check(self) -> bool {
        matches!(self, Self::Test | Self::Lint | Self::Format | Self::Build)
    }

    /// Whether error words in the output are about the command itself.
    pub(super) fn acts(self) -> bool {
        !matches!(self, Self::Read | Self::Search)
    }
}

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Act {
    /// The act of the highest rank names the command.
    pub(super) rank: u8,
    pub(super) kind: Kind,
    /// In the past tense, e.g. `Ran`.
    pub(super) verb: String,
    /// What to; may be empty.
    pub(super) object: String,
    /// What the command is called if it failed, e.g. `git push`.
    pub(super) name: String,
    /// The output was read, and says this, e.g. `clean`.
    pub(super) finding: String,
    /// The name says little; the description says more.
    pub(super) vague: bool,
}

impl Act {
    pub(super) fn new(
        rank: u8,
        kind: Kind,
        verb: impl Into<String>,
        object: impl Into<String>,
        name: impl Into<String>,
    ) -> Self {
        Self {
            rank,
            kind,
            verb: verb.into(),
            object: object.into(),
            name: name.into(),
            finding: String::new(),
            vague: false,
        }
    }

    /// The same, found in the output.
    pub(super) fn with_finding(self, finding: &str) -> Self {
        Self {
            finding: finding.to_owned(),
            ..self
        }
    }
}

/// What is known around a simple command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'a> {
    /// The output of the whole command.
    pub(super) output: &'a str,
    pub(super) cwd: Option<&'a str>,
}

/// The rank of steps that prepare others.
const SET_UP: u8 = 63;

/// Commands that hold others together and say nothing.
const GLUE: &[&str] = &[
    "cd", "echo", "export", "set", "true", "false", ":", "sleep", "pwd", "printf", "source", ".",
    "test", "[", "[[", "unset", "wait", "exit", "return", "shift", "trap", "pushd", "popd",
    "local", "declare", "read", "eval", "done", "fi", "esac", "in", "break", "continue", "}",
    "clear", "alias", "shopt", "ulimit", "umask", "hash", "history",
];

/// Words that begin or go on with a construct; a command may follow them.
const KEYWORDS: &[&str] = &[
    "if", "then", "else", "elif", "do", "while", "until", "!", "{", "time",
];

/// Programs that only pass on what comes through a pipe.
const FILTERS: &[&str] = &[
    "head", "tail", "grep", "egrep", "fgrep", "rg", "sort", "uniq", "wc", "cut", "tr", "sed",
    "awk", "jq", "tee", "cat", "less", "more", "python", "python3", "column", "xargs", "nl", "rev",
    "fold", "tac", "paste", "yq", "node", "perl", "strings", "base64", "od", "xxd", "hexdump",
    "ack", "gzip",
];

/// Whether a program in a pipe is a filter.
pub(super) fn is_filter(program: &str) -> bool {
    FILTERS.contains(&program)
}

/// Whether a command begins a loop.
pub(super) fn begins_loop(segment: &Segment) -> bool {
    matches!(
        segment.words.first().map(String::as_str),
        Some("for" | "while" | "until" | "select")
    )
}

/// What a simple command did; nothing for those that hold others together.
pub(super) fn act(segment: &Segment, context: Context<'_>) -> Option<Act> {
    let mut segment = segment.clone();
    let mut after_keyword = false;
    while let Some(word) = segment.words.first() {
        let is_keyword = KEYWORDS.contains(&word.as_str());
        let is_setting = after_keyword && is_assignment(word);
        if !(is_keyword || is_setting) {
            break;
        }
        after_keyword = true;
        segment.words.remove(0);
    }
    let program = segment.program().to_owned();
    if program.is_empty() || matches!(program.as_str(), "for" | "case" | "function" | "select") {
        return None;
    }
    if let Some(target) = segment.target.as_deref()
        && matches!(program.as_str(), "cat" | "echo" | "printf" | "tee")
    {
        let mut wrote = programs::wrote(target, context);
        if !segment.has_document {
            // A line or two that something else needs must not lead.
            wrote.rank = SET_UP;
        }
        return Some(wrote);
    }
    if GLUE.contains(&program.as_str()) {
        return None;
    }
    match program.as_str() {
        "git" => git::act(&segment.words, context),
        "gh" => gh::act(&segment.words, context),
        _ => runners::act(&program, &segment, context)
            .or_else(|| programs::act(&program, &segment, context)),
    }
}
