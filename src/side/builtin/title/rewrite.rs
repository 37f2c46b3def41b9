//! From a sentence to what it asks for.

use super::frames::{BROKEN, DROPPED, FAULTS, SHOWS, STATEMENTS, TURNED};
use super::words::informative;
use crate::side::builtin::shell::is_verb;

/// So often a sentence is looked at anew.
const ROUNDS: usize = 5;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) text: String,
    /// It is asked for, not only told.
    pub(super) is_imperative: bool,
}

/// What a prompt asks for: its first sentence, or a later one if the first only tells something
/// and the later one asks for something concrete.
pub(super) fn ask(sentences: &[String]) -> Option<Asked> {
    let mut asked: Vec<Asked> = sentences
        .iter()
        .map(|sentence| of_sentence(sentence))
        .collect();
    asked.retain(|asked| !asked.text.is_empty());
    let first = asked.first()?;
    let only_tells = !first.is_imperative || informative(&first.text) < 2;
    let starts_as_statement = sentences.first().is_some_and(|sentence| {
        let lowered = sentence.to_lowercase();
        STATEMENTS.iter().any(|start| lowered.starts_with(start))
    });
    let concrete = asked[1..].iter().find(|later| {
        later.is_imperative && informative(&later.text) >= 3 && !refers_back(&later.text)
    });
    match concrete {
        Some(later) if only_tells && (starts_as_statement || informative(&first.text) < 2) => {
            Some(later.clone())
        }
        _ => Some(first.clone()),
    }
}

/// Whether what is asked for can only be understood with what was said before.
fn refers_back(text: &str) -> bool {
    let second = text
        .split_whitespace()
        .nth(1)
        .unwrap_or_default()
        .to_lowercase();
    matches!(
        second.as_str(),
        "this" | "it" | "that" | "these" | "those" | "them"
    )
}

fn of_sentence(sentence: &str) -> Asked {
    let plain = without_addresses(sentence);
    let mut text = plain
        .trim()
        .trim_end_matches(['.', '?', '!', ' '])
        .to_owned();
    let mut turned = false;
    text = without_reason(&text);
    for _ in 0..ROUNDS {
        let before = text.clone();
        text = without_frame(&text);
        if let Some(other) = turn(&text) {
            text = other;
            turned = true;
        }
        if text == before {
            break;
        }
    }
    if let Some(found) = when_running(&text)
        .or_else(|| ongoing(&text))
        .or_else(|| look_and_do(&text))
    {
        return Asked {
            text: found,
            is_imperative: true,
        };
    }
    if let Some(reference) = lone_reference(&text) {
        return Asked {
            text: reference,
            is_imperative: true,
        };
    }
    // `check, I think …` does not say what.
    let has_object = !text
        .split_whitespace()
        .next()
        .is_some_and(|first| first.ends_with(','));
    if (turned || begins_with_verb(&text)) && has_object {
        return Asked {
            text,
            is_imperative: true,
        };
    }
    if let Some(fixed) = broken(&text) {
        return Asked {
            text: fixed,
            is_imperative: true,
        };
    }
    Asked {
        text,
        is_imperative: false,
    }
}

fn first_word(text: &str) -> String {
    text.split_whitespace()
        .next()
        .unwrap_or_default()
        .trim_matches(|letter: char| !letter.is_alphanumeric())
        .to_lowercase()
}

/// Whether a verb comes first, or second after an adverb.
fn begins_with_verb(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    is_verb(&first_word(first))
        || first.ends_with("ly") && is_verb(&first_word(words.next().unwrap_or_default()))
}

/// What follows `prefix`, if a word ends there.
fn after<'a>(text: &'a str, lowered: &str, prefix: &str) -> Option<&'a str> {
    // Some letters change their length in small letters.
    if lowered.len() != text.len() || !lowered.starts_with(prefix) {
        return None;
    }
    let rest = text.get(prefix.len()..)?;
    let ends = rest.is_empty()
        || rest.starts_with(|letter: char| letter.is_whitespace() || ",:;!-–—.".contains(letter))
        || prefix.ends_with([':', '-']);
    ends.then(|| {
        rest.trim_start_matches(|letter: char| letter.is_whitespace() || ",:;!–—.".contains(letter))
    })
}

fn without_frame(text: &str) -> String {
    let lowered = text.to_lowercase();
    let mut best: Option<&str> = None;
    for frame in DROPPED {
        if let Some(rest) = after(text, &lowered, frame)
            && best.is_none_or(|best| rest.len() < best.len())
        {
            best = Some(rest);
        }
    }
    best.filter(|rest| !rest.is_empty()).map_or_else(
        || text.to_owned(),
        |rest| rest.trim_start_matches("- ").to_owned(),
    )
}

