//! The choice of the sentence of a prompt that is quoted as the request.

use super::quotation::{Aim, Quotation};

/// Maximum number of sentences between a request and what it refers to.
const MAX_BACK: usize = 3;

/// Finds the sentence of a prompt that is most likely the request, or what the request is about.
pub(super) fn request(found: &[Quotation]) -> Option<usize> {
    let opening = |one: &Quotation| {
        let mut rest = found
            .iter()
            .filter(|other| other.place.paragraph == one.place.paragraph);
        rest.next().map_or(one.aim, |first| first.aim)
    };
    // A paragraph that opens with persons or ways to work may be about nothing else.
    let is_own = |one: &Quotation| !matches!(opening(one), Aim::Aside | Aim::Person);
    let is_text = |one: &Quotation| !one.place.is_item && one.aim < Aim::Aside;
    let levels: [&dyn Fn(&Quotation) -> bool; 5] = [
        &|one| is_text(one) && is_own(one),
        &is_text,
        &|one| one.aim < Aim::Aside,
        &|one| one.aim < Aim::Person,
        &|one| one.aim < Aim::Greeting,
    ];
    let level = levels.into_iter().find(|is_in| found.iter().any(is_in))?;
    let first = found.iter().position(level)?;
    // After a statement, what the user tells to do is what matters; after another sentence, what they ask for.
    let most = match found[first].aim {
        aim if found[first].place.is_in_goal => aim,
        Aim::Open if opening(&found[first]) < Aim::Aside => Aim::Request,
        Aim::Open | Aim::Statement => Aim::Command,
        aim => aim,
    };
    let tells = |one: &Quotation| level(one) && one.aim <= most;
    let asks = |one: &Quotation| tells(one) && (one.aim < Aim::Command || opens(found, one));
    let asked = found
        .iter()
        .position(asks)
        .or_else(|| found.iter().position(tells));
    let start = asked.unwrap_or(first);
    Some(referent(found, start).unwrap_or(start))
}

/// Finds the sentence that a short request, or one with a reference, is about.
fn referent(found: &[Quotation], start: usize) -> Option<usize> {
    let request = &found[start];
    let refers = |at: usize| found[at].refers() || explains_aside(found, at);
    if !refers(start) && !request.is_short() {
        return None;
    }
    let is_near = |one: &Quotation| match one.aim {
        Aim::Person | Aim::Greeting => false,
        Aim::Aside => refers(start) && one.place.paragraph == request.place.paragraph,
        _ => !one.place.is_item,
    };
    // The first sentence can only refer to what is not quoted.
    let is_first = |at: usize| at == 0 || found[at - 1].aim > Aim::Aside;
    let back = (start.saturating_sub(MAX_BACK)..start).rev();
    let mut back = back.take_while(|at| is_near(&found[*at]));
    back.find(|at| !found[*at].is_short() && (is_first(*at) || !refers(*at)))
}

/// Whether a sentence is the first of its paragraph.
fn opens(found: &[Quotation], one: &Quotation) -> bool {
    let mut paragraph = found
        .iter()
        .filter(|other| other.place.paragraph == one.place.paragraph);
    paragraph.next() == Some(one)
}

/// Whether a statement explains the instruction before it.
fn explains_aside(found: &[Quotation], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| &found[before]);
    let is_aside =
        |one: &Quotation| one.aim == Aim::Aside && one.place.paragraph == found[at].place.paragraph;
    found[at].aim == Aim::Statement && before.is_some_and(is_aside)
}
