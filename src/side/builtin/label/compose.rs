//! From facts to one line.

use std::collections::HashSet;

use super::fact::{About, Class, Fact, Verdict};
use crate::side::builtin::names::file_names;
use crate::side::builtin::shell::lowered_first;
use crate::text::display_width;

/// Two parts are told together up to this width.
const WIDEST_PAIR: usize = 58;

/// Several nouns are told up to this width.
const WIDEST_NOUNS: usize = 40;

/// Words that tell of a failure, in small letters.
const FAILURE_WORDS: &[&str] = &[
    "failed",
    "rejected",
    "declined",
    "denied",
    "interrupted",
    "cancelled",
    "not found",
    "errors in output",
    " issue",
    "conflict",
    "timed out",
    "redirected",
    "unknown ",
    " problems",
    "errors",
    "is a directory",
    "too large",
];

/// Whether a label says that something went wrong.
pub(super) fn tells_of_failure(label: &str) -> bool {
    let lowered = label.to_lowercase();
    let lowered = lowered.replace("no issues", "");
    FAILURE_WORDS.iter().any(|word| lowered.contains(word))
}

/// The label, before it is cleaned.
pub(super) fn compose(facts: &[Fact], cwd: Option<&str>) -> String {
    let named: Vec<&Fact> = facts
        .iter()
        .filter(|fact| fact.verdict != Verdict::Cancelled)
        .collect();
    let Some(first) = facts.first() else {
        return String::new();
    };
    if named.is_empty() {
        return match facts {
            [_] => first.phrase.clone(),
            several => format!("{} calls cancelled", several.len()),
        };
    }
    let named = without_bookkeeping(named);
    let (good, bad): (Vec<&Fact>, Vec<&Fact>) =
        named.iter().partition(|fact| fact.verdict == Verdict::Good);
    match (good.is_empty(), bad.as_slice()) {
        (_, []) => groups(&good, cwd),
        (true, bad) => all_failed(bad, cwd),
        (false, [one]) => {
            let succeeded = groups(&good, cwd);
            let comma = if succeeded.contains(',') { ";" } else { "," };
            let told = format!("{succeeded}{comma} {}", lowered_first(&one.phrase));
            if fits(&told) {
                told
            } else {
                mixed(&good, 1, cwd)
            }
        }
        (false, several) => {
            let told = format!(
                "{}, {}",
                groups(&good, cwd),
                lowered_first(&all_failed(several, cwd))
            );
            if fits(&told) {
                told
            } else {
                mixed(&good, several.len(), cwd)
            }
        }
    }
}

fn fits(label: &str) -> bool {
    display_width(label) <= WIDEST_PAIR
}

fn mixed(good: &[&Fact], failed: usize, cwd: Option<&str>) -> String {
    let told = format!("{}, {failed} failed", groups(good, cwd));
    if fits(&told) {
        return told;
    }
    // What succeeded is cut, never what failed.
    let succeeded = groups(good, cwd);
    let succeeded = crate::side::builtin::clean::cut(&succeeded, WIDEST_PAIR - 11);
    format!("{succeeded}, {failed} failed")
}

/// Lists of things to do are not told where anything else happened.
fn without_bookkeeping(facts: Vec<&Fact>) -> Vec<&Fact> {
    let is_other = |fact: &&Fact| !matches!(fact.class, Class::Todo | Class::Task);
    if facts.iter().any(is_other) {
        return facts
            .into_iter()
            .filter(|fact| is_other(fact) || fact.verdict == Verdict::Bad)
            .collect();
    }
    facts
}

fn all_failed(facts: &[&Fact], cwd: Option<&str>) -> String {
    let [first, rest @ ..] = facts else {
        return String::new();
    };
    if rest.iter().all(|fact| fact.phrase == first.phrase) && rest.len() <= 1 {
        return match rest {
            [] => first.phrase.clone(),
            _ => format!("{} twice", first.phrase),
        };
    }
    let same = |test: fn(&Fact, &Fact) -> bool| rest.iter().all(|fact| test(fact, first));
    let count = facts.len();
    if let About::Act { verb, .. } = &first.about
        && !verb.is_empty()
        && same(|fact, first| match (&fact.about, &first.about) {
            (
                About::Act {
                    verb: one,
                    object: what,
                    ..
                },
                About::Act {
                    verb: other,
                    object,
                    ..
                },
            ) => one == other && what == object,
            _ => false,
        })
    {
        return format!("{}, {count} times", first.phrase);
    }
    if same(|fact, first| fact.noun == first.noun && fact.class == first.class) {
        let noun = plural(first.noun, count);
        let ending = ending(first);
        let paths = distinct_paths(facts);
        if !paths.is_empty() {
            let told = format!("{count} {noun} {ending}: {}", file_names(&paths, cwd));
            if fits(&told) {
                return told;
            }
        }
        return format!("{count} {noun} {ending}");
    }
    let told = format!(
        "{}, {}",
        first.phrase,
        rest.iter()
            .map(|fact| lowered_first(&fact.phrase))
            .collect::<Vec<_>>()
            .join(", ")
    );
    if count == 2 && fits(&told) {
        return told;
    }
    format!("{count} calls failed")
}

