//! Plans that are to be carried out.

/// Words with which plans are handed over.
const HANDED_OVER: &[&str] = &[
    "implement the following plan:",
    "implement this plan:",
    "execute the following plan:",
];

/// What headings begin with and what says nothing.
const PREFIXES: &[&str] = &[
    "plan:",
    "implementation plan:",
    "implementation plan -",
    "plan -",
    "plan for",
    "task:",
    "feature:",
    "goal:",
];

/// The heading of a plan, without its keys and numbers.
pub(super) fn heading(text: &str) -> Option<String> {
    let lowered = text.to_lowercase();
    let plan = HANDED_OVER
        .iter()
        .find(|words| lowered.starts_with(**words))
        .map(|words| text[words.len()..].trim_start());
    let plan = plan.or_else(|| text.starts_with("# ").then_some(text))?;
    let line = plan.lines().find(|line| !line.trim().is_empty())?;
    let mut heading = line.trim().trim_start_matches('#').trim().to_owned();
    for _ in 0..3 {
        heading = without_prefix(&heading);
    }
    let heading = without_numbers(&heading);
    Some(match heading.split_once(": ") {
        // `Fix: Empty x` is a sentence with a colon too many.
        Some((verb, rest)) if is_verb(verb) => {
            format!("{verb} {}", super::case::lowered_word(rest))
        }
        _ => heading,
    })
}

fn is_verb(word: &str) -> bool {
    matches!(
        word.to_lowercase().as_str(),
        "fix" | "add" | "refactor" | "remove" | "update" | "implement" | "test" | "document"
    )
}

fn without_prefix(heading: &str) -> String {
    let lowered = heading.to_lowercase();
    for prefix in PREFIXES {
        if lowered.starts_with(prefix) {
            return heading[prefix.len()..].trim().to_owned();
        }
    }
    // `ENT-64: …`
    if let Some((key, rest)) = heading.split_once(": ")
        && let Some((team, number)) = key.split_once('-')
        && !team.is_empty()
        && team.chars().all(|letter| letter.is_ascii_uppercase())
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        return rest.trim().to_owned();
    }
    for suffix in [" Implementation Plan", " Plan", " - Implementation Plan"] {
        if let Some(start) = heading.strip_suffix(suffix)
            && start.split_whitespace().count() >= 2
        {
            return start.to_owned();
        }
    }
    heading.to_owned()
}

/// Without `(#242)`.
fn without_numbers(heading: &str) -> String {
    match heading.rfind("(#") {
        Some(at) if heading.ends_with(')') => heading[..at].trim().to_owned(),
        _ => heading.to_owned(),
    }
}
