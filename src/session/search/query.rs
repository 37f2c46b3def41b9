//! What is looked for, and in what.

use std::num::NonZeroUsize;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use super::needles::needles;
use super::run::FoundIn;
use crate::dialog::Role;

/// How a pattern is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternKind {
    /// A regular expression.
    Regex,
    /// The text itself.
    Fixed,
}

/// Whether small and capital letters are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// They are.
    Exact,
    /// They are not.
    Ignored,
}

/// What may stand around a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// Only what does not belong to a word.
    Whole,
    /// Anything.
    Parts,
}

/// How a pattern is matched.
#[derive(Debug, Clone, Copy)]
pub struct PatternOptions {
    /// How it is read.
    pub kind: PatternKind,
    /// Whether small and capital letters are told apart.
    pub case: Case,
    /// What may stand around a match.
    pub words: Words,
}

/// A pattern that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PatternError(String);

/// What is looked for, and in what.
#[derive(Debug, Clone)]
pub struct Query {
    pub(super) matcher: RegexMatcher,
    /// What a line must hold one of; `None` if it may hold anything.
    pub(super) needles: Option<Vec<String>>,
    /// The parts of messages that are searched.
    pub(super) places: Vec<FoundIn>,
    /// Whose messages; all if there is none.
    pub(super) roles: Vec<Role>,
    /// No more finds than this in a session.
    pub(super) most: Option<NonZeroUsize>,
    /// How many lines are shown before a match and after it.
    pub(super) context: usize,
}

impl Query {
    /// A query for the text of messages of all roles.
    ///
    /// # Errors
    /// The pattern makes no sense, or is too large.
    pub fn new(pattern: &str, options: PatternOptions) -> Result<Self, PatternError> {
        let matcher = RegexMatcherBuilder::new()
            .multi_line(true)
            .case_insensitive(options.case == Case::Ignored)
            .fixed_strings(options.kind == PatternKind::Fixed)
            .word(options.words == Words::Whole)
            .build(pattern)
            .map_err(|error| PatternError(one_line(&error.to_string())))?;
        let parsed = match options.kind {
            PatternKind::Regex => regex_syntax::parse(pattern),
            PatternKind::Fixed => regex_syntax::parse(&regex_syntax::escape(pattern)),
        };
        // What this parser does not read matches all the same, only more slowly.
        let needles = parsed
            .ok()
            .and_then(|parsed| needles(&parsed, options.case));
        Ok(Self {
            matcher,
            needles,
            places: vec![FoundIn::Text],
            roles: Vec::new(),
            most: None,
            context: 0,
        })
    }

    /// The same in these parts of messages.
    #[must_use]
    pub fn in_places(mut self, places: Vec<FoundIn>) -> Self {
        self.places = places;
        self
    }

    /// The same in messages of these roles; in all if there is none.
    #[must_use]
    pub fn by_roles(mut self, roles: Vec<Role>) -> Self {
        self.roles = roles;
        self
    }

    /// The same with this many lines before and after each match; with none, excerpts are short.
    #[must_use]
    pub fn with_context(mut self, lines: usize) -> Self {
        self.context = lines;
        self
    }

    /// The same with no more finds than this in a session.
    #[must_use]
    pub fn at_most(mut self, most: NonZeroUsize) -> Self {
        self.most = Some(most);
        self
    }
}

/// The last line of a message tells what is wrong; the lines before it show where.
fn one_line(message: &str) -> String {
    let last = message.lines().rfind(|line| !line.trim().is_empty());
    let last = last.unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}
