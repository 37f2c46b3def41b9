//! What the model reported.

use super::prose::sentences;

/// Beginnings of sentences that report nothing, in small letters.
const EMPTY: &[&str] = &[
    "here's",
    "here is",
    "here are",
    "summary",
    "i see",
    "let me",
    "now let me",
    "i'll",
    "i will",
    "now i",
    "i need to",
    "now we",
    "first, let me",
    "next, i",
    "i understand",
    "i have a complete",
    "i have a good",
    "i have all",
    "good question",
    "great question",
    "you're right",
    "you are right",
    "got it",
    "sure",
    "okay, let me",
    "looking at",
    "let's",
    "the key insight",
    "key changes",
    "changes made",
    "what changed",
    "i found the issue",
    "i can see",
    "would you",
    "do you",
    "should i",
    "shall i",
    "to summarize",
    "in summary",
    "no response",
];

/// Words with which models begin.
const ACKNOWLEDGEMENTS: &[&str] = &[
    "done",
    "perfect",
    "excellent",
    "great",
    "clean",
    "good",
    "fixed",
    "all done",
    "all green",
    "ok",
    "okay",
    "yes",
    "no",
    "right",
    "correct",
    "nice",
    "awesome",
    "wonderful",
    "fantastic",
    "absolutely",
    "exactly",
];

/// The first thing that the model reported, if it reported something.
pub(super) fn report(text: &str) -> Option<String> {
    sentences(text)
        .into_iter()
        .filter(|sentence| {
            let announces = sentence.is_label && sentence.text.split_whitespace().count() < 5;
            !announces && !sentence.text.ends_with(['?', '？'])
        })
        .map(|sentence| without_acknowledgement(&sentence.text).to_owned())
        .find(|text| {
            let lowered = text.to_lowercase();
            let is_east = super::super::title::is_east_asian(text);
            let is_empty = EMPTY.iter().any(|start| lowered.starts_with(start));
            let is_long =
                text.split_whitespace().count() >= 3 || is_east && text.chars().count() >= 4;
            !is_empty && is_long
        })
}

/// A sentence without `Done — `.
fn without_acknowledgement(text: &str) -> &str {
    for mark in [" — ", " – ", " - ", "! ", ", "] {
        if let Some((first, rest)) = text.split_once(mark)
            && ACKNOWLEDGEMENTS.contains(&first.to_lowercase().as_str())
        {
            return rest;
        }
    }
    text
}
