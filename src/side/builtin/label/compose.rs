//! Composes one line from facts.

use std::collections::HashSet;

use super::fact::{About, Class, Fact, Outcome};
use crate::side::builtin::clean::{cut, lower_first, upper_first};
use crate::side::builtin::names::{distinct, file_names, listed};
use crate::text::display_width;

/// Maximum width of a label with two parts, in cells.
const MAX_PAIR_CELLS: usize = 58;

/// Maximum width of several nouns, in cells. Wider lists are counted.
const MAX_NOUNS_CELLS: usize = 40;

/// Words of failures, in lower case.
const FAILURE_WORDS: &str = "failed|rejected|declined|denied|interrupted|cancelled|not found|errors\
    | issue|conflict|timed out|redirected|unknown | problems|is a directory|too large";

/// Whether a label mentions a failure.
pub(super) fn names_failure(label: &str) -> bool {
    let lowered = label.to_lowercase().replace("no issues", "");
    FAILURE_WORDS.split('|').any(|word| lowered.contains(word))
}

/// Returns the label, before it is cleaned.
pub(super) fn compose(facts: &[Fact], cwd: Option<&str>) -> String {
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
    let mut classes: Vec<Class> = facts.iter().map(|fact| fact.class).collect();
    classes.sort_unstable();
    classes.dedup();
    let groups = classes.iter().map(|class| {
        let group = facts.iter().copied().filter(|fact| fact.class == *class);
        group.collect::<Vec<&Fact>>()
    });
    let mut parts: Vec<(String, Vec<&Fact>)> =
        groups.map(|facts| (group(&facts, cwd), facts)).collect();
    // A command may show the file that another call reads.
    let mut seen = HashSet::new();
    parts.retain(|(part, _)| seen.insert(part.to_lowercase()));
    match parts.as_slice() {
        [] => String::new(),
        [(only, _)] => only.clone(),
        [(first, _), (second, facts)] => pair(first, second).unwrap_or_else(|| {
            let noun = facts.first().map_or("call", |fact| fact.noun);
            format!("{first}, {} {}", facts.len(), plural(noun, facts.len()))
        }),
        [(first, _), rest @ ..] => {
            let count = rest.iter().map(|(_, facts)| facts.len()).sum();
            format!("{first}, {count} more {}", plural("call", count))
        }
    }
}

/// Describes successes of one class.
fn group(facts: &[&Fact], cwd: Option<&str>) -> String {
    let [first, rest @ ..] = facts else {
        return String::new();
    };
    if rest.is_empty() {
        return first.phrase.clone();
    }
    match &first.about {
        About::File(_) => match paths(facts).as_slice() {
            [_] => first.phrase.clone(),
            several => {
                let is_same = rest.iter().all(|fact| fact.verb == first.verb);
                let verb = if is_same { first.verb } else { "Wrote" };
                format!("{verb} {}", file_names(several, cwd))
            }
        },
        About::Sought { .. } => searches(facts),
        About::Task(_) => tasks(facts),
        About::Act { verb, .. } => commands(facts, verb),
        About::Named(name) if first.noun == "agent" => {
            let colon = if name.is_empty() { "" } else { ": " };
            format!("{} {} agents{colon}{name}", first.verb, facts.len())
        }
        About::Named(_) if !first.verb.is_empty() => {
            let names = facts.iter().filter_map(|fact| match &fact.about {
                About::Named(name) => Some(name.clone()),
                _ => None,
            });
            format!("{} {}", first.verb, nouns(names))
        }
        About::Named(_) | About::Nothing => phrases(facts),
    }
}

/// Returns the distinct files of some facts.
fn paths<'a>(facts: &[&'a Fact]) -> Vec<&'a str> {
    distinct(facts.iter().filter_map(|fact| match &fact.about {
        About::File(path) => Some(path.as_str()),
        _ => None,
    }))
}

/// Names a few nouns, and counts more.
fn nouns(all: impl Iterator<Item = String>) -> String {
    let all = distinct(all);
    let named = listed(&all);
    match all.as_slice() {
        [first, rest @ ..] if rest.len() > 1 || display_width(&named) > MAX_NOUNS_CELLS => {
            format!("{first} and {} more", rest.len())
        }
        _ => named,
    }
}

