//! The words of a ranked search, and where texts contain them. Does no I/O.
//!
//! A word is found in its English inflections and in compound identifiers: `merge` in "merging" and in
//! `autoMerged`, not in "submerge". Words that are not ASCII are found anywhere.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};

use super::needles::ESCAPE_PREFIXES;

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
    word_indices: Vec<usize>,
    /// Finds the stems on lines of JSON.
    line_stems: AhoCorasick,
    has_only_ascii: bool,
}

impl QueryWords {
    /// Returns the words of a text. `None` if it has none.
    pub fn new(text: &str) -> Option<Self> {
        let mut words: Vec<String> = Vec::new();
        let mut stems: Vec<String> = Vec::new();
        let mut word_indices = Vec::new();
        for word in text.split(|letter: char| !letter.is_alphanumeric()) {
            let word = word.to_lowercase();
            let known = stems.iter().any(|known| known == stem(&word));
            if word.is_empty() || known || words.len() == MAX_WORDS {
                continue;
            }
            let mut spellings = vec![stem(&word).to_owned(), word.to_uppercase()];
            spellings.truncate(if word.is_ascii() { 1 } else { 2 });
            spellings.dedup();
            word_indices.extend(spellings.iter().map(|_| words.len()));
            stems.extend(spellings);
            words.push(word);
        }
        let build_automaton = |needles: &[String]| {
            AhoCorasickBuilder::new()
                .ascii_case_insensitive(true)
                .build(needles)
                .ok()
        };
        let has_only_ascii = stems.iter().all(|stem| stem.is_ascii());
        let line_stems = [stems.as_slice(), &ESCAPE_PREFIXES.map(str::to_owned)].concat();
        (!words.is_empty()).then_some(())?;
        Some(Self {
            words,
            stems: build_automaton(&stems)?,
            word_indices,
            line_stems: build_automaton(&line_stems)?,
            has_only_ascii,
        })
    }

    /// Returns the words, in lower case and without repeats.
    pub fn as_slice(&self) -> &[String] {
        &self.words
    }

    /// Whether the strings on a line of JSON may contain a word.
    pub(super) fn may_match(&self, line: &[u8]) -> bool {
        !self.has_only_ascii || self.line_stems.is_match(line)
    }

    /// Calls `visit` with the index and the position of each word in a text.
    pub(super) fn visit_matches(&self, text: &str, visit: &mut dyn FnMut(usize, Range<usize>)) {
        for found in self.stems.find_overlapping_iter(text) {
            let word = self.word_indices[found.pattern()];
            let stem = &text[found.range()];
            if !stem.is_ascii() {
                visit(word, found.range());
                continue;
            }
            let rest = find_rest(&text.as_bytes()[found.end()..], stem.as_bytes());
            if is_word_start(text.as_bytes(), found.start()) && is_ending(rest, stem) {
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
fn is_word_start(text: &[u8], start: usize) -> bool {
    let Some(before) = start.checked_sub(1).map(|at| text[at]) else {
        return true;
    };
    let is_camel = text[start].is_ascii_uppercase() && !before.is_ascii_uppercase();
    !is_letter(before) || is_camel || before.is_ascii_digit() != text[start].is_ascii_digit()
}

/// Returns the rest of the word that continues here, after its stem.
fn find_rest<'a>(text: &'a [u8], stem: &[u8]) -> &'a [u8] {
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

    /// Returns the words that were found, as written in the text.
    fn found<'a>(query: &str, text: &'a str) -> Vec<&'a str> {
        let mut found = Vec::new();
        let words = QueryWords::new(query).unwrap();
        words.visit_matches(text, &mut |_, range| found.push(&text[range]));
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
        assert!(words.may_match(br#"{"text":"MERGED"}"#));
        assert!(words.may_match(br#"{"text":"\u006derge"}"#));
        assert!(!words.may_match(br#"{"text":"other"}"#));
        assert!(QueryWords::new("öl").unwrap().may_match(b"{}"));
    }
}
