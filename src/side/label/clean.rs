//! From a model's answer to a label.

use crate::records::TextRejection;
use crate::side::rejection::{begins_with_words, is_refusal};
use crate::text::{terminal_safe, terminal_safe_line, truncate_utf16};

/// The longest label, in UTF-16 units.
const LONGEST: usize = 100;

/// How many quotation marks are stripped from each end.
const MOST_QUOTES: usize = 10;

/// How many marks of emphasis are stripped from each end.
const MOST_EMPHASIS: usize = 3;

/// Quotation marks that open, and those that close what they open.
const QUOTES: [(char, char); 7] = [
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('‘', '’'),
    ('“', '”'),
    ('「', '」'),
    ('『', '』'),
];

/// Words with which models introduce a label.
const ANNOUNCEMENTS: [&str; 4] = ["label", "summary", "result", "output"];

/// How reports of a failure begin that are not labels.
const FAILURES: &str = "api error|request failed";

/// How labels of calls that failed may begin, and others may not.
const FAILED_CALLS: &str = "error:|error：|unable to|failed to|无法";

/// What became of the calls that a label is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallsEnded {
    /// At least one succeeded.
    Well,
    /// All failed.
    Badly,
}

/// The label in a model's answer: one line that is harmless on a terminal, at most 100 UTF-16
/// units long.
///
/// # Errors
/// Nothing is left, the model refuses, or it reports a failure that is not one of the calls.
pub fn clean_label(answer: &str, calls: CallsEnded) -> Result<String, TextRejection> {
    let safe = terminal_safe(answer);
    let line = safe.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.ok_or(TextRejection::Empty)?;
    let line = without_bullet(line);
    let label = if let Some(label) = announced(line) {
        without_quotes(without_emphasis(label))
    } else {
        let label = without_quotes(without_emphasis(line));
        announced(label).map_or(label, without_quotes)
    };
    if label.is_empty() {
        return Err(TextRejection::Empty);
    }
    let reports = |failures: &str| {
        let mut failures = failures.split('|');
        failures.any(|failure| begins_with_words(label, failure))
    };
    let is_failure = reports(FAILURES) || calls == CallsEnded::Well && reports(FAILED_CALLS);
    if is_failure || is_refusal(label) {
        return Err(TextRejection::Refusal);
    }
    let label = terminal_safe_line(label);
    let label = truncate_utf16(&label, LONGEST).trim();
    if label.is_empty() {
        return Err(TextRejection::Empty);
    }
    Ok(label.to_owned())
}

fn without_bullet(line: &str) -> &str {
    let rest = line.strip_prefix(['-', '*', '•', '●']);
    rest.filter(|rest| rest.starts_with(char::is_whitespace))
        .map_or(line, str::trim)
}

/// Strips marks of emphasis that stand at both ends: half a pair would look like a part of a name.
fn without_emphasis(text: &str) -> &str {
    if text.trim_matches(['*', '_']).is_empty() {
        return "";
    }
    let mut rest = text;
    for _ in 0..MOST_EMPHASIS {
        let within = |mark| rest.strip_prefix(mark)?.strip_suffix(mark);
        rest = within('*').or_else(|| within('_')).unwrap_or(rest);
    }
    rest.trim()
}

/// Strips quotation marks from both ends, except those whose partners are inside.
fn without_quotes(text: &str) -> &str {
    let mut rest = text;
    for _ in 0..MOST_QUOTES {
        match rest.chars().next() {
            Some(first) if is_quote(first) && !closes_inside(first, &rest[first.len_utf8()..]) => {
                rest = &rest[first.len_utf8()..];
            }
            _ => break,
        }
    }
    for _ in 0..MOST_QUOTES {
        match rest.chars().next_back() {
            Some(last) if is_quote(last) && !opens_inside(last, without_last(rest, last)) => {
                rest = without_last(rest, last);
            }
            _ => break,
        }
    }
    rest.trim()
}

fn without_last(text: &str, last: char) -> &str {
    &text[..text.len() - last.len_utf8()]
}

fn is_quote(character: char) -> bool {
    QUOTES
        .iter()
        .any(|(open, close)| *open == character || *close == character)
}

/// Whether what a first quotation mark opens is closed before the end of `rest`.
fn closes_inside(first: char, rest: &str) -> bool {
    let Some((_, close)) = QUOTES.iter().find(|(open, _)| *open == first) else {
        return false;
    };
    let end = rest.find(*close);
    end.is_some_and(|end| end + close.len_utf8() < rest.trim_end_matches(is_quote).len())
}