/// How the calls ended, in one word.
fn ending(fact: &Fact) -> &'static str {
    let words = ["rejected", "declined", "denied", "interrupted"];
    let found = words.into_iter().find(|word| fact.phrase.contains(word));
    found.unwrap_or("failed")
}

/// Facts of one class together, the classes in their order.
fn groups(facts: &[&Fact], cwd: Option<&str>) -> String {
    let mut classes: Vec<Class> = facts.iter().map(|fact| fact.class).collect();
    classes.sort_unstable();
    classes.dedup();
    let mut parts: Vec<(String, usize, &'static str)> = classes
        .iter()
        .map(|class| {
            let of_class: Vec<&Fact> = facts
                .iter()
                .copied()
                .filter(|fact| fact.class == *class)
                .collect();
            let noun = of_class.first().map_or("call", |fact| fact.noun);
            (group(&of_class, cwd), of_class.len(), noun)
        })
        .collect();
    // The same was done in two ways: a file was shown by a command, and read.
    let mut told = HashSet::new();
    parts.retain(|(part, _, _)| told.insert(part.to_lowercase()));
    match parts.as_slice() {
        [] => String::new(),
        [(only, _, _)] => only.clone(),
        [(first, _, _), (second, count, noun)] => {
            let comma = if first.contains(',') || second.contains(',') {
                ";"
            } else {
                ","
            };
            let told = format!("{first}{comma} {}", lowered_first(second));
            if fits(&told) {
                return told;
            }
            format!("{first}, {count} {}", plural(noun, *count))
        }
        [(first, _, _), rest @ ..] => {
            let count: usize = rest.iter().map(|(_, count, _)| count).sum();
            format!("{first}, {count} more {}", plural("call", count))
        }
    }
}

/// Several successes of one class.
fn group(facts: &[&Fact], cwd: Option<&str>) -> String {
    let [first, rest @ ..] = facts else {
        return String::new();
    };
    if rest.is_empty() {
        return first.phrase.clone();
    }
    match &first.about {
        About::File(_) => {
            let paths = distinct_paths(facts);
            let verb = if facts.iter().all(|fact| fact.verb == first.verb) {
                first.verb
            } else {
                "Wrote"
            };
            match paths.as_slice() {
                [_] => first.phrase.clone(),
                several => format!("{verb} {}", file_names(several, cwd)),
            }
        }
        About::Sought { .. } => sought(facts),
        About::Task(_) => tasks(facts),
        About::Act { .. } => acts(facts),
        About::Named(name) if first.noun == "agent" => {
            let colon = if name.is_empty() { "" } else { ": " };
            format!("{} {} agents{colon}{name}", first.verb, facts.len())
        }
        About::Named(_) if !first.verb.is_empty() => {
            let nouns = nouns(facts.iter().filter_map(|fact| match &fact.about {
                About::Named(name) => Some(name.as_str()),
                _ => None,
            }));
            format!("{} {nouns}", first.verb)
        }
        About::Named(_) | About::Nothing => phrases(facts),
    }
}

fn distinct_paths<'a>(facts: &[&'a Fact]) -> Vec<&'a str> {
    let mut paths: Vec<&str> = Vec::new();
    for fact in facts {
        if let About::File(path) = &fact.about
            && !paths.contains(&path.as_str())
        {
            paths.push(path);
        }
    }
    paths
}

/// A few nouns by name, more of them by number.
fn nouns<'a>(all: impl Iterator<Item = &'a str>) -> String {
    let mut distinct: Vec<&str> = Vec::new();
    for noun in all {
        if !distinct.contains(&noun) {
            distinct.push(noun);
        }
    }
    match distinct.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [one, other] if display_width(one) + display_width(other) + 5 <= WIDEST_NOUNS => {
            format!("{one} and {other}")
        }
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    }
}

