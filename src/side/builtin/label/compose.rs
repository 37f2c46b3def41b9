//! Composes one line from facts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use super::fact::{About, Call, Class, Fact, FinishedCall, Outcome};
use super::facts::fact;
use crate::side::builtin::clean::{clean, cut, lower_first};
use crate::side::builtin::names::{distinct, file_names, listed};
use crate::text::display_width;
use crate::view::ToolGroup;

/// Maximum width of a label, in cells.
pub(super) const MAX_CELLS: usize = 60;

/// Maximum width of a label with two parts, in cells.
const MAX_PAIR_CELLS: usize = 58;

/// Words of failures, in lower case.
const FAILURE_WORDS: &str = "failed|rejected|declined|denied|interrupted|cancelled|not found|errors\
    | issue|conflict|timed out|redirected|unknown | problems|is a directory|too large";

/// Whether a label mentions a failure.
pub(super) fn names_failure(label: &str) -> bool {
    let lowered = label.to_lowercase().replace("no issues", "");
    FAILURE_WORDS.split('|').any(|word| lowered.contains(word))
}

/// Returns the label, before it is cleaned.
fn compose(facts: &[Fact], cwd: Option<&str>) -> String {
    let finished: Vec<&Fact> = facts
        .iter()
        .filter(|fact| fact.outcome != Outcome::Cancelled)
        .collect();
    if finished.is_empty() {
        return match facts {
            [] => String::new(),
            [one] => one.phrase.clone(),
            several => format!("{} calls cancelled", several.len()),
        };
    }
    let (good, bad): (Vec<&Fact>, Vec<&Fact>) = without_bookkeeping(finished)
        .into_iter()
        .partition(|fact| fact.outcome == Outcome::Good);
    match (good.is_empty(), bad.is_empty()) {
        (_, true) => groups(&good, cwd),
        (true, false) => failures(&bad, cwd),
        (false, false) => {
            let success = groups(&good, cwd);
            // Successes may be truncated, failures may not.
            pair(&success, &failures(&bad, cwd))
                .unwrap_or_else(|| format!("{}, {} failed", cut(&success, 47), bad.len()))
        }
    }
}

/// Returns a label of two parts, if they fit.
fn pair(first: &str, second: &str) -> Option<String> {
    let sign = if first.contains(',') || second.contains(',') {
        ';'
    } else {
        ','
    };
    let both = format!("{first}{sign} {}", lower_first(second));
    fits(&both).then_some(both)
}

fn fits(label: &str) -> bool {
    display_width(label) <= MAX_PAIR_CELLS
}

/// Removes changes of to-do lists, unless there is nothing else.
fn without_bookkeeping(mut facts: Vec<&Fact>) -> Vec<&Fact> {
    let is_other = |fact: &&Fact| !matches!(fact.class, Class::Todo | Class::Task);
    if facts.iter().any(is_other) {
        facts.retain(|fact| is_other(fact) || fact.outcome == Outcome::Bad);
    }
    facts
}

fn failures(facts: &[&Fact], cwd: Option<&str>) -> String {
    let [first, rest @ ..] = facts else {
        return String::new();
    };
    let count = facts.len();
    if rest.iter().all(|fact| fact.phrase == first.phrase) {
        return repeated(&first.phrase, count);
    }
    let endings = ["rejected", "declined", "denied", "interrupted"];
    let ending = endings.into_iter().find(|word| first.phrase.contains(word));
    let ending = ending.unwrap_or("failed");
    let are_same = |fact: &&Fact| fact.class == first.class && fact.noun == first.noun;
    let noun = if rest.iter().all(are_same) {
        first.noun
    } else {
        "call"
    };
    let counted = format!("{count} {} {ending}", plural(noun, count));
    let paths = paths(facts);
    let named = format!("{counted}: {}", file_names(&paths, cwd));
    match facts {
        _ if noun != "call" && !paths.is_empty() && fits(&named) => named,
        [first, second] => pair(&first.phrase, &second.phrase).unwrap_or(counted),
        _ => counted,
    }
}

/// Describes facts class by class, in the order of classes.
fn groups(facts: &[&Fact], cwd: Option<&str>) -> String {
    let mut classes: BTreeMap<Class, Vec<&Fact>> = BTreeMap::new();
    for fact in facts {
        classes.entry(fact.class).or_default().push(fact);
    }
    let groups = classes.into_values();
    let mut parts: Vec<_> = groups.map(|facts| (group(&facts, cwd), facts)).collect();
    // A command may show the file that another call reads.
    let mut seen = HashSet::new();
    parts.retain(|(part, _)| seen.insert(part.to_lowercase()));
    match parts.as_slice() {
        [] => String::new(),
        [(only, _)] => only.clone(),
        [(first, _), (second, _)] if pair(first, second).is_some() => {
            pair(first, second).unwrap_or_default()
        }
        _ => {
            // A change is named in any case.
            let effect =
                |(_, facts): &(String, Vec<&Fact>)| facts.iter().map(|fact| fact.effect).max();
            parts.sort_by_key(|part| Reverse(effect(part)));
            let rest = || parts[1..].iter().flat_map(|(_, facts)| facts);
            let noun = if parts.len() == 2 {
                parts[1].1[0].noun
            } else {
                "more call"
            };
            with_count(&parts[0].0, rest().count(), noun)
        }
    }
}

