//! What comes next, as the model said it. Nothing is made up.

use super::prose::sentences;

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// The model was going to do this.
    AboutTo(String),
    /// It asked whether to do this.
    Decide(String),
    /// It asked something else.
    Answer(String),
    /// It named a step.
    Step(String),
}

/// Beginnings of announcements, in small letters.
const ANNOUNCEMENTS: &[&str] = &[
    "now let me ",
    "let me now ",
    "let me also ",
    "let me first ",
    "let me ",
    "now i'll ",
    "i'll now ",
    "i'll also ",
    "i'll ",
    "i will now ",
    "i will ",
    "now i need to ",
    "i need to ",
    "next, i'll ",
    "next i'll ",
    "now i will ",
    "i'm going to ",
    "i am going to ",
    "first, let me ",
    "first, i'll ",
    "then i'll ",
];

/// Beginnings of questions whether to do something.
const OFFERS: &[&str] = &[
    "would you like me to ",
    "do you want me to ",
    "should i ",
    "shall i ",
    "want me to ",
    "would you like to ",
    "do you want to ",
    "should we ",
    "shall we ",
    "would you prefer to ",
];

/// Beginnings of steps.
const STEPS: &[&str] = &[
    "next steps: ",
    "next step: ",
    "next step is to ",
    "the next step is to ",
    "next: ",
    "next up: ",
    "next, ",
    "you may want to ",
    "you might want to ",
    "you should ",
    "you'll want to ",
    "you can now ",
    "you can test ",
    "remaining: ",
    "todo: ",
];

/// What comes next after a text.
pub(super) fn next(text: &str) -> Option<Next> {
    let found = sentences(text);
    let last = found.last()?;
    if let Some(what) = after_any(&last.text, ANNOUNCEMENTS) {
        let what = what.split([':', '—', '–']).next().unwrap_or_default();
        let what = what.split(" - ").next().unwrap_or_default().trim();
        return (!what.is_empty() && !what.starts_with("know "))
            .then(|| Next::AboutTo(what.to_owned()));
    }
    let questions: Vec<&str> = found
        .iter()
        .rev()
        .take(3)
        .map(|sentence| sentence.text.as_str())
        .filter(|text| text.ends_with(['?', '？']))
        .collect();
    if let Some(question) = questions.first() {
        if let Some(what) = questions
            .iter()
            .find_map(|question| after_any(question, OFFERS))
        {
            return Some(Next::Decide(what.trim_end_matches(['?', '？']).to_owned()));
        }
        return Some(Next::Answer(
            question.trim_end_matches(['?', '？']).to_owned(),
        ));
    }
    let step = found.iter().rev().take(6).find_map(|sentence| {
        let what = after_any(&sentence.text, STEPS)?;
        let is_test = sentence.text.to_lowercase().starts_with("you can test ");
        Some(if is_test {
            format!("test {what}")
        } else {
            what.to_owned()
        })
    });
    step.filter(|what| what.split_whitespace().count() >= 2 || !what.is_ascii())
        .map(Next::Step)
}

fn after_any<'a>(text: &'a str, starts: &[&str]) -> Option<&'a str> {
    let lowered = text.to_lowercase();
    if lowered.len() != text.len() {
        return None;
    }
    starts
        .iter()
        .find(|start| lowered.starts_with(**start))
        .map(|start| text[start.len()..].trim())
}