fn turn(text: &str) -> Option<String> {
    let lowered = text.to_lowercase();
    let mut best: Option<(&str, &str)> = None;
    for (from, to) in TURNED {
        if let Some(rest) = after(text, &lowered, from)
            && best.is_none_or(|(_, best)| rest.len() < best.len())
        {
            best = Some((to, rest));
        }
    }
    let (to, rest) = best.filter(|(_, rest)| !rest.is_empty())?;
    let rest = rest.trim_start_matches("- ");
    let told = match to.strip_suffix(" how") {
        // `how does X work` asks for X.
        Some(verb) => match rest
            .strip_suffix(" works")
            .or_else(|| rest.strip_suffix(" work"))
        {
            Some(what) => format!("{verb} {what}"),
            None => match rest.split_once(" works ") {
                Some((what, more)) => format!("{verb} {what} {more}"),
                None => format!("{to} {rest}"),
            },
        },
        None => match to.strip_suffix(" what") {
            Some(verb) => match [" is doing", " does", " do", " means", " mean"]
                .iter()
                .find_map(|end| rest.strip_suffix(end))
            {
                Some(what) => format!("{verb} {what}"),
                None => format!("{to} {rest}"),
            },
            None => format!("{to} {rest}"),
        },
    };
    let told = told.trim().to_owned();
    // `got to`, `this is why` are no reports of things.
    let is_odd = *from_first(&told) == *"fix"
        && matches!(rest.split_whitespace().next(), Some("to" | "it" | "that"));
    (!is_odd && told.to_lowercase() != lowered).then_some(told)
}

fn from_first(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// Without `based on F, …`.
fn without_reason(text: &str) -> String {
    let lowered = text.to_lowercase();
    if !lowered.starts_with("based on ") || lowered.len() != text.len() {
        return text.to_owned();
    }
    let ends = [", ", " we ", " i ", " can you ", " please "];
    let end = ends
        .iter()
        .filter_map(|mark| lowered.find(mark).map(|at| (at, *mark)))
        .min_by_key(|(at, _)| *at);
    match end {
        Some((at, ", ")) => text[at + 2..].to_owned(),
        Some((at, _)) => text[at + 1..].to_owned(),
        None => text.to_owned(),
    }
}

/// `when running X I get Y` asks to fix Y in X.
fn when_running(text: &str) -> Option<String> {
    let lowered = text.to_lowercase();
    let rest = [
        "when running ",
        "when i run ",
        "when we run ",
        "if i run ",
        "running ",
    ]
    .iter()
    .find_map(|start| {
        lowered
            .starts_with(start)
            .then(|| text.get(start.len()..))?
    })?;
    let lowered_rest = rest.to_lowercase();
    let (at, mark) = [" i get ", " we get ", " i'm getting ", " it gives "]
        .iter()
        .find_map(|mark| lowered_rest.find(mark).map(|at| (at, mark)))?;
    let what = rest.get(..at)?;
    let fault = rest
        .get(at + mark.len()..)?
        .split([',', ';'])
        .next()?
        .trim();
    let fault = fault
        .strip_prefix("an ")
        .or_else(|| fault.strip_prefix("a "))
        .unwrap_or(fault);
    Some(format!("fix {fault} in {}", what.trim_end_matches(',')))
}

/// `we are changing X` asks to change X.
fn ongoing(text: &str) -> Option<String> {
    let lowered = text.to_lowercase();
    let starts = ["we are ", "we're ", "i am ", "i'm ", "start ", ""];
    starts.iter().find_map(|start| {
        let rest = lowered
            .starts_with(start)
            .then(|| text.get(start.len()..))??;
        let (word, more) = rest.split_once(' ')?;
        let stem = word.to_lowercase();
        let stem = stem.strip_suffix("ing")?;
        let doubled =
            stem.len() > 2 && stem.as_bytes()[stem.len() - 1] == stem.as_bytes()[stem.len() - 2];
        let forms = [
            stem.to_owned(),
            format!("{stem}e"),
            if doubled {
                stem[..stem.len() - 1].to_owned()
            } else {
                stem.to_owned()
            },
        ];
        let verb = forms.into_iter().find(|form| is_verb(form))?;
        Some(format!("{verb} {more}"))
    })
}

/// `look into X and V Y` asks to V Y.
fn look_and_do(text: &str) -> Option<String> {
    let lowered = text.to_lowercase();
    if !lowered.starts_with("look into ") {
        return None;
    }
    if let Some(at) = lowered.find(" and ")
        && let Some(rest) = text.get(at + 5..)
        && is_verb(&first_word(rest))
        && informative(rest) >= 2
        && !refers_back(rest)
    {
        return Some(rest.to_owned());
    }
    text.get(10..).map(|rest| format!("investigate {rest}"))
}

/// `PR 104` asks for a review, `ENT-108` for work.
fn lone_reference(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["PR", number] | ["PR", "PR", number] | ["review" | "Review", "PR", "PR", number] => {
            Some(format!("review PR {number}"))
        }
        [key] if is_key(key) => Some(format!("work on {key}")),
        ["review" | "Review", "linear" | "jira", key, ..]
            if is_key(key.trim_end_matches(',')) && words.len() > 3 && text.contains("work on") =>
        {
            Some(format!("work on {}", key.trim_end_matches(',')))
        }
        _ => None,
    }
}