/// Describes successes of one class: with one verb if they share it, else phrase by phrase.
fn group(facts: &[&Fact], cwd: Option<&str>) -> String {
    // What was found is more informative than what was not.
    let is_found = |fact: &&&Fact| !fact.verb.starts_with("No ");
    let mut facts: Vec<&Fact> = facts.to_vec();
    if facts.iter().any(|fact| is_found(&fact)) {
        facts.retain(|fact| is_found(&fact));
    }
    let [first, rest @ ..] = facts.as_slice() else {
        return String::new();
    };
    let paths = paths(&facts);
    let shares_verb = rest.iter().all(|fact| fact.verb == first.verb);
    match &first.about {
        _ if rest.is_empty() => first.phrase.clone(),
        About::Files(_) if paths.len() == 1 && shares_verb => first.phrase.clone(),
        About::Files(_) if shares_verb => format!("{} {}", first.verb, file_names(&paths, cwd)),
        About::Files(_) if first.class == Class::Write => {
            format!("Wrote {}", file_names(&paths, cwd))
        }
        About::Named(_) => named(&facts, shares_verb).unwrap_or_else(|| phrases(&facts)),
        About::Files(_) | About::Nothing => phrases(&facts),
    }
}

/// Returns the distinct files of some facts.
fn paths<'a>(facts: &[&'a Fact]) -> Vec<&'a str> {
    let paths = facts.iter().filter_map(|fact| match &fact.about {
        About::Files(paths) => Some(paths.iter().map(String::as_str)),
        _ => None,
    });
    distinct(paths.flatten())
}

/// Names the objects behind their common verb, if they fit. Reads of a repository share the first verb.
fn named(facts: &[&Fact], shares_verb: bool) -> Option<String> {
    let names = facts.iter().map(|fact| match &fact.about {
        About::Named(name) if !name.is_empty() => Some(name.clone()),
        _ => None,
    });
    let names = distinct(names.collect::<Option<Vec<String>>>()?.into_iter());
    let are_looks = names.iter().all(|name| name.starts_with("git "));
    let verb = &facts.first()?.verb;
    let findings: Vec<&str> = facts.iter().map(|fact| &*fact.finding).collect();
    let is_success = |finding: &&str| finding.ends_with("passed") || *finding == "no issues";
    let finding = match distinct(findings.iter().copied()).as_slice() {
        [""] => String::new(),
        [only] => format!(", {only}"),
        // All passed, with different messages.
        different if different.iter().all(is_success) => ", passed".to_owned(),
        _ => String::new(),
    };
    let phrase = format!("{verb} {}{finding}", listed(&names));
    let are_named = !verb.is_empty() && shares_verb || are_looks;
    match names.as_slice() {
        [_] if facts[0].noun == "command" => Some(repeated(&phrase, facts.len())),
        _ => Some(phrase).filter(|phrase| fits(phrase)),
    }
    .filter(|_| are_named)
}

/// `Ran go test, passed (2 times)`.
fn repeated(phrase: &str, count: usize) -> String {
    if count < 2 {
        return phrase.to_owned();
    }
    format!("{phrase} ({count} times)")
}

/// Describes different facts: the first, then the second if it fits, else a count.
fn phrases(facts: &[&Fact]) -> String {
    let mut seen = HashSet::new();
    let distinct = facts.iter().copied();
    let mut distinct: Vec<&Fact> = distinct.filter(|fact| seen.insert(&fact.phrase)).collect();
    if let [first, second] = distinct.as_slice()
        && let Some(both) = pair(&first.phrase, &second.phrase)
    {
        return both;
    }
    // A change is named in any case.
    distinct.sort_by_key(|fact| Reverse(fact.effect));
    match distinct.as_slice() {
        [] => String::new(),
        [one] if one.noun == "command" => repeated(&one.phrase, facts.len()),
        [one] => one.phrase.clone(),
        [first, rest @ ..] => {
            let noun = format!("more {}", first.noun);
            with_count(&first.phrase, rest.len(), &noun)
        }
    }
}

/// Appends a count of other calls, for which the phrase is cut.
fn with_count(phrase: &str, count: usize, noun: &str) -> String {
    let counted = format!(", {count} {}", plural(noun, count));
    cut(phrase, MAX_CELLS - counted.len()) + &counted
}

fn plural(noun: &str, count: usize) -> String {
    let ending = match noun {
        _ if count == 1 => "",
        _ if noun.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{noun}{ending}")
}

/// Writes the label of a batch; empty without finished calls. Paths are shown relative to `cwd`.
pub fn label(calls: &[FinishedCall<'_>], cwd: Option<&str>) -> String {
    let calls = calls.iter().map(|call| Call::of(call, cwd));
    let facts: Vec<Fact> = calls.map(|call| fact(&call)).collect();
    finish(&compose(&facts, cwd), &facts)
}

/// Returns the label by rules of a group that has none; `None` if no call of it has a result.
pub(crate) fn group_label(group: &ToolGroup, cwd: Option<&str>) -> Option<String> {
    let answered = group.calls.iter();
    let answered = answered.filter_map(|tool| Some((&tool.call, &tool.result.as_ref()?.0)));
    let texts: Vec<_> = answered
        .map(|(call, result)| (call, result, result.text()))
        .collect();
    let calls = texts.iter().map(|(call, result, text)| FinishedCall {
        name: &call.name,
        input: &call.input,
        text,
        failed: result.failed,
    });
    Some(label(&calls.collect::<Vec<_>>(), cwd)).filter(|label| !label.is_empty())
}

/// Cleans and cuts a label, and appends the number of failures unless the label mentions them.
fn finish(label: &str, facts: &[Fact]) -> String {
    let clean = clean(label);
    let clean = clean.trim_end_matches(['.', ';', ':', ' ', ',']);
    let failed = facts
        .iter()
        .filter(|fact| fact.outcome == Outcome::Bad)
        .count();
    let shown = cut(clean, MAX_CELLS);
    if failed == 0 || names_failure(&shown) {
        return shown;
    }
    let count = format!(", {failed} failed");
    format!("{}{count}", cut(clean, MAX_CELLS - count.len()))
}
