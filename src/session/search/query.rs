//! Finds bytes that a line must contain if a pattern matches one of its strings. Does no I/O.
//!
//! Strings in files have escapes, so only letters and digits stand for themselves, and even those
//! may be written as `\u0061`. Lines with such escapes always pass.

use std::num::NonZeroUsize;
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use regex_syntax::hir::{Hir, HirKind};

use crate::message::Role;
use crate::records::HitBlock;

/// Minimum length of a word, in bytes. Shorter words are on nearly every line.
const MIN_LENGTH: usize = 2;

/// Maximum length of words that match regardless of case. Longer words are cut.
const MAX_FOLDED: usize = 4;

/// Maximum number of needles. With more, the search is slower than parsing.
const MAX_NEEDLES: usize = 64;

/// Prefixes of escapes for letters, digits and the underscore.
pub(super) const ESCAPED: [&str; 14] = [
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
pub(super) fn needles(pattern: &Hir, case: Case) -> Option<Vec<String>> {
    let words = required(pattern, case)?;
    let mut needles: Vec<String> = match case {
        Case::Exact => words,
        Case::Ignored => words.iter().flat_map(|word| spellings(word)).collect(),
    };
    needles.extend(ESCAPED.map(str::to_owned));
    (needles.len() <= MAX_NEEDLES).then_some(needles)
}

/// Returns words such that every match contains one of them.
fn required(pattern: &Hir, case: Case) -> Option<Vec<String>> {
    match pattern.kind() {
        HirKind::Literal(literal) => longest_word(&literal.0, case).map(|word| vec![word]),
        HirKind::Capture(capture) => required(&capture.sub, case),
        HirKind::Repetition(repetition) if repetition.min > 0 => required(&repetition.sub, case),
        HirKind::Concat(parts) => parts
            .iter()
            .filter_map(|part| required(part, case))
            .max_by_key(|words| words.iter().map(String::len).min()),
        HirKind::Alternation(branches) => {
            let words: Option<Vec<Vec<String>>> = branches
                .iter()
                .map(|branch| required(branch, case))
                .collect();
            Some(words?.concat())
        }
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) | HirKind::Repetition(_) => None,
    }
}

/// Returns the longest part of a literal that files store unchanged.
fn longest_word(literal: &[u8], case: Case) -> Option<String> {
    let stands_for_itself = |byte: &u8| match case {
        Case::Exact => byte.is_ascii_alphanumeric() || *byte == b'_',
        // The long s and the Kelvin sign are other spellings of these two.
        Case::Ignored => byte.is_ascii_alphanumeric() && !b"kKsS".contains(byte),
    };
    let words = literal.split(|byte| !stands_for_itself(byte));
    let longest = words.max_by_key(|word| word.len())?;
    (longest.len() >= MIN_LENGTH).then(|| String::from_utf8_lossy(longest).into_owned())
}

/// Returns the prefix of a word in every combination of upper and lower case.
fn spellings(word: &str) -> Vec<String> {
    let start = word.chars().take(MAX_FOLDED);
    start.fold(vec![String::new()], |spellings, letter| {
        let mut cases = vec![letter.to_ascii_lowercase(), letter.to_ascii_uppercase()];
        cases.dedup();
        let longer = spellings
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
    pub most: Option<NonZeroUsize>,
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
            .map_err(|error| PatternError(one_line(&error.to_string())))?;
        let parsed = if options.is_fixed {
            regex_syntax::parse(&regex_syntax::escape(pattern))
        } else {
            regex_syntax::parse(pattern)
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
            without_copies: false,
            context: 0,
        })
    }
}

