//! Extracts a recap from a model's reply.

use std::sync::LazyLock;

use pulldown_cmark::{Event, Parser, Tag};
use regex::Regex;
use unicode_segmentation::UnicodeSegmentation;

use super::PROMPT;
use crate::records::TextRejection;
use crate::summaries::clean::{after_announcement, is_echo, is_refusal, sentences, without_marks};
use crate::text::{
    pattern, redact, terminal_safe, terminal_safe_line, truncate_utf16, utf16_length,
};

/// Maximum number of words in a recap.
const MAX_WORDS: usize = 40;

/// Maximum number of words in the recap of a period.
const MAX_PERIOD_WORDS: usize = 160;

/// Maximum length of a recap in UTF-16 units, per word.
const WORD_UNITS: usize = 10;

/// Marks a cut within a sentence.
const MORE: char = '…';

/// Text between tags, or from an opening tag to the end of a truncated reply.
static TAGGED: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?is)<recap>(.*?)(?:</recap>|\z)"));

/// A tag that is not a parameter of a type, as in `Vec<u8>`.
static TAG: LazyLock<Regex> = LazyLock::new(|| pattern(r"</[a-z][\w-]*>|\B<[a-z][\w-]*>"));

/// Extracts the recap: the text between the tags, or after the first one if the reply was truncated, without Markdown.
/// It is one terminal-safe line of at most 40 words and 400 UTF-16 units, cut after a sentence, and without secrets.
///
/// # Errors
/// There is no tag (the text may be the model's reasoning), or the text has no word, repeats the
/// prompt's example, or is a refusal.
pub fn clean_recap(reply: &str) -> Result<String, TextRejection> {
    clean(reply, MAX_WORDS)
}

/// Extracts the recap of a period like [`clean_recap`], of at most 160 words and 1600 UTF-16 units.
///
/// # Errors
/// As in [`clean_recap`].
pub fn clean_period_recap(reply: &str) -> Result<String, TextRejection> {
    clean(reply, MAX_PERIOD_WORDS)
}

fn clean(reply: &str, max_words: usize) -> Result<String, TextRejection> {
    let safe = redact(&terminal_safe(reply)).into_owned();
    let plain = without_markup(find_tagged(&safe).ok_or(TextRejection::NoTag)?);
    let plain = without_marks(&plain);
    let recap = after_announcement(plain).unwrap_or(plain);
    let recap = shorten(&terminal_safe_line(recap), max_words);
    // A model that repeats the question writes `<recap>...</recap>`.
    if !recap.contains(char::is_alphanumeric) {
        return Err(TextRejection::Empty);
    }
    let examples = PROMPT.split("<recap>").skip(1);
    let mut examples = examples.filter_map(|rest| rest.split("</recap>").next());
    if examples.any(|example| is_echo(&recap, example)) {
        return Err(TextRejection::PromptEcho);
    }
    if is_refusal(&recap) {
        return Err(TextRejection::Refusal);
    }
    Ok(recap)
}

/// Returns the first non-blank text between tags.
fn find_tagged(reply: &str) -> Option<&str> {
    let tagged = TAGGED.captures_iter(reply);
    let mut texts = tagged.filter_map(|tagged| Some(tagged.get(1)?.as_str().trim()));
    let first = texts.next()?;
    std::iter::once(first)
        .chain(texts)
        .find(|text| !text.is_empty())
        .or(Some(first))
}

/// Removes Markdown and tags. Blocks that do not end a sentence end with a semicolon.
fn without_markup(markdown: &str) -> String {
    let mut text = String::new();
    for event in Parser::new(markdown) {
        match event {
            Event::Text(part) | Event::Code(part) | Event::Html(part) | Event::InlineHtml(part) => {
                text.push_str(&part);
            }
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            Event::Start(
                Tag::Paragraph
                | Tag::Item
                | Tag::Heading { .. }
                | Tag::CodeBlock(_)
                | Tag::HtmlBlock,
            ) => end_block(&mut text),
            _ => {}
        }
    }
    let text = TAG.replace_all(&text, " ");
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace(" .", ".").replace(" ,", ",")
}

