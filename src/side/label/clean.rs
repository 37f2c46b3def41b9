//! Extracts a label from a model's reply.

use crate::records::TextRejection;
use crate::side::ask::{announced, begins_with_any, is_empty_reply, is_refusal, unwrapped};
use crate::text::{terminal_safe_line, truncate_utf16};

/// Maximum length of a label, in UTF-16 units.
const MAX_UNITS: usize = 100;

/// Maximum number of quotation marks that are stripped from each end.
const MAX_QUOTES: usize = 10;

/// Maximum number of marks of emphasis that are stripped from each end.
const MAX_EMPHASIS: usize = 3;

/// Pairs of quotation marks.
const QUOTES: [(char, char); 7] = [
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('‘', '’'),
    ('“', '”'),
    ('「', '」'),
    ('『', '』'),
];

/// Beginnings of error reports, which are not labels.
const FAILURES: &str = "api error|request failed";

/// Beginnings that only labels of failed calls may have.
const FAILED_CALLS: &str = "error:|error：|unable to|failed to|无法";

/// The outcome of the calls that a label is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallsEnded {
    /// At least one succeeded.
    Well,
    /// All failed.
    Badly,
}

/// Extracts the label from a model's reply: one terminal-safe line of at most 100 UTF-16 units, without secrets.
///
/// # Errors
/// The reply is empty or a refusal, or it reports a failure although a call succeeded.
pub fn clean_label(reply: &str, calls: CallsEnded) -> Result<String, TextRejection> {
    let safe = unwrapped(reply);
    let lines = safe.lines().map(str::trim);
    // The label may follow on the line after its announcement.
    let mut lines = lines.filter(|line| !line.is_empty() && announced(line) != Some(""));
    let line = lines.next().ok_or(TextRejection::Empty)?;
    let line = without_bullet(line);
    let label = if let Some(label) = announced(line) {
        without_quotes(without_emphasis(label))
    } else {
        let label = without_quotes(without_emphasis(line));
        announced(label).map_or(label, without_quotes)
    };
    if label.is_empty() || is_empty_reply(label) {
        return Err(TextRejection::Empty);
    }
    let is_failure = begins_with_any(label, FAILURES)
        || calls == CallsEnded::Well && begins_with_any(label, FAILED_CALLS);
    if is_failure || is_refusal(label) {
        return Err(TextRejection::Refusal);
    }
    let label = terminal_safe_line(label);
    let label = truncate_utf16(&label, MAX_UNITS).trim();
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

/// Strips marks of emphasis at both ends. Half a pair may be part of a name.
fn without_emphasis(text: &str) -> &str {
    if text.trim_matches(['*', '_']).is_empty() {
        return "";
    }
    let mut rest = text;
    for _ in 0..MAX_EMPHASIS {
        let within = |mark| rest.strip_prefix(mark)?.strip_suffix(mark);
        rest = within('*').or_else(|| within('_')).unwrap_or(rest);
    }
    rest.trim()
}

/// Strips quotation marks from both ends, except those whose counterpart is inside.
fn without_quotes(text: &str) -> &str {
    let mut rest = text;
    for _ in 0..MAX_QUOTES {
        match rest.chars().next() {
            Some(first) if is_quote(first) && !closes_inside(first, &rest[first.len_utf8()..]) => {
                rest = &rest[first.len_utf8()..];
            }
            _ => break,
        }
    }
    for _ in 0..MAX_QUOTES {
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

/// Whether `rest` closes the quotation mark `first` before its end.
fn closes_inside(first: char, rest: &str) -> bool {
    let Some((_, close)) = QUOTES.iter().find(|(open, _)| *open == first) else {
        return false;
    };
    let end = rest.find(*close);
    end.is_some_and(|end| end + close.len_utf8() < rest.trim_end_matches(is_quote).len())
}

/// Whether the quotation mark `last` closes one within `rest`.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::utf16_length;

    fn cleaned(reply: &str) -> String {
        clean_label(reply, CallsEnded::Well).unwrap_or_default()
    }

    #[test]
    fn replies_are_cleaned() {
        let rows = include_str!("../../../tests/data/side/labels.tsv");
        for row in rows.lines().filter(|row| !row.starts_with('#')) {
            let (reply, label) = row.split_once('\t').unwrap();
            let reply: String = serde_json::from_str(reply).unwrap();
            assert_eq!(cleaned(&reply), label, "{reply:?}");
        }
    }

    #[test]
    fn unusable_replies_are_rejected() {
        let rows = [
            (
                "  \n ",
                Err(TextRejection::Empty),
                Err(TextRejection::Empty),
            ),
            ("**", Err(TextRejection::Empty), Err(TextRejection::Empty)),
            ("N/A", Err(TextRejection::Empty), Err(TextRejection::Empty)),
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
        for (reply, well, badly) in rows {
            for (calls, expected) in [(CallsEnded::Well, well), (CallsEnded::Badly, badly)] {
                let label = clean_label(reply, calls);
                assert_eq!(
                    label.as_deref(),
                    expected.as_ref().map(|text| *text),
                    "{reply}"
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
            ("Here's the label: Fixed bug", "Fixed bug"),
            ("Sure! Here is the label:\n\nFixed bug", "Fixed bug"),
            ("Title: Fixed bug", "Fixed bug"),
            (r#"{"label": "Fixed bug"}"#, "Fixed bug"),
            ("```json\n{\"label\": \"Fixed bug\"}\n```", "Fixed bug"),
            ("Output module rewritten", "Output module rewritten"),
        ];
        for (reply, label) in emphasised {
            assert_eq!(clean_label(reply, CallsEnded::Well).as_deref(), Ok(label));
        }
    }

    proptest! {
        #[test]
        fn labels_are_short_and_safe(reply in any::<String>()) {
            let label = cleaned(&reply);
            prop_assert!(utf16_length(&label) <= MAX_UNITS);
            prop_assert_eq!(terminal_safe_line(&label), label);
        }
    }
}
