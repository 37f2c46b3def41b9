//! Titles by rules: the sentence of a prompt that is most likely the request, quoted.
//!
//! A title may be vague, but not wrong: it is what the user wrote, and a cut is marked. See
//! `docs/records.md`, Labels, titles and recaps.

use super::clean::upper_first;
use super::cut::{ENDS, cut, fill, is_verb_last};
use super::prompt::{prompt, quotations};
use super::quotation::{Aim, Quotation, STOPS, is_closed};
use super::request::request;
use crate::message::Message;
use crate::text::display_width;

/// Maximum width of a title, in cells.
const TITLE_CELLS: usize = 72;

/// Minimum width of a request that says enough alone, in cells.
const ENOUGH_CELLS: usize = 48;

/// Minimum width of a prompt that is more than `go on`, in cells.
const MIN_CELLS: usize = 8;

/// Writes the title of a conversation: the request of the first prompt with a topic, else of the first prompt. Empty if
/// nothing is asked.
pub fn title(messages: &[Message]) -> String {
    let prompts = messages.iter().filter_map(prompt);
    let mut prompts = prompts.filter_map(|prompt| find_request(&prompt));
    let Some(first) = prompts.next() else {
        return String::new();
    };
    let mut prompts = [first.clone()].into_iter().chain(prompts);
    let found = prompts.find(|found| found[0].has_topic()).unwrap_or(first);
    let is_sure = found[0].aim < Aim::Open && found[0].width() >= ENOUGH_CELLS;
    // Otherwise, what the user wants may follow.
    let cells = if is_sure { 1 } else { TITLE_CELLS };
    let text = cut(&join_sentences(&found, cells), TITLE_CELLS);
    upper_first(text.trim_end_matches(ENDS))
}

/// Joins the first sentences of a text until there are at least `cells`. A line without a full stop ends one.
fn join_sentences(found: &[Quotation], cells: usize) -> String {
    let mut text = String::new();
    for (at, one) in found.iter().enumerate() {
        let apart = one.place.paragraph - found[at.saturating_sub(1)].place.paragraph;
        // `Low Severity`, alone, says little.
        let is_label = found[0].aim == Aim::Open && at == 1 && found[0].is_short();
        let is_next = apart == 0 || apart == 1 && (is_label || text.ends_with(STOPS));
        let is_other = one.place.is_item || one.aim >= Aim::Person;
        if at > 0 && (is_other || !is_next || display_width(&text) >= cells) {
            break;
        }
        if at > 0 && !text.ends_with(['。', '？', '！']) {
            text.push(' ');
        }
        let joined = text.clone() + &one.text;
        // Otherwise, its start would be cut.
        let is_cut = at > 0 && display_width(&joined) > TITLE_CELLS && is_verb_last(&joined);
        text = match is_cut {
            true if display_width(&text) * 2 < TITLE_CELLS => one.text.clone(),
            true if text.trim_end().ends_with(STOPS) => break,
            _ => joined,
        };
    }
    text
}

/// Returns the request of a prompt and the sentences that follow it.
fn find_request(prompt: &str) -> Option<Vec<Quotation>> {
    let found = quotations(prompt);
    Some(found.split_at(request(&found)?).1.to_vec())
}

/// Quotes the request of a prompt that names a topic.
pub fn topic(message: &Message) -> Option<String> {
    let found = find_request(&prompt(message)?)?;
    let names_topic = found.iter().any(Quotation::has_topic);
    names_topic.then(|| join_sentences(&found, TITLE_CELLS))
}

fn quote(found: &[Quotation], cells: usize) -> String {
    upper_first(&fill(found.iter().map(|one| one.text.as_str()), cells))
}

/// Quotes the request of the latest prompt in up to `cells`, behind the request before it if it is short or refers to
/// it.
pub(super) fn latest_request(messages: &[Message], cells: usize) -> String {
    let width = |found: &Vec<Quotation>| found.iter().map(Quotation::width).sum::<usize>();
    let prompts = messages.iter().rev().filter_map(prompt);
    let mut prompts = prompts
        .filter_map(|prompt| find_request(&prompt))
        .filter(|found| width(found) >= MIN_CELLS);
    let Some(latest) = prompts.next() else {
        return String::new();
    };
    let says_enough = width(&latest) >= ENOUGH_CELLS && !latest[0].refers();
    let about = prompts.find(|found| *found != latest && found[0].has_topic());
    let Some(about) = about.filter(|_| !says_enough) else {
        return quote(&latest, cells);
    };
    let whole = quote(&latest, cells * 2 / 3);
    let rest = (cells + cells / 9).saturating_sub(display_width(&whole));
    format!("{} → {whole}", quote(&about, rest))
}

/// Quotes the last prompt in up to `cells`, if there is one and it is not only thanks.
pub(super) fn open_request(messages: &[Message], cells: usize) -> Option<String> {
    let prompt = messages.iter().rev().find_map(prompt)?;
    let found = find_request(&prompt)?;
    // `That worked, thanks` is a statement, `commit it, thanks` is not.
    let is_open = !is_closed(&prompt) || found.iter().any(|one| one.aim < Aim::Statement);
    is_open.then(|| quote(&found, cells))
}

#[cfg(test)]
#[path = "title_tests.rs"]
mod tests;