/// Describes searches. Searches with matches come first.
fn searches(facts: &[&Fact]) -> String {
    let found: Vec<&Fact> = facts
        .iter()
        .copied()
        .filter(|fact| matches!(fact.about, About::Sought { found: true, .. }))
        .collect();
    match found.as_slice() {
        [] => {
            let phrases: HashSet<&str> = facts.iter().map(|fact| fact.phrase.as_str()).collect();
            match (facts, phrases.len()) {
                ([first, ..], 1) => first.phrase.clone(),
                ([first, ..], count) => {
                    format!("No matches in {count} {}", plural(first.noun, count))
                }
                ([], _) => String::new(),
            }
        }
        [one] if one.class == Class::Find => one.phrase.clone(),
        [first, ..] => {
            let sought = found.iter().filter_map(|fact| match &fact.about {
                About::Sought { noun, .. } => Some(noun.clone()),
                _ => None,
            });
            format!("{} {}", first.verb, nouns(sought))
        }
    }
}

/// `Completed 2 tasks, started 1`.
fn tasks(facts: &[&Fact]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for fact in facts {
        let About::Task(state) = fact.about else {
            continue;
        };
        match counts.iter_mut().find(|(known, _)| *known == state) {
            Some((_, count)) => *count += 1,
            None => counts.push((state, 1)),
        }
    }
    let parts = counts.iter().enumerate().map(|(place, (state, count))| {
        if place == 0 {
            format!("{} {count} {}", upper_first(state), plural("task", *count))
        } else {
            format!("{state} {count}")
        }
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// Describes commands. Commands with the same verb share it, as do reads of a repository.
fn commands(facts: &[&Fact], verb: &str) -> String {
    if facts.iter().all(|fact| fact.phrase == facts[0].phrase) {
        return repeated(&facts[0].phrase, facts.len());
    }
    let (mut objects, mut findings) = (Vec::new(), Vec::new());
    let (mut share_verb, mut are_looks) = (!verb.is_empty(), true);
    for fact in facts {
        let About::Act {
            verb: other,
            object,
            finding,
        } = &fact.about
        else {
            return phrases(facts);
        };
        share_verb &= other == verb && !object.is_empty();
        are_looks &= object.starts_with("git ");
        findings.push(finding.as_str());
        if !objects.contains(object) {
            objects.push(object.clone());
        }
    }
    if !share_verb && !are_looks {
        return phrases(facts);
    }
    let is_success = |finding: &&str| finding.ends_with("passed") || *finding == "no issues";
    let finding = match findings.as_slice() {
        [first, rest @ ..] if rest.iter().all(|finding| finding == first) => first,
        // All passed, with different messages.
        findings if findings.iter().all(is_success) => "passed",
        _ => "",
    };
    let comma = if finding.is_empty() { "" } else { ", " };
    let named = format!("{verb} {}{comma}{finding}", listed(&objects));
    match objects.as_slice() {
        [_] => repeated(&named, facts.len()),
        _ if fits(&named) => named,
        _ => phrases(facts),
    }
}

/// `Ran go test twice, passed`.
fn repeated(phrase: &str, count: usize) -> String {
    match (count, phrase.split_once(", ")) {
        (0 | 1, _) => phrase.to_owned(),
        (2, Some((what, finding))) => format!("{what} twice, {finding}"),
        (2, None) => format!("{phrase} twice"),
        (count, _) => format!("{phrase}, {count} times"),
    }
}

/// Describes different facts: the first, then the second if it fits, else a count.
fn phrases(facts: &[&Fact]) -> String {
    let mut distinct: Vec<&Fact> = Vec::new();
    for fact in facts {
        if !distinct.iter().any(|known| known.phrase == fact.phrase) {
            distinct.push(fact);
        }
    }
    let counted = |first: &Fact, count| {
        format!(
            "{}, {count} more {}",
            first.phrase,
            plural(first.noun, count)
        )
    };
    match distinct.as_slice() {
        [] => String::new(),
        [one] => one.phrase.clone(),
        [first, second] => pair(&first.phrase, &second.phrase).unwrap_or_else(|| counted(first, 1)),
        [first, rest @ ..] => counted(first, rest.len()),
    }
}

fn plural(noun: &str, count: usize) -> String {
    match (count, noun) {
        (1, _) => noun.to_owned(),
        (_, "search" | "fetch" | "file search") => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}
