//! Extracts a label from a model's reply.

use crate::records::TextRejection;
use crate::summaries::clean::{
    answer, begins_with_any, is_empty_reply, is_refusal, is_talk, sentences, strip_decoration,
};
use crate::text::{terminal_safe_line, truncate_utf16};

/// Maximum length of a label, in UTF-16 units.
const MAX_UNITS: usize = 100;

/// Beginnings of error reports, which are not labels.
const FAILURES: &str = "api error|request failed";

/// Beginnings of sentences about the calls, and of the question.
const TALK: &str = "this|these|there|the label|the tool|the tools|the calls|the batch|user's intent|tools completed";

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
/// The reply is empty, a refusal or talk, or it reports a failure although a call succeeded.
pub fn clean_label(reply: &str, calls: CallsEnded) -> Result<String, TextRejection> {
    let answer = answer(reply);
    let label = strip_decoration(answer.lines().next().unwrap_or_default());
    let is_failure = begins_with_any(label, FAILURES)
        || calls == CallsEnded::Well && begins_with_any(label, FAILED_CALLS);
    if is_failure || is_refusal(label) || is_talk(label) || begins_with_any(label, TALK) {
        return Err(TextRejection::Refusal);
    }
    let label = terminal_safe_line(label);
    let label = first_sentence(&label);
    let label = truncate_utf16(label, MAX_UNITS).trim();
    if label.is_empty() || is_empty_reply(label) {
        return Err(TextRejection::Empty);
    }
    Ok(label.to_owned())
}

/// Returns the first sentence of several words, without its full stop.
fn first_sentence(label: &str) -> &str {
    let sentence = sentences(label).next().unwrap_or_default().trim_end();
    let first = if sentence.contains(' ') {
        sentence
    } else {
        label
    };
    let stopped = first.strip_suffix(['.', '。']);
    stopped.filter(|rest| !rest.ends_with('.')).unwrap_or(first)
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
        let rows = include_str!("../../../tests/data/summaries/labels.tsv");
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
                "I'll read the file first",
                Err(TextRejection::Refusal),
                Err(TextRejection::Refusal),
            ),
            (
                "These calls read the file",
                Err(TextRejection::Refusal),
                Err(TextRejection::Refusal),
            ),
            (
                "The user wants a label",
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
            ("Fixed bug.", "Fixed bug"),
            (
                "Fixed bug in a.rs. Let me know if you need more!",
                "Fixed bug in a.rs",
            ),
            ("Read docs...", "Read docs..."),
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
