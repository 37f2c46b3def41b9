//! Finds bytes that a line must contain if a pattern matches one of its strings. Does no I/O.
//!
//! Strings in files have escapes, so only letters and digits stand for themselves, and even those
//! may be written as `\u0061`. Lines with such escapes always pass.

use std::num::NonZeroUsize;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use regex_syntax::hir::{Hir, HirKind};

use turnpipe_core::message::Role;
use turnpipe_formats::records::HitBlock;

/// Minimum length of a word, in bytes. Shorter words are on nearly every line.
const MIN_LENGTH: usize = 2;

/// Maximum length of words that match regardless of case. Longer words are cut.
const MAX_FOLDED: usize = 4;

/// Maximum number of needles. With more, the search is slower than parsing.
const MAX_NEEDLES: usize = 64;

/// Prefixes of escapes for letters, digits and the underscore.
pub(super) const ESCAPE_PREFIXES: [&str; 14] = [
    "\\u0030", "\\u0031", "\\u0032", "\\u0033", "\\u0034", "\\u0035", "\\u0036", "\\u0037",
    "\\u0038", "\\u0039", "\\u004", "\\u005", "\\u006", "\\u007",
];

/// Treatment of upper and lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// Case matters.
    Exact,
    /// Case is ignored.
    Ignored,
}

/// Returns strings; a line must contain at least one. `None` accepts every line.
pub(super) fn find_needles(pattern: &Hir, case: Case) -> Option<Vec<String>> {
    let words = find_required_words(pattern, case)?;
    let mut needles: Vec<String> = match case {
        Case::Exact => words,
        Case::Ignored => words.iter().flat_map(|word| expand_cases(word)).collect(),
    };
    needles.extend(ESCAPE_PREFIXES.map(str::to_owned));
    (needles.len() <= MAX_NEEDLES).then_some(needles)
}

/// Returns words such that every match contains one of them.
fn find_required_words(pattern: &Hir, case: Case) -> Option<Vec<String>> {
    match pattern.kind() {
        HirKind::Literal(literal) => find_longest_word(&literal.0, case).map(|word| vec![word]),
        HirKind::Capture(capture) => find_required_words(&capture.sub, case),
        HirKind::Repetition(repetition) if repetition.min > 0 => {
            find_required_words(&repetition.sub, case)
        }
        HirKind::Concat(parts) => parts
            .iter()
            .filter_map(|part| find_required_words(part, case))
            .max_by_key(|words| words.iter().map(String::len).min()),
        HirKind::Alternation(branches) => {
            let words: Option<Vec<Vec<String>>> = branches
                .iter()
                .map(|branch| find_required_words(branch, case))
                .collect();
            Some(words?.concat())
        }
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) | HirKind::Repetition(_) => None,
    }
}

/// Returns the longest part of a literal that files store unchanged.
fn find_longest_word(literal: &[u8], case: Case) -> Option<String> {
    let is_stored_unchanged = |byte: &u8| match case {
        Case::Exact => byte.is_ascii_alphanumeric() || *byte == b'_',
        // Other spellings of these letters are the long s and the Kelvin sign.
        Case::Ignored => byte.is_ascii_alphanumeric() && !b"kKsS".contains(byte),
    };
    let words = literal.split(|byte| !is_stored_unchanged(byte));
    let longest = words.max_by_key(|word| word.len())?;
    (longest.len() >= MIN_LENGTH).then(|| String::from_utf8_lossy(longest).into_owned())
}

/// Returns the prefix of a word in every combination of upper and lower case.
fn expand_cases(word: &str) -> Vec<String> {
    let start = word.chars().take(MAX_FOLDED);
    start.fold(vec![String::new()], |variants, letter| {
        let mut cases = vec![letter.to_ascii_lowercase(), letter.to_ascii_uppercase()];
        cases.dedup();
        let longer = variants
            .iter()
            .flat_map(|start| cases.iter().map(move |letter| format!("{start}{letter}")));
        longer.collect()
    })
}

/// Options of a pattern.
#[derive(Debug, Clone, Copy)]
pub struct PatternOptions {
    /// Whether it is literal text instead of a regular expression.
    pub is_fixed: bool,
    /// Whether case matters.
    pub case: Case,
    /// Whether a match must not begin or end inside a word.
    pub whole_words: bool,
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
    /// Maximum number of hits per session.
    pub max_hits: Option<NonZeroUsize>,
    /// Whether a message counts only once even if several files contain copies of it.
    pub without_copies: bool,
    /// Number of lines to show before and after a match. Excerpts are short if it is 0.
    pub context: usize,
}

impl Query {
    /// Returns a query for the text of messages of all roles.
    ///
    /// # Errors
    /// The pattern is invalid or too large.
    pub fn new(pattern: &str, options: PatternOptions) -> Result<Self, PatternError> {
        let matcher = RegexMatcherBuilder::new()
            .multi_line(true)
            .case_insensitive(options.case == Case::Ignored)
            .fixed_strings(options.is_fixed)
            .word(options.whole_words)
            .build(pattern)
            .map_err(|error| PatternError(find_error_line(&error.to_string())))?;
        let parsed = if options.is_fixed {
            regex_syntax::parse(&regex_syntax::escape(pattern))
        } else {
            regex_syntax::parse(pattern)
        };
        // Patterns that this parser rejects still work, only more slowly.
        let needles = parsed
            .ok()
            .and_then(|parsed| find_needles(&parsed, options.case));
        Ok(Self {
            matcher,
            needles,
            places: vec![HitBlock::Text],
            roles: Vec::new(),
            max_hits: None,
            without_copies: false,
            context: 0,
        })
    }
}

/// Returns the last line of an error, which names the problem. The lines before it show the position.
fn find_error_line(message: &str) -> String {
    let last = message.lines().rfind(|line| !line.trim().is_empty());
    let problem = last.unwrap_or_default().trim();
    problem
        .strip_prefix("error: ")
        .unwrap_or(problem)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(pattern: &str, case: Case) -> Option<Vec<String>> {
        let pattern = regex_syntax::parse(pattern).unwrap();
        let mut needles = find_needles(&pattern, case)?;
        needles.truncate(needles.len() - ESCAPE_PREFIXES.len());
        Some(needles)
    }

    #[test]
    fn words_of_every_match_are_found() {
        let table: [(&str, Option<&[&str]>); 13] = [
            ("login", Some(&["login"])),
            ("fix the login", Some(&["login"])),
            ("a\\.b", None),
            ("login.*button", Some(&["button"])),
            ("(login|logout) x", Some(&["login", "logout"])),
            ("login|.", None),
            ("(login)+", Some(&["login"])),
            ("(login)*", None),
            ("[a-z]+", None),
            ("(?i)login", None),
            ("^fn main\\b", Some(&["main"])),
            ("\"quoted\"", Some(&["quoted"])),
            ("", None),
        ];
        for (pattern, expected) in table {
            let expected = expected.map(|words| words.iter().map(ToString::to_string).collect());
            assert_eq!(words(pattern, Case::Exact), expected, "{pattern}");
        }
    }

    #[test]
    fn words_are_spelled_in_all_cases() {
        let found = words("no1", Case::Ignored).unwrap();
        assert_eq!(found, ["no1", "nO1", "No1", "NO1"]);
        assert_eq!(
            words("task", Case::Ignored).unwrap(),
            ["ta", "tA", "Ta", "TA"]
        );
        assert_eq!(words("skip", Case::Ignored).unwrap()[0], "ip");
    }
}
