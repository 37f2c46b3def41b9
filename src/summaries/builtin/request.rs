//! The choice of the sentence of a prompt that is quoted as the request.

use super::quotation::{Aim, Quotation, STOPS};

/// Minimum width of a role with a task in it, in cells.
const TASK_CELLS: usize = 60;

/// Finds the first sentence of a prompt about its subject: in a text rather than in a heading or a list. After a
/// statement, that is a later sentence that asks in so many words, or a paragraph that starts with a command, if it
/// says enough alone.
pub(super) fn request(found: &[Quotation]) -> Option<usize> {
    let best = found.iter().filter_map(rank).min()?;
    let in_level = || (0..found.len()).filter(|at| rank(&found[*at]) == Some(best));
    let topic = in_level().find(|at| found[*at].has_topic());
    let first = topic.or_else(|| in_level().next())?;
    let one = &found[first];
    let leads = |at: &usize| {
        let before = &found[*at];
        match before.aim {
            Aim::Lead => one.is_short() && one.refers(),
            _ if one.place.paragraph != before.place.paragraph => false,
            Aim::Aside => one.opens_with_reference(),
            aim => aim == Aim::Open && !before.has_topic() && before.text.ends_with(STOPS),
        }
    };
    if let Some(before) = first.checked_sub(1).filter(leads) {
        return Some(before);
    }
    // A role below a statement was pasted.
    let rest = first + 1..found.len();
    let mut rest = rest.take_while(|at| found[*at].aim < Aim::Person && !found[*at].place.is_item);
    let asked = rest.find(|at| {
        let one = &found[*at];
        let opens = one.place.paragraph != found[at - 1].place.paragraph;
        (one.aim == Aim::Request || one.aim == Aim::Command && opens)
            && !one.is_short()
            && !one.refers()
    });
    asked
        .filter(|_| one.aim == Aim::Statement && !one.place.is_item)
        .or(Some(first))
}

/// Ranks a sentence by its place and its purpose, the best first; `None` if it says nothing.
fn rank(one: &Quotation) -> Option<u8> {
    match one.aim {
        Aim::Greeting => None,
        Aim::Person if one.width() < TASK_CELLS => Some(4),
        // A role that long has the task in it; an aside behind it is about every task.
        Aim::Person | Aim::Aside => Some(3),
        Aim::Lead => Some(2),
        _ => Some(u8::from(one.place.is_item)),
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