/// What was found leads.
fn sought(facts: &[&Fact]) -> String {
    let found = |fact: &&&Fact| matches!(fact.about, About::Sought { found: true, .. });
    let noun = |fact: &&Fact| match &fact.about {
        About::Sought { noun, .. } => noun.clone(),
        _ => String::new(),
    };
    let hits: Vec<&Fact> = facts.iter().filter(found).copied().collect();
    match hits.as_slice() {
        [] => {
            let mut missed: Vec<String> = facts.iter().map(noun).collect();
            missed.dedup();
            match missed.as_slice() {
                [one] => facts
                    .first()
                    .map_or_else(|| one.clone(), |fact| fact.phrase.clone()),
                several => format!(
                    "No matches in {} {}",
                    several.len(),
                    plural(facts.first().map_or("search", |fact| fact.noun), 2)
                ),
            }
        }
        [one] if one.class == Class::Find => one.phrase.clone(),
        hits => {
            let names: Vec<String> = hits.iter().map(noun).collect();
            let verb = hits.first().map_or("Searched for", |fact| fact.verb);
            format!("{verb} {}", nouns(names.iter().map(String::as_str)))
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
    let parts = counts.iter().enumerate().map(|(number, (state, count))| {
        if number == 0 {
            format!(
                "{} {count} {}",
                super::mcp::capitalised(state),
                plural("task", *count)
            )
        } else {
            format!("{state} {count}")
        }
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// Commands: those with the same verb share it.
fn acts(facts: &[&Fact]) -> String {
    let [first, rest @ ..] = facts else {
        return String::new();
    };
    if rest.iter().all(|fact| fact.phrase == first.phrase) {
        return match rest.len() {
            1 => twice(first),
            more => format!("{}, {} times", first.phrase, more + 1),
        };
    }
    let About::Act { verb, .. } = &first.about else {
        return phrases(facts);
    };
    if let Some(looks) = looks_at_git(facts) {
        return looks;
    }
    let same_verb = facts.iter().all(
        |fact| matches!(&fact.about, About::Act { verb: other, object, .. } if other == verb && !object.is_empty()),
    );
    if !same_verb || verb.is_empty() {
        return phrases(facts);
    }
    let mut objects: Vec<String> = Vec::new();
    let mut findings: Vec<&str> = Vec::new();
    for fact in facts {
        if let About::Act {
            object, finding, ..
        } = &fact.about
        {
            if !objects.contains(object) {
                objects.push(object.clone());
            }
            findings.push(finding);
        }
    }
    let agree = findings.windows(2).all(|pair| pair.first() == pair.last());
    let finding = match findings.first() {
        Some(finding) if agree && !finding.is_empty() => format!(", {finding}"),
        // Each passed in its own way.
        _ if findings.iter().all(|finding| is_success(finding)) => ", passed".to_owned(),
        _ => String::new(),
    };
    if let [only] = objects.as_slice() {
        let times = if facts.len() == 2 {
            "twice".to_owned()
        } else {
            format!("{} times", facts.len())
        };
        return format!("{verb} {only} {times}{finding}");
    }
    let told = format!("{verb} {}{finding}", listed(&objects));
    if display_width(&told) <= 60 {
        told
    } else {
        phrases(facts)
    }
}

/// `Checked git status, diff and log`.
fn looks_at_git(facts: &[&Fact]) -> Option<String> {
    let About::Act { verb, .. } = &facts.first()?.about else {
        return None;
    };
    let mut objects: Vec<String> = Vec::new();
    for fact in facts {
        let About::Act { object, .. } = &fact.about else {
            return None;
        };
        let bare = object.strip_prefix("git ")?.to_owned();
        if !objects.contains(&bare) {
            objects.push(bare);
        }
    }
    let told = format!("{verb} git {}", listed(&objects));
    (objects.len() > 1 && display_width(&told) <= 60).then_some(told)
}

fn is_success(finding: &str) -> bool {
    finding.ends_with("passed") || finding == "no issues"
}

fn twice(fact: &Fact) -> String {
    match fact.phrase.split_once(", ") {
        Some((what, finding)) => format!("{what} twice, {finding}"),
        None => format!("{} twice", fact.phrase),
    }
}

/// `a, b and c`.
pub(in crate::side::builtin) fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [start @ .., last] => format!("{} and {last}", start.join(", ")),
    }
}

/// Different things: the first, the second if there is room, else a number.
fn phrases(facts: &[&Fact]) -> String {
    let mut distinct: Vec<&Fact> = Vec::new();
    for fact in facts {
        if !distinct.iter().any(|known| known.phrase == fact.phrase) {
            distinct.push(fact);
        }
    }
    match distinct.as_slice() {
        [] => String::new(),
        [one] => one.phrase.clone(),
        [first, rest @ ..] => {
            let comma = if first.phrase.contains(',') { ";" } else { "," };
            let pair = format!("{}{comma} {}", first.phrase, lowered_first(&rest[0].phrase));
            if rest.len() == 1 && fits(&pair) {
                return pair;
            }
            format!(
                "{}, {} more {}",
                first.phrase,
                rest.len(),
                plural(first.noun, rest.len())
            )
        }
    }
}

fn plural(noun: &str, count: usize) -> String {
    match (count, noun) {
        (1, _) => noun.to_owned(),
        (_, "search" | "fetch" | "file search") => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}
