//! The choice of the sentence of a prompt that is quoted as the request.

use super::quotation::{Aim, Quotation};

/// Maximum number of sentences between a request and what it refers to.
const MAX_BACK: usize = 3;

/// Finds the sentence of a prompt that is most likely the request, or what the request is about.
pub(super) fn request(found: &[Quotation]) -> Option<usize> {
    let is_together =
        |one: &Quotation, other: &Quotation| one.place.paragraph == other.place.paragraph;
    let opening = |one: &Quotation| found.iter().find(|other| is_together(one, other));
    // A paragraph that opens with persons or ways to work may be about nothing else.
    let is_own = |one: &Quotation| {
        opening(one).is_some_and(|first| !matches!(first.aim, Aim::Aside | Aim::Person))
    };
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
    let opens = opening(&found[first]).is_some_and(|opening| opening.aim < Aim::Aside);
    let most = match found[first].aim {
        aim if found[first].place.is_in_goal => aim,
        Aim::Open if opens => Aim::Request,
        Aim::Open | Aim::Statement => Aim::Command,
        aim => aim,
    };
    let tells = |one: &Quotation| level(one) && one.aim <= most;
    let asks =
        |one: &Quotation| tells(one) && (one.aim < Aim::Command || opening(one) == Some(one));
    let mut asked = [found.iter().position(asks), found.iter().position(tells)]
        .into_iter()
        .flatten();
    let start = asked.next().unwrap_or(first);
    Some(referent(found, start).unwrap_or(start))
}

/// Finds the sentence that a short request, or one with a reference, is about.
fn referent(found: &[Quotation], start: usize) -> Option<usize> {
    let request = &found[start];
    if !request.refers() && !request.is_short() {
        return None;
    }
    let is_near = |one: &Quotation| match one.aim {
        Aim::Person | Aim::Greeting => false,
        Aim::Aside => request.refers() && one.place.paragraph == request.place.paragraph,
        _ => !one.place.is_item,
    };
    // The first sentence can only refer to what is not quoted.
    let is_first = |at: usize| at == 0 || found[at - 1].aim > Aim::Aside;
    let back = (start.saturating_sub(MAX_BACK)..start).rev();
    let mut back = back.take_while(|at| is_near(&found[*at]));
    back.find(|at| !found[*at].is_short() && (is_first(*at) || !found[*at].refers()))
}
