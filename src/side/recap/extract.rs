//! From a model's answer to a recap.

use std::sync::LazyLock;

use regex::Regex;

use crate::records::TextRejection;
use crate::side::prompts;
use crate::side::rejection::{is_echo, is_refusal};
use crate::text::{terminal_safe, terminal_safe_line, truncate_utf16};

/// The longest recap, in UTF-16 units.
const LONGEST: usize = 400;

/// A text between tags; one that was cut ends with the answer.
static TAGGED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?is)<recap>(.*?)(?:</recap>|\z)").ok());

/// The recap in a model's answer: the text between the tags, or after the first one if the answer
/// was cut. One line that is harmless on a terminal, at most 400 UTF-16 units long.
///
/// # Errors
/// There is no tag (the text may be the model's reasoning), no word in it, only the prompt's example,
/// or a refusal.
pub fn clean_recap(answer: &str) -> Result<String, TextRejection> {
    let safe = terminal_safe(answer);
    let recap = terminal_safe_line(tagged(&safe).ok_or(TextRejection::NoTag)?);
    let recap = truncate_utf16(&recap, LONGEST).trim();
    // A model that repeats what it was asked says `<recap>...</recap>`.
    if !recap.contains(char::is_alphanumeric) {
        return Err(TextRejection::Empty);
    }
    let examples = prompts::RECAP.split("<recap>").skip(1);
    let mut examples = examples.filter_map(|rest| rest.split("</recap>").next());
    if examples.any(|example| is_echo(recap, example)) {
        return Err(TextRejection::PromptEcho);
    }
    if is_refusal(recap) {
        return Err(TextRejection::Refusal);
    }
    Ok(recap.to_owned())
}

/// The first text between tags that is not blank.
fn tagged(answer: &str) -> Option<&str> {
    let tagged = TAGGED.as_ref()?.captures_iter(answer);
    let mut texts = tagged.filter_map(|tagged| Some(tagged.get(1)?.as_str().trim()));
    let first = texts.next()?;
    std::iter::once(first)
        .chain(texts)
        .find(|text| !text.is_empty())
        .or(Some(first))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_recap_is_the_text_of_its_tag() {
        let rows = [
            (
                "<recap>Porting it. Next: tests.</recap>",
                Ok("Porting it. Next: tests."),
            ),
            ("Let me think.\n<Recap> a\nb </RECAP> done", Ok("a b")),
            ("thinking <recap>cut o", Ok("cut o")),
            ("just reasoning", Err(TextRejection::NoTag)),
            ("</recap>x", Err(TextRejection::NoTag)),
            ("<recap >x</recap>", Err(TextRejection::NoTag)),
            ("<recap></recap>", Err(TextRejection::Empty)),
            ("<recap> </recap><recap>x</recap>", Ok("x")),
            ("<recap>", Err(TextRejection::Empty)),
            ("Wrapped in <recap>...</recap>", Err(TextRejection::Empty)),
            (prompts::RECAP, Err(TextRejection::Empty)),
            (
                "<recap>Debugging a race in the retry of logins. Next, give the integration test \
                 a clock that it controls.</recap>",
                Err(TextRejection::PromptEcho),
            ),
            (
                "<recap>**debugging a race in the retry of logins. Next, give the integration test \
                 a clock that it controls**</recap>",
                Err(TextRejection::PromptEcho),
            ),
            (
                "<recap>I'm sorry, I can't tell.</recap>",
                Err(TextRejection::Refusal),
            ),
            ("<recap>\u{1b}[31mred\u{1b}[0m</recap>", Ok("red")),
        ];
        for (answer, expected) in rows {
            assert_eq!(
                clean_recap(answer).as_deref(),
                expected.as_ref().map(|text| *text),
                "{answer}"
            );
        }
    }

    proptest! {
        #[test]
        fn recaps_are_short_and_safe(answer in "(<recap>)?\\PC{0,600}(</recap>)?") {
            if let Ok(recap) = clean_recap(&answer) {
                prop_assert!(crate::text::utf16_length(&recap) <= LONGEST);
                prop_assert_eq!(terminal_safe_line(&recap), recap);
            }
        }
    }
}