/// Returns the last line of an error, which names the problem. The lines before it show the position.
fn one_line(message: &str) -> String {
    let last = message.lines().rfind(|line| !line.trim().is_empty());
    let last = last.unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

/// Maximum number of words of a query. Further words are ignored.
const MAX_WORDS: usize = 32;

/// Minimum length of a word or stem with inflections, in bytes. Shorter words only have a plural.
const MIN_STEM: usize = 4;

/// Endings of a word that do not change which word it is, the longest first.
const ENDINGS: [&str; 17] = [
    "ments", "ations", "ation", "ment", "ions", "ings", "ion", "ing", "ies", "ied", "ers", "er",
    "es", "ed", "s", "e", "y",
];

/// Endings that only leave a word if the rest is long: "ion" is not an ending of "station".
const MIN_LONG_STEM: usize = 5;

/// The words of a query.
#[derive(Debug, Clone)]
pub struct QueryWords {
    /// The words as given, in lower case.
    words: Vec<String>,
    stems: AhoCorasick,
    /// The index of the word of each stem.
    word_of: Vec<usize>,
    /// Finds the stems on lines of JSON.
    on_lines: AhoCorasick,
    has_only_ascii: bool,
}

impl QueryWords {
    /// Returns the words of a text. `None` if it has none.
    pub fn new(text: &str) -> Option<Self> {
        let mut words: Vec<String> = Vec::new();
        let mut stems: Vec<String> = Vec::new();
        let mut word_of = Vec::new();
        for word in text.split(|letter: char| !letter.is_alphanumeric()) {
            let word = word.to_lowercase();
            let known = stems.iter().any(|known| known == stem(&word));
            if word.is_empty() || known || words.len() == MAX_WORDS {
                continue;
            }
            let mut spellings = vec![stem(&word).to_owned(), word.to_uppercase()];
            spellings.truncate(if word.is_ascii() { 1 } else { 2 });
            spellings.dedup();
            word_of.extend(spellings.iter().map(|_| words.len()));
            stems.extend(spellings);
            words.push(word);
        }
        let automaton = |needles: &[String]| {
            AhoCorasickBuilder::new()
                .ascii_case_insensitive(true)
                .build(needles)
                .ok()
        };
        let has_only_ascii = stems.iter().all(|stem| stem.is_ascii());
        let on_lines = [stems.as_slice(), &ESCAPED.map(str::to_owned)].concat();
        (!words.is_empty()).then_some(())?;
        Some(Self {
            words,
            stems: automaton(&stems)?,
            word_of,
            on_lines: automaton(&on_lines)?,
            has_only_ascii,
        })
    }

    /// Returns the words, in lower case and without repeats.
    pub fn as_slice(&self) -> &[String] {
        &self.words
    }

    /// Whether the strings on a line of JSON may contain a word.
    pub(super) fn may_be_on(&self, line: &[u8]) -> bool {
        !self.has_only_ascii || self.on_lines.is_match(line)
    }

    /// Calls `visit` with the index and the position of each word in a text.
    pub(super) fn each_in(&self, text: &str, visit: &mut dyn FnMut(usize, Range<usize>)) {
        for found in self.stems.find_overlapping_iter(text) {
            let word = self.word_of[found.pattern()];
            let stem = &text[found.range()];
            if !stem.is_ascii() {
                visit(word, found.range());
                continue;
            }
            let rest = word_at(&text.as_bytes()[found.end()..], stem.as_bytes());
            if starts_word(text.as_bytes(), found.start()) && is_ending(rest, stem) {
                visit(word, found.start()..found.end() + rest.len());
            }
        }
    }
}

/// Returns the part of a word that its inflections share.
fn stem(word: &str) -> &str {
    if !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word;
    }
    let stem = ENDINGS.iter().find_map(|ending| {
        let stem = word.strip_suffix(ending)?;
        let min = if ending.contains('n') && !ending.starts_with("ing") {
            MIN_LONG_STEM
        } else {
            MIN_STEM
        };
        // "retry" and "retries", but not "deploy" and "deployed".
        let is_ending = *ending != "y" || !stem.ends_with(['a', 'e', 'o', 'u']);
        (stem.len() >= min && is_ending).then_some(stem)
    });
    let stem = stem.unwrap_or(word);
    match stem.as_bytes() {
        // "planning", but not "small".
        [start @ .., before, last]
            if stem.len() < word.len() && before == last && start.len() + 1 >= MIN_STEM =>
        {
            &stem[..stem.len() - 1]
        }
        _ => stem,
    }
}

