//! The choice of the sentence of a prompt that is quoted as the request.

use super::prose::is_east_asian;
use super::quotation::{Aim, Quotation};

/// Finds the first sentence of a prompt about its subject. After a statement, that is a later sentence that asks in so
/// many words, or a paragraph that starts with a command, if it says enough alone.
pub(super) fn request(found: &[Quotation]) -> Option<usize> {
    let is_together =
        |one: &Quotation, other: &Quotation| one.place.paragraph == other.place.paragraph;
    let opening = |one: &Quotation| found.iter().find(|other| is_together(one, other));
    // A paragraph that opens with persons or ways to work may be about nothing else.
    let is_own = |one: &Quotation| {
        one.aim == Aim::Request && !one.refers()
            || opening(one).is_some_and(|first| !matches!(first.aim, Aim::Aside | Aim::Person))
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
    let in_level = || found.iter().enumerate().filter(|(_, one)| level(one));
    let with_topic = || in_level().filter(|(_, one)| one.has_topic());
    // `Low Severity`, alone, says less than what follows.
    let says_enough = |(at, one): &(usize, &Quotation)| {
        let is_alone = found.get(at + 1).is_none_or(|next| !is_together(one, next));
        let is_heading = is_alone && one.is_short() && !is_east_asian(&one.text);
        one.place.is_item || one.aim < Aim::Open || !is_heading
    };
    let enough = with_topic().find(says_enough);
    let any = || with_topic().chain(in_level()).next();
    let (first, one) = enough.or_else(any)?;
    let is_after = |at: usize| is_together(one, &found[at]) && found[at].aim == Aim::Aside;
    if let Some(before) = first
        .checked_sub(1)
        .filter(|at| is_after(*at) && one.opens_with_reference())
    {
        return Some(before);
    }
    // The items of a list belong to its heading, or to the first of them.
    if one.aim <= Aim::Command || one.place.is_in_goal || one.place.is_item {
        return Some(first);
    }
    let asks = |one: &Quotation| {
        one.aim <= Aim::Request || one.aim == Aim::Command && opening(one) == Some(one)
    };
    let mut rest = in_level().filter(|(at, _)| *at > first);
    let asked = rest.find(|(_, one)| asks(one) && !one.is_short() && !one.refers());
    Some(asked.map_or(first, |(at, _)| at))
}
