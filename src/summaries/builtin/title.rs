//! Titles by rules: the sentence of a prompt that is most likely the request, quoted.
//!
//! A title may be vague, but not wrong: it is what the user wrote, and a cut is marked. See
//! `docs/records.md`, Labels, titles and recaps.

use super::clean::upper_first;
use super::cut::{ENDS, cut, fill, is_verb_last};
use super::prompt::{COLONS, prompt, quote_sentences};
use super::quotation::{Aim, Quotation, STOPS, is_closed};
use super::request::find_request;
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
pub fn write_title(messages: &[Message]) -> String {
    let prompts = messages.iter().filter_map(prompt);
    let mut requests = prompts.filter_map(|prompt| request_onward(&prompt));
    let Some(first) = requests.next() else {
        return String::new();
    };
    let mut requests = [first.clone()].into_iter().chain(requests);
    let telling = requests.find(|sentences| sentences[0].has_topic());
    let sentences = telling.unwrap_or(first);
    let is_sure = sentences[0].aim < Aim::Open && sentences[0].width() >= ENOUGH_CELLS;
    // If the first sentence is not a sure request, the next ones may tell what the user wants.
    let cells = if is_sure { 1 } else { TITLE_CELLS };
    let text = cut(&join_sentences(&sentences, cells), TITLE_CELLS);
    upper_first(text.trim_end_matches(ENDS))
}

/// Joins the first sentences of a text until they take at least `cells`. Stops before a list, a role, a greeting or a
/// distant paragraph.
fn join_sentences(sentences: &[Quotation], cells: usize) -> String {
    let first = &sentences[0];
    let mut text = first.text.clone();
    for (previous, sentence) in sentences.iter().zip(&sentences[1..]) {
        let distance = sentence.place.paragraph - previous.place.paragraph;
        // A label such as `Low Severity` says little alone.
        let follows_label = previous == first && first.aim == Aim::Open && first.is_short();
        let is_next = distance == 0 || distance == 1 && (follows_label || text.ends_with(STOPS));
        let is_other = sentence.place.is_item || sentence.aim >= Aim::Person;
        if is_other || !is_next || display_width(&text) >= cells {
            break;
        }
        let is_spaced = !text.ends_with(['。', '？', '！']);
        let joined = [
            text.as_str(),
            if is_spaced { " " } else { "" },
            &sentence.text,
        ]
        .concat();
        // A text whose verb is last is cut at its start.
        let would_be_cut = display_width(&joined) > TITLE_CELLS && is_verb_last(&joined);
        text = match would_be_cut {
            true if display_width(&text) * 2 < TITLE_CELLS => sentence.text.clone(),
            true if text.ends_with(STOPS) => break,
            _ => joined,
        };
    }
    text
}

/// Returns the request of a prompt and the sentences that follow it.
fn request_onward(prompt: &str) -> Option<Vec<Quotation>> {
    let sentences = quote_sentences(prompt);
    let sentences = &sentences[find_request(&sentences)?..];
    // A heading leads to something that is not quoted.
    let is_lead = |next: &Quotation| next.is_short() && next.text.ends_with(COLONS);
    let end = sentences.iter().skip(1).position(is_lead);
    Some(sentences[..end.map_or(sentences.len(), |at| at + 1)].to_vec())
}

/// Quotes the request of a prompt; `None` if it names no topic.
pub fn quote_topic(message: &Message) -> Option<String> {
    let sentences = request_onward(&prompt(message)?)?;
    let names_topic = sentences.iter().any(Quotation::has_topic);
    names_topic.then(|| join_sentences(&sentences, TITLE_CELLS))
}

fn quote(sentences: &[Quotation], cells: usize) -> String {
    let texts = sentences.iter().map(|sentence| sentence.text.as_str());
    upper_first(&fill(texts, cells))
}

/// Quotes the request of the latest prompt in up to `cells`. If it is short or refers to something before, it follows the
/// request of an earlier prompt and an arrow.
pub(super) fn quote_latest_request(messages: &[Message], cells: usize) -> String {
    let width = |request: &Vec<Quotation>| request.iter().map(Quotation::width).sum::<usize>();
    let prompts = messages.iter().rev().filter_map(prompt);
    let requests = prompts.filter_map(|prompt| request_onward(&prompt));
    let mut requests = requests.filter(|request| width(request) >= MIN_CELLS);
    let Some(latest) = requests.next() else {
        return String::new();
    };
    let says_enough = width(&latest) >= ENOUGH_CELLS && !latest[0].has_reference();
    let earlier = requests.find(|request| *request != latest && request[0].has_topic());
    let Some(earlier) = earlier.filter(|_| !says_enough) else {
        return quote(&latest, cells);
    };
    let end = quote(&latest, cells * 2 / 3);
    let room = (cells + cells / 9).saturating_sub(display_width(&end));
    format!("{} → {end}", quote(&earlier, room))
}

/// Quotes the last prompt in up to `cells`, if there is one and it is not only thanks.
pub(super) fn quote_open_request(messages: &[Message], cells: usize) -> Option<String> {
    let prompt = messages.iter().rev().find_map(prompt)?;
    let request = request_onward(&prompt)?;
    // `That worked, thanks` is a statement, `commit it, thanks` is not.
    let asks = |sentence: &Quotation| sentence.aim < Aim::Statement;
    let is_open = !is_closed(&prompt) || request.iter().any(asks);
    is_open.then(|| quote(&request, cells))
}

#[cfg(test)]
#[path = "title_tests.rs"]
mod tests;
