//! Titles by rules: the first concrete thing that somebody asked for, as an imperative.

mod candidate;
mod case;
mod chinese;
mod commands;
mod frames;
mod goals;
mod plan;
mod prompts;
mod rewrite;
mod sentences;
mod shorten;
mod words;

use crate::dialog::Message;
use crate::side::builtin::cells::cut;
use crate::side::builtin::redact::redacted;
pub(super) use candidate::{Candidate, Form};
pub(super) use chinese::is_east_asian;

/// The widest title, in cells.
const WIDEST: usize = 60;

/// So many prompts are weighed before the first one that says anything is taken.
const WEIGHED: usize = 3;

/// A title with fewer words says nothing.
const FEWEST_WORDS: usize = 2;

/// The title of a conversation; empty if nobody asked for anything.
pub fn title(messages: &[Message]) -> String {
    let texts = prompts::prompts(messages);
    chosen(&candidates(&texts)).map_or_else(String::new, |found| found.title.clone())
}

/// What each prompt asks for, in order, those left out that ask for nothing.
pub(super) fn candidates(texts: &[String]) -> Vec<Candidate> {
    texts
        .iter()
        .filter_map(|text| candidate::of_prompt(text))
        .map(|found| Candidate {
            title: finish(&found.title),
            ..found
        })
        .filter(|found| !found.title.is_empty())
        .collect()
}

/// The texts of prompts of a conversation, cleaned.
pub(super) fn prompt_texts(messages: &[Message]) -> Vec<String> {
    prompts::prompts(messages)
}

/// The candidate that names the session.
pub(super) fn chosen(found: &[Candidate]) -> Option<&Candidate> {
    let is_clear = |candidate: &&Candidate| {
        matches!(
            candidate.form,
            Form::Imperative | Form::Plan | Form::EastAsian
        ) && candidate.informative >= FEWEST_WORDS
    };
    let first = found.first()?;
    if first.is_accepted_though_vague() {
        return Some(first);
    }
    found
        .iter()
        .take(WEIGHED)
        .enumerate()
        .find(|(place, candidate)| {
            // A later prompt builds on what was said before: only a full one names the session.
            is_clear(candidate)
                && (*place == 0
                    || candidate.words() >= 4 && words::says_more_than_steps(&candidate.title))
        })
        .map(|(_, candidate)| candidate)
        .or_else(|| {
            found
                .iter()
                .find(|candidate| candidate.informative >= FEWEST_WORDS)
        })
        .or_else(|| found.iter().max_by_key(|candidate| candidate.informative))
        .filter(|candidate| candidate.form == Form::EastAsian || candidate.words() >= FEWEST_WORDS)
}

/// The last step: nothing secret, nothing that a terminal executes, not too wide.
fn finish(title: &str) -> String {
    let clean = redacted(&title.replace('`', ""));
    let clean = clean.trim_end_matches(['.', ';', ':', ',', ' ', '?', '!', '-']);
    cut(clean, WIDEST)
}

#[cfg(test)]
mod tests;
