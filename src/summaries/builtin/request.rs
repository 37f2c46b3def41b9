//! Chooses the sentence of a prompt that is quoted as the request.

use super::quotation::{Aim, Quotation, STOPS};

/// Minimum width of a description of a role that contains a task, in cells.
const TASK_CELLS: usize = 60;

/// Finds the request among the sentences of a prompt: the first one of the best rank, if possible with a topic. Two rules
/// may move it:
///
/// - A sentence directly before it that leads to it is the request instead.
/// - After a statement, a later sentence that asks in so many words, or a paragraph that starts with a command, is the
///   request instead if it says enough alone.
///
/// Returns its index.
pub(super) fn find_request(sentences: &[Quotation]) -> Option<usize> {
    let best = sentences.iter().filter_map(rank).min()?;
    let mut candidates = (0..sentences.len()).filter(|at| rank(&sentences[*at]) == Some(best));
    let topic = candidates.clone().find(|at| sentences[*at].has_topic());
    let first = topic.or_else(|| candidates.next())?;
    let request = &sentences[first];
    let leads = |at: &usize| {
        let before = &sentences[*at];
        match before.aim {
            Aim::Lead => request.is_short() && request.has_reference(),
            _ if request.place.paragraph != before.place.paragraph => false,
            Aim::Aside => request.opens_with_reference(),
            aim => aim == Aim::Open && !before.has_topic() && before.text.ends_with(STOPS),
        }
    };
    if let Some(before) = first.checked_sub(1).filter(leads) {
        return Some(before);
    }
    let is_typed = |sentence: &Quotation| {
        // A role below a statement was pasted.
        sentence.aim < Aim::Person && !sentence.place.is_item
    };
    let mut later = (first + 1..sentences.len()).take_while(|at| is_typed(&sentences[*at]));
    let explicit = later.find(|at| {
        let sentence = &sentences[*at];
        let opens = sentence.place.paragraph != sentences[at - 1].place.paragraph;
        (sentence.aim == Aim::Request || sentence.aim == Aim::Command && opens)
            && !sentence.is_short()
            && !sentence.has_reference()
    });
    explicit
        .filter(|_| request.aim == Aim::Statement && !request.place.is_item)
        .or(Some(first))
}

/// Ranks a sentence by its place and its aim. Lower is better; `None` for a greeting.
fn rank(sentence: &Quotation) -> Option<u8> {
    match sentence.aim {
        Aim::Greeting => None,
        Aim::Person if sentence.width() < TASK_CELLS => Some(4),
        // A role of this width contains the task. An aside after it is about every task.
        Aim::Person | Aim::Aside => Some(3),
        Aim::Lead => Some(2),
        _ => Some(u8::from(sentence.place.is_item)),
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
