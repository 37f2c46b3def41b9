//! Titles by rules: the first sentence of a prompt that names a topic, quoted.
//!
//! A title may be vague, but not wrong. A sentence that is too long is cut between two phrases and ends
//! with an ellipsis. See `docs/records.md`, Labels, titles and recaps.

use super::cut::{cut, fill};
use super::prompt::{Quotation, Rank, ends_with_thanks, prompt, quotations, refers};
use super::prose::{ENOUGH_WORDS, is_informative};
use crate::message::Message;
use crate::text::display_width;

/// Maximum width of a title, in cells.
pub(super) const TITLE_CELLS: usize = 64;

/// Maximum number of sentences that are searched for a request.
const MAX_SENTENCES: usize = 3;

/// Minimum number of informative words of a substantial request.
const SUBSTANTIAL_WORDS: usize = 3;

/// Number of words at the start of a sentence that tell whether it depends on what was said before.
const FIRST_WORDS: usize = 6;

/// Writes the title of a conversation; empty if no prompt names a topic.
pub fn title(messages: &[Message]) -> String {
    let mut weak = None;
    for prompt in messages.iter().filter_map(prompt) {
        let found = quotations(&prompt);
        if let Some(at) = topic(&found) {
            return cut(&found[at].text, TITLE_CELLS);
        }
        let mut found = found.into_iter();
        weak = weak.or_else(|| found.find(|quotation| quotation.informative > 0));
    }
    weak.map_or_else(String::new, |weak| cut(&weak.text, TITLE_CELLS))
}

/// Returns the index of the first sentence with a topic, or of the request after a statement or an announcement.
fn topic(found: &[Quotation]) -> Option<usize> {
    let says_enough = |quotation: &Quotation| quotation.informative >= ENOUGH_WORDS;
    let names_it = |quotation: &Quotation| says_enough(quotation) && !refers(&quotation.text, 1);
    let at = found
        .iter()
        .position(names_it)
        .or_else(|| found.iter().position(says_enough))?;
    let first = &found[at];
    let needed = if first.announces {
        ENOUGH_WORDS
    } else {
        SUBSTANTIAL_WORDS
    };
    let is_request = |found: &Quotation| found.is_request && found.informative >= needed;
    let is_open = (first.is_statement || first.announces) && first.rank > Rank::Goal;
    let request = found.iter().take(MAX_SENTENCES).position(is_request);
    request
        .filter(|_| is_open && !first.is_request)
        .or(Some(at))
}

/// Quotes the request of the latest prompt with a topic in up to `cells`, behind the request before it if it is short or
/// refers to it.
pub(super) fn latest_request(messages: &[Message], cells: usize) -> String {
    let prompts = messages.iter().rev().filter_map(prompt);
    let says = |found: &Vec<Quotation>| found.iter().any(|found| found.informative > 0);
    let mut quoted = prompts.map(|prompt| quotations(&prompt)).filter(says);
    let Some(latest) = quoted.next() else {
        return String::new();
    };
    let whole = request(&latest, cells);
    let words: usize = latest.iter().map(|found| found.informative).sum();
    let says_enough = words > SUBSTANTIAL_WORDS + 1 && !refers(&latest[0].text, FIRST_WORDS);
    let about = quoted.find(|found| *found != latest && topic(found).is_some());
    let about = about.filter(|_| !says_enough);
    match about {
        Some(about) => {
            let whole = request(&latest, cells * 2 / 3);
            let rest = (cells + cells / 9).saturating_sub(display_width(&whole));
            format!("{} → {whole}", cut(&request(&about, cells), rest))
        }
        None => whole,
    }
}

/// Quotes the topic of a prompt and the substantial sentences that follow it in up to `cells`.
fn request(found: &[Quotation], cells: usize) -> String {
    let says = |words: usize| move |quotation: &Quotation| quotation.informative >= words;
    let starts = found.iter().position(says(ENOUGH_WORDS));
    let starts = starts.or_else(|| found.iter().position(says(1)));
    let (first, rest) = found[starts.unwrap_or_default()..].split_at(1);
    let follows = |rest: &&Quotation| rest.rank <= Rank::Item && says(ENOUGH_WORDS)(rest);
    let rest = rest.iter().take_while(follows);
    let quoted = first.iter().chain(rest);
    fill(quoted.map(|quotation| quotation.text.as_str()), cells)
}

/// Quotes the last prompt in up to `cells`, if there is one and it is not only thanks.
pub(super) fn open_request(messages: &[Message], cells: usize) -> Option<String> {
    let prompt = messages.iter().rev().find_map(prompt)?;
    let mut found = quotations(&prompt);
    found.retain(|quotation| quotation.informative > 0);
    // `That worked, thanks` starts with a word without content, `commit it, thanks` does not.
    let starts_with_content = |found: &Quotation| {
        let first = found.text.split([' ', ',']).next();
        first.is_some_and(is_informative)
    };
    let is_open = !ends_with_thanks(&prompt) || found.iter().any(starts_with_content);
    (is_open && !found.is_empty()).then(|| request(&found, cells))
}

#[cfg(test)]
#[path = "title_tests.rs"]
mod tests;
