//! The pattern and scope of a search.

use std::num::NonZeroUsize;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use super::needles::{Case, needles};
use crate::message::Role;
use crate::records::HitBlock;

/// The syntax of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternKind {
    /// A regular expression.
    Regex,
    /// Literal text.
    Fixed,
}

/// The permitted neighbours of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// Only non-word characters.
    Whole,
    /// Anything.
    Parts,
}

/// Options of a pattern.
#[derive(Debug, Clone, Copy)]
pub struct PatternOptions {
    /// Its syntax.
    pub kind: PatternKind,
    /// Whether case matters.
    pub case: Case,
    /// The permitted neighbours of a match.
    pub words: Words,
}

/// An invalid pattern.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PatternError(String);

/// The pattern and scope of a search.
#[derive(Debug, Clone)]
pub struct Query {
    pub(super) matcher: RegexMatcher,
    /// A line must contain one of these. `None` accepts every line.
    pub(super) needles: Option<Vec<String>>,
    /// The parts of messages to search.
    pub places: Vec<HitBlock>,
    /// The roles to search. Empty means all.
    pub roles: Vec<Role>,
    /// The largest number of hits per session.
    pub most: Option<NonZeroUsize>,
    /// Number of lines to show before and after a match. Excerpts are short if it is 0.
    pub context: usize,
}

impl Query {
    /// A query for the text of messages of all roles.
    ///
    /// # Errors
    /// The pattern is invalid or too large.
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
        // Patterns that this parser rejects still work, only more slowly.
        let needles = parsed
            .ok()
            .and_then(|parsed| needles(&parsed, options.case));
        Ok(Self {
            matcher,
            needles,
            places: vec![HitBlock::Text],
            roles: Vec::new(),
            most: None,
            context: 0,
        })
    }
}

/// The last line of the error names the problem. The lines before it show the position.
fn one_line(message: &str) -> String {
    let last = message.lines().rfind(|line| !line.trim().is_empty());
    let last = last.unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}