fn end_block(text: &mut String) {
    text.truncate(text.trim_end().len());
    if text.ends_with(char::is_alphanumeric) {
        text.push(';');
    }
    text.push(' ');
}

/// Cuts a line after the last sentence that fits, or after a word if the first one is too long.
fn shorten(line: &str, max_words: usize) -> String {
    let max_units = max_words * WORD_UNITS;
    let fits = |text: &str| words(text) <= max_words && utf16_length(text) <= max_units;
    let mut end = 0;
    for sentence in sentences(line) {
        if !fits(line[..end + sentence.len()].trim_end()) {
            break;
        }
        end += sentence.len();
    }
    if end > 0 {
        return line[..end].trim().to_owned();
    }
    let cut = truncate_utf16(line, max_units - MORE.len_utf16());
    let bounds = cut.split_word_bound_indices().map(|(at, _)| at);
    let end = bounds
        .take_while(|at| words(&cut[..*at]) <= max_words)
        .last();
    let cut = cut[..end.unwrap_or_default()].trim_end_matches(|sign: char| !sign.is_alphanumeric());
    format!("{cut}{MORE}")
}

/// Counts words. Two signs of a language without spaces count as one.
fn words(text: &str) -> usize {
    let weight = |word: &str| match word.chars().next() {
        Some(first) if !first.is_ascii() && word.chars().nth(1).is_none() => 1,
        _ => 2,
    };
    text.unicode_words().map(weight).sum::<usize>().div_ceil(2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn recaps_are_extracted_from_tags() {
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
            (PROMPT, Err(TextRejection::Empty)),
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
            (
                "<recap>**Recap:** Porting `parser.rs` to *Rust*. Next, run <b>all</b> tests.</recap>",
                Ok("Porting parser.rs to Rust. Next, run all tests."),
            ),
            ("<recap>\"Porting it.\"</recap>", Ok("Porting it.")),
            (
                "<recap>\n## Goal\n- Port the parser\n- Next: run [tests](http://x)\n</recap>",
                Ok("Goal; Port the parser; Next: run tests"),
            ),
            (
                "<recap><goal>Port it.</goal><next>Test Vec<u8>.</next></recap>",
                Ok("Port it. Test Vec<u8>."),
            ),
        ];
        for (reply, expected) in rows {
            assert_eq!(
                clean_recap(reply).as_deref(),
                expected.as_ref().map(|text| *text),
                "{reply}"
            );
        }
    }

    #[test]
    fn a_long_recap_ends_with_a_sentence() {
        let sentence = |words: usize| format!("Port{}.", " it".repeat(words - 1));
        let recap = |text: &str| clean_recap(&format!("<recap>{text}</recap>")).unwrap();
        let (ten, thirty) = (sentence(10), sentence(30));
        assert_eq!(recap(&format!("{ten} {thirty}")), format!("{ten} {thirty}"));
        assert_eq!(
            recap(&format!("{thirty} {ten} {ten}")),
            format!("{thirty} {ten}")
        );
        let cut = recap(&sentence(61));
        assert_eq!(cut, format!("Port{}…", " it".repeat(39)));
        let chinese = "继续把解析器移植到新的语言。".repeat(10);
        let cut = recap(&chinese);
        assert!(cut.ends_with('。') && cut.chars().count() <= 90, "{cut}");
    }

    proptest! {
        #[test]
        fn recaps_are_short_and_safe(reply in "(<recap>)?\\PC{0,600}(</recap>)?") {
            if let Ok(recap) = clean_recap(&reply) {
                prop_assert!(crate::text::utf16_length(&recap) <= MAX_WORDS * WORD_UNITS);
                prop_assert_eq!(terminal_safe_line(&recap), recap);
            }
        }
    }
}