pub(super) fn is_key(word: &str) -> bool {
    word.split_once('-').is_some_and(|(team, number)| {
        team.len() >= 2
            && team.chars().all(|letter| letter.is_ascii_uppercase())
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// A statement about something that is broken asks to fix it.
fn broken(text: &str) -> Option<String> {
    let lowered = text.to_lowercase();
    if lowered.len() != text.len() {
        return None;
    }
    let clause_end = lowered.find(", ").unwrap_or(lowered.len());
    let (clause, rest) = (&text[..clause_end], &lowered[..clause_end]);
    if let Some(end) = BROKEN.iter().find(|end| rest.ends_with(**end)) {
        return Some(format!(
            "fix {}",
            without_determiner(&clause[..clause.len() - end.len()])
        ));
    }
    for shows in SHOWS {
        if let Some(at) = rest.find(shows) {
            let what = without_determiner(&clause[..at]);
            let fault = &clause[at + shows.len()..];
            if has_fault(fault) {
                return Some(format!("fix {what} {fault}"));
            }
        }
    }
    has_fault(text).then(|| format!("fix {}", without_determiner(text)))
}

fn has_fault(text: &str) -> bool {
    let lowered = text.to_lowercase();
    if lowered.contains(" not ") && lowered.contains("correctly") {
        return true;
    }
    lowered
        .split(|letter: char| !letter.is_alphanumeric() && letter != '\'')
        .any(|word| FAULTS.contains(&word))
}

fn without_determiner(text: &str) -> &str {
    let determiners = [
        "the ", "The ", "our ", "Our ", "my ", "My ", "this ", "This ", "a ", "an ", "A ",
    ];
    let shown = without_showing(text);
    let shown = ["for ", "For ", "in ", "In ", "with ", "With "]
        .iter()
        .find_map(|place| shown.strip_prefix(place))
        .unwrap_or(shown);
    determiners
        .iter()
        .find_map(|word| shown.strip_prefix(word))
        .unwrap_or(shown)
}

/// What is shown, without the words that point at it.
fn without_showing(text: &str) -> &str {
    let words = [
        "Here's ",
        "here's ",
        "Here is ",
        "here is ",
        "Here are ",
        "here are ",
        "There's ",
        "there's ",
        "There is ",
        "there is ",
        "There are ",
        "there are ",
    ];
    words
        .iter()
        .find_map(|words| text.strip_prefix(words))
        .unwrap_or(text)
}

/// Addresses as what they stand for, long paths by their last part.
fn without_addresses(sentence: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in sentence.split_whitespace() {
        let bare = word.trim_matches(['<', '>', '(', ')', ',']);
        let named = if bare.contains("://") {
            let Some(named) = named_address(bare) else {
                continue;
            };
            named
        } else if bare.matches('/').count() >= 3 && !bare.contains('`') {
            bare.trim_end_matches('/')
                .rsplit('/')
                .next()
                .unwrap_or_default()
                .to_owned()
        } else {
            word.to_owned()
        };
        // `PR https://…/pull/104` names it twice.
        let is_repeated = named.split(' ').next().is_some_and(|first| {
            words
                .last()
                .is_some_and(|last| last == first && (first == "PR" || first == "issue"))
        });
        if is_repeated {
            words.pop();
        }
        words.push(named);
    }
    words.join(" ")
}

fn named_address(url: &str) -> Option<String> {
    let path = url.split(['?', '#']).next()?;
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let after = |name: &str| {
        parts
            .iter()
            .position(|part| *part == name)
            .and_then(|at| parts.get(at + 1).map(|next| (at, *next)))
    };
    if let Some((_, number)) = after("pull").or_else(|| after("merge_requests")) {
        return Some(format!("PR {number}"));
    }
    if let Some((_, number)) =
        after("issues").filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()))
    {
        return Some(format!("issue {number}"));
    }
    let (at, key) = after("issue").or_else(|| after("browse"))?;
    let slug = parts
        .get(at + 2)
        .map(|slug| slug.replace('-', " "))
        .unwrap_or_default();
    Some(format!("{key} {slug}").trim().to_owned())
}