/// Whether a word, or a part of a compound identifier, starts here.
fn starts_word(text: &[u8], start: usize) -> bool {
    let Some(before) = start.checked_sub(1).map(|at| text[at]) else {
        return true;
    };
    let is_camel = text[start].is_ascii_uppercase() && !before.is_ascii_uppercase();
    !is_letter(before) || is_camel || before.is_ascii_digit() != text[start].is_ascii_digit()
}

/// Returns the rest of the word that continues here, after its stem.
fn word_at<'a>(text: &'a [u8], stem: &[u8]) -> &'a [u8] {
    let mut before = *stem.last().unwrap_or(&b' ');
    let length = text.iter().position(|byte| {
        let is_camel = byte.is_ascii_uppercase() && before.is_ascii_lowercase();
        let ends =
            !is_letter(*byte) || is_camel || before.is_ascii_digit() != byte.is_ascii_digit();
        before = *byte;
        ends
    });
    &text[..length.unwrap_or(text.len())]
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// Whether `rest` is an ending of the word that starts with `stem`.
fn is_ending(rest: &[u8], stem: &str) -> bool {
    let Some(first) = rest.first() else {
        return true;
    };
    let is_known = |rest: &[u8]| {
        ENDINGS
            .iter()
            .any(|ending| ending.as_bytes().eq_ignore_ascii_case(rest))
    };
    if stem.len() < MIN_STEM {
        return stem.len() > 1 && rest.eq_ignore_ascii_case(b"s");
    }
    let is_doubled = stem
        .as_bytes()
        .last()
        .is_some_and(|last| last.eq_ignore_ascii_case(first));
    is_known(rest) || (is_doubled && is_known(&rest[1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(pattern: &str, case: Case) -> Option<Vec<String>> {
        let pattern = regex_syntax::parse(pattern).unwrap();
        let mut needles = needles(&pattern, case)?;
        needles.truncate(needles.len() - ESCAPED.len());
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

    /// Returns the words that were found, as written in the text.
    fn found<'a>(query: &str, text: &'a str) -> Vec<&'a str> {
        let mut found = Vec::new();
        let words = QueryWords::new(query).unwrap();
        words.each_in(text, &mut |_, range| found.push(&text[range]));
        found
    }

    #[test]
    fn inflections_and_compounds_are_found() {
        let rows: [(&str, &str, &[&str]); 13] = [
            (
                "merge",
                "merging, merged; submerge merger",
                &["merging", "merged", "merger"],
            ),
            ("planning", "a plan, PLANS, planet", &["plan", "PLANS"]),
            ("station", "the state", &[]),
            ("migration", "migrate it", &["migrate"]),
            ("retries", "retry", &["retry"]),
            ("events", "promotedEvents event_id", &["Events", "event"]),
            (
                "nuxt 2",
                "Nuxt2 and nuxt-2.10, 21",
                &["Nuxt", "2", "nuxt", "2"],
            ),
            ("pr", "PRs, print", &["PRs"]),
            ("log", "blog log", &["log"]),
            ("öl", "Öl und öl", &["Öl", "öl"]),
            ("登录", "修复登录按钮", &["登录"]),
            ("deploy", "deployment DEPLOYED", &["deployment", "DEPLOYED"]),
            ("a-b a", "a", &["a"]),
        ];
        for (query, text, expected) in rows {
            assert_eq!(found(query, text), expected, "{query}: {text}");
        }
        assert!(QueryWords::new(" - ").is_none());
    }

    #[test]
    fn lines_with_escapes_pass() {
        let words = QueryWords::new("merge").unwrap();
        assert!(words.may_be_on(br#"{"text":"MERGED"}"#));
        assert!(words.may_be_on(br#"{"text":"\u006derge"}"#));
        assert!(!words.may_be_on(br#"{"text":"other"}"#));
        assert!(QueryWords::new("öl").unwrap().may_be_on(b"{}"));
    }
}