/// Whether a last quotation mark closes what is opened within `rest`.
fn opens_inside(last: char, rest: &str) -> bool {
    let Some((open, close)) = QUOTES.iter().find(|(_, close)| *close == last) else {
        return false;
    };
    // An apostrophe within a word opens nothing.
    let opening = |at: usize| {
        !rest[..at]
            .chars()
            .next_back()
            .is_some_and(char::is_alphanumeric)
    };
    if open == close {
        let marks = rest.match_indices(*open);
        let opened = marks
            .filter(|(at, _)| *open != '\'' || opening(*at))
            .count();
        return opened % 2 == 1;
    }
    rest.matches(*open).count() > rest.matches(*close).count()
}

/// What a word with a colon introduces; the two may be emphasised: `**Label:** text`.
fn announced(text: &str) -> Option<&str> {
    const COLONS: [char; 2] = [':', '：'];
    let begins = text.find(|character| !matches!(character, '*' | '_'))?;
    let (marks, text) = text.split_at(begins);
    ANNOUNCEMENTS.iter().find_map(|word| {
        let head = text.get(..word.len())?;
        let rest = text[word.len()..].trim_start();
        let colon_inside = || rest.strip_prefix(COLONS)?.strip_prefix(marks);
        let colon_behind = || rest.strip_prefix(marks)?.trim_start().strip_prefix(COLONS);
        head.eq_ignore_ascii_case(word)
            .then(|| colon_inside().or_else(colon_behind))?
            .map(str::trim)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::utf16_length;

    fn cleaned(answer: &str) -> String {
        clean_label(answer, CallsEnded::Well).unwrap_or_default()
    }

    #[test]
    fn labels_are_cleaned_as_the_table_says() {
        let rows = include_str!("../../../tests/data/side/labels.tsv");
        for row in rows.lines().filter(|row| !row.starts_with('#')) {
            let (answer, label) = row.split_once('\t').unwrap();
            let answer: String = serde_json::from_str(answer).unwrap();
            assert_eq!(cleaned(&answer), label, "{answer:?}");
        }
    }

    #[test]
    fn what_is_rejected_says_why() {
        let rows = [
            (
                "  \n ",
                Err(TextRejection::Empty),
                Err(TextRejection::Empty),
            ),
            ("**", Err(TextRejection::Empty), Err(TextRejection::Empty)),
            (
                "I can't say",
                Err(TextRejection::Refusal),
                Err(TextRejection::Refusal),
            ),
            (
                "API error 500",
                Err(TextRejection::Refusal),
                Err(TextRejection::Refusal),
            ),
            (
                "Failed to read a.rs",
                Err(TextRejection::Refusal),
                Ok("Failed to read a.rs"),
            ),
            (
                "无法读取文件",
                Err(TextRejection::Refusal),
                Ok("无法读取文件"),
            ),
        ];
        for (answer, well, badly) in rows {
            for (calls, expected) in [(CallsEnded::Well, well), (CallsEnded::Badly, badly)] {
                let label = clean_label(answer, calls);
                assert_eq!(
                    label.as_deref(),
                    expected.as_ref().map(|text| *text),
                    "{answer}"
                );
            }
        }
        let emphasised = [
            ("● **Searched in auth/**", "Searched in auth/"),
            ("**Searched in auth/", "**Searched in auth/"),
            ("Read *.rs files", "Read *.rs files"),
            ("__init__", "init"),
            ("***Fixed***", "Fixed"),
            ("_private helper", "_private helper"),
            ("**Label:** Fixed bug", "Fixed bug"),
            ("- **Label**: Fixed bug", "Fixed bug"),
            ("__Summary__ : \"Fixed bug\"", "Fixed bug"),
            ("*Label:* **Fixed bug**", "Fixed bug"),
            ("**Label: Fixed bug**", "Fixed bug"),
            ("**Output.** Fixed bug", "**Output.** Fixed bug"),
            ("**Label:* Fixed bug", "**Label:* Fixed bug"),
        ];
        for (answer, label) in emphasised {
            assert_eq!(clean_label(answer, CallsEnded::Well).as_deref(), Ok(label));
        }
    }

    proptest! {
        #[test]
        fn labels_are_short_and_safe(answer in any::<String>()) {
            let label = cleaned(&answer);
            prop_assert!(utf16_length(&label) <= LONGEST);
            prop_assert_eq!(terminal_safe_line(&label), label);
        }
    }
}
