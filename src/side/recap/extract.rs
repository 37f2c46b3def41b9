//! From a model's answer to a recap.

use crate::side::{Rejection, prompts};
use crate::text::{terminal_safe, terminal_safe_line, truncate_utf16};

/// The longest recap, in UTF-16 units.
const LONGEST: usize = 400;

const OPEN: &str = "<recap>";
const CLOSE: &str = "</recap>";

/// The recap in a model's answer: the text between the tags, or after the first one if the answer
/// was cut. One line that is harmless on a terminal, at most 400 UTF-16 units long.
///
/// # Errors
/// There is no tag (the text may be the model's reasoning), no word in it, only the prompt's example,
/// or a refusal.
pub fn clean_recap(answer: &str) -> Result<String, Rejection> {
    let safe = terminal_safe(answer);
    let recap = terminal_safe_line(tagged(&safe).ok_or(Rejection::NoTag)?);
    let recap = truncate_utf16(&recap, LONGEST).trim();
    // A model that repeats what it was asked says `<recap>...</recap>`.
    if !recap.contains(char::is_alphanumeric) {
        return Err(Rejection::Empty);
    }
    let examples = prompts::RECAP.split(OPEN).skip(1);
    let mut examples = examples.filter_map(|rest| rest.split(CLOSE).next());
    if examples.any(|example| Rejection::is_echo(recap, example)) {
        return Err(Rejection::PromptEcho);
    }
    if Rejection::is_refusal(recap) {
        return Err(Rejection::Refusal);
    }
    Ok(recap.to_owned())
}

fn tagged(answer: &str) -> Option<&str> {
    let first = find(answer, OPEN)?;
    let mut from = first;
    let mut closed = false;
    while let Some(start) = find(&answer[from..], OPEN).map(|at| from + at + OPEN.len()) {
        let Some(length) = find(&answer[start..], CLOSE) else {
            break;
        };
        closed = true;
        let inner = answer[start..start + length].trim();
        if !inner.is_empty() {
            return Some(inner);
        }
        from = start + length + CLOSE.len();
    }
    if closed {
        return Some("");
    }
    Some(answer[first + OPEN.len()..].trim())
}

/// Where a tag is, in either case.
fn find(text: &str, tag: &str) -> Option<usize> {
    text.match_indices('<').map(|(at, _)| at).find(|at| {
        text.get(*at..at + tag.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(tag))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn own_rows() {
        let rows = [
            (
                "<recap>Porting it. Next: tests.</recap>",
                Ok("Porting it. Next: tests."),
            ),
            ("Let me think.\n<Recap> a\nb </RECAP> done", Ok("a b")),
            ("thinking <recap>cut o", Ok("cut o")),
            ("just reasoning", Err(Rejection::NoTag)),
            ("</recap>x", Err(Rejection::NoTag)),
            ("<recap >x</recap>", Err(Rejection::NoTag)),
            ("<recap></recap>", Err(Rejection::Empty)),
            ("<recap> </recap><recap>x</recap>", Ok("x")),
            ("<recap>", Err(Rejection::Empty)),
            ("Wrapped in <recap>...</recap>", Err(Rejection::Empty)),
            (prompts::RECAP, Err(Rejection::Empty)),
            (
                "<recap>Debugging a race in the retry of logins. Next, give the integration test \
                 a clock that it controls.</recap>",
                Err(Rejection::PromptEcho),
            ),
            (
                "<recap>**debugging a race in the retry of logins. Next, give the integration test \
                 a clock that it controls**</recap>",
                Err(Rejection::PromptEcho),
            ),
            (
                "<recap>I'm sorry, I can't tell.</recap>",
                Err(Rejection::Refusal),
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
