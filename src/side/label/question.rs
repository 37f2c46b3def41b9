//! The request to a model for a label, and the label in its reply.

use serde_json::Value;

use crate::api::beginning_of_string;
use crate::jsonl::replace_lone_surrogates;
use crate::model::{PromptId, Request, Turn};
use crate::records::TextRejection;
use crate::side::ask::{announced, begins_with_words, is_empty_reply, is_refusal, unwrapped};
use crate::text::{
    redact, redact_strings, terminal_safe, terminal_safe_line, truncate_utf16, utf16_length,
};

/// Length of an input or output in the question, in UTF-16 units.
const SHOWN_UNITS: usize = 300;

/// Length of the model's last text in the question, in UTF-16 units.
const INTENT_UNITS: usize = 200;

/// Length of the text after the shown part that is searched for secrets, in characters: part of a
/// secret is not recognisable.
const LOOKAHEAD: usize = 4096;

/// The token budget of a label.
const MAX_TOKENS: u32 = 60;

/// The system prompt.
pub const PROMPT: &str = include_str!("../../../prompts/label.md");

const TEMPERATURE: f64 = 0.3;

/// A finished call, as shown in a question.
#[derive(Debug, Clone, Copy)]
pub struct ShownCall<'a> {
    /// The tool.
    pub name: &'a str,
    /// The arguments, `shown`.
    pub input: &'a str,
    /// The result, `shown`.
    pub output: &'a str,
}

/// Returns the start of arguments or of an output, as shown in questions.
pub(in crate::side) fn shown(json: &str) -> String {
    excerpt(json, SHOWN_UNITS)
}

/// Returns at most `limit` UTF-16 units of a compact JSON value, with secrets masked. A cut ends with
/// three dots and never splits a character.
pub(in crate::side) fn excerpt(json: &str, limit: usize) -> String {
    const MORE: &str = "...";
    let json = beginning_of_string(json, limit + LOOKAHEAD);
    let repaired = replace_lone_surrogates(&json);
    let value: Result<Value, _> = serde_json::from_str(repaired.as_deref().unwrap_or(&json));
    let text = match value {
        Ok(mut value) => {
            redact_strings(&mut value);
            value.to_string()
        }
        Err(_) => redact(json.trim()).into_owned(),
    };
    if utf16_length(&text) <= limit {
        return text;
    }
    let kept = truncate_utf16(&text, limit.saturating_sub(MORE.len()));
    format!("{kept}{MORE}")
}

/// Returns the part of the model's last text shown in questions, with secrets masked.
pub(in crate::side) fn intent(said: &str) -> String {
    let said = redact(truncate_utf16(said, INTENT_UNITS + LOOKAHEAD));
    truncate_utf16(&said, INTENT_UNITS).to_owned()
}

/// Builds the question about a batch of calls. `said` is the model's last text, possibly empty.
pub fn label_question(calls: &[ShownCall<'_>], said: &str) -> String {
    let intent = match intent(said) {
        said if said.trim().is_empty() => String::new(),
        said => format!("User's intent (from assistant's last message): {said}\n\n"),
    };
    let tool = |call: &ShownCall<'_>| {
        let ShownCall {
            name,
            input,
            output,
        } = call;
        format!("Tool: {name}\nInput: {input}\nOutput: {output}")
    };
    let tools: Vec<String> = calls.iter().map(tool).collect();
    let tools = tools.join("\n\n");
    format!("{intent}Tools completed:\n\n{tools}\n\nLabel:")
}

/// Builds the request for a label.
pub fn label_request(question: String, instructions: &str) -> Request {
    Request {
        system: instructions.to_owned(),
        turns: vec![Turn::user(question)],
        temperature: Some(TEMPERATURE),
        ..Request::new(PromptId::TOOL_USE_SUMMARY, MAX_TOKENS)
    }
}

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

/// Extracts the label from a model's reply: one terminal-safe line of at most 100 UTF-16 units.
///
/// # Errors
/// The reply is empty or a refusal, or it reports a failure although a call succeeded.
pub fn clean_label(reply: &str, calls: CallsEnded) -> Result<String, TextRejection> {
    let safe = terminal_safe(&unwrapped(reply));
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
    let reports = |failures: &str| {
        let mut failures = failures.split('|');
        failures.any(|failure| begins_with_words(label, failure))
    };
    let is_failure = reports(FAILURES) || calls == CallsEnded::Well && reports(FAILED_CALLS);
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

    proptest! {
        #[test]
        fn only_the_start_of_a_long_text_is_needed(
            parts in prop::collection::vec(
                prop::sample::select(vec!["a", "é", "😀", r"\n", r"\\", r"\u00e9", r"\ud83d\ude00", r"\ud83d"]),
                0..300,
            )
        ) {
            let json = format!("\"{}\"", parts.concat());
            let repaired = replace_lone_surrogates(&json).unwrap_or(json.clone());
            let whole: Value = serde_json::from_str(&repaired).unwrap();
            let whole = whole.to_string();
            let expected = if utf16_length(&whole) <= 20 {
                whole
            } else {
                format!("{}...", truncate_utf16(&whole, 17))
            };
            prop_assert_eq!(excerpt(&json, 20), expected);
        }
    }

    #[test]
    fn secrets_are_masked_before_they_are_cut() {
        let key = format!("ghp_{}", "a1B2".repeat(9));
        let masked = "ghp_[redacted]";
        let late = "x ".repeat(140);
        for (json, expected) in [
            (format!(r#""{key}""#), format!(r#""{masked}""#)),
            // The escape of a line break ends in a letter.
            (format!(r#""a\n{key}""#), format!(r#""a\n{masked}""#)),
            (
                format!(r#"{{"env":["{key}"]}}"#),
                format!(r#"{{"env":["{masked}"]}}"#),
            ),
            (
                r#"{"password": "correcthorse"}"#.to_owned(),
                r#"{"password":"[redacted]"}"#.to_owned(),
            ),
            // The limit is inside the key.
            (format!(r#""{late}{key}""#), format!(r#""{late}{masked}""#)),
        ] {
            assert_eq!(shown(&json), expected);
        }
        let said = format!("{}{key}", "y ".repeat(92));
        assert_eq!(intent(&said), format!("{}{masked}", "y ".repeat(92)));
    }

    #[test]
    fn the_question_shows_intent_and_calls() {
        let call = ShownCall {
            name: "Grep",
            input: &shown(r#"{"pattern": "login"}"#),
            output: "\"3 matches\"",
        };
        assert_eq!(
            label_question(&[call, call], "I look for it."),
            "User's intent (from assistant's last message): I look for it.\n\n\
             Tools completed:\n\n\
             Tool: Grep\nInput: {\"pattern\":\"login\"}\nOutput: \"3 matches\"\n\n\
             Tool: Grep\nInput: {\"pattern\":\"login\"}\nOutput: \"3 matches\"\n\n\
             Label:"
        );
        let long = "a".repeat(900);
        let question = label_question(&[call], &long);
        assert!(question.contains(&format!("): {}\n\nTools", "a".repeat(200))));
        assert!(label_question(&[call], " \n").starts_with("Tools completed:"));
    }

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
