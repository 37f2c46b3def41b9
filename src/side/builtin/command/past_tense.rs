//! Puts the description of a command into the past tense.

use crate::side::builtin::clean::{cut, lower_first};

/// Maximum width of a description, in cells.
const MAX_CELLS: usize = 56;

/// Pairs of a verb and its past tense.
const VERBS: &str = include_str!("../words/verbs.txt");

/// Puts a description into the past tense; `None` if its first word is not a known verb.
pub(super) fn in_the_past(description: &str) -> Option<String> {
    let line = description.lines().next()?.trim();
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    // Some agents repeat the command as its description.
    let signs = [" && ", " || ", " | ", "; "];
    if first.ends_with(':') || signs.iter().any(|sign| line.contains(sign)) {
        return None;
    }
    let mut phrase = past_of(first)?.to_owned();
    let mut follows_joint = false;
    for word in rest.split_whitespace() {
        phrase.push(' ');
        match past_of(word).filter(|_| follows_joint && word.starts_with(char::is_lowercase)) {
            Some(past) => phrase.push_str(&lower_first(past)),
            None => phrase.push_str(word),
        }
        follows_joint = matches!(word, "and" | "then" | "&");
    }
    let phrase = phrase.replacen("Searched for for ", "Searched for ", 1);
    let phrase = phrase.replacen("Looked for if ", "Checked if ", 1);
    Some(cut(phrase.trim_end_matches('.'), MAX_CELLS))
}

/// Returns the capitalised past tense of a verb.
pub(in crate::side::builtin) fn past_of(word: &str) -> Option<&'static str> {
    let word = word.trim_end_matches([',', ':']).to_lowercase();
    let mut verbs = VERBS.lines().filter(|line| !line.starts_with('#'));
    verbs.find_map(|line| line.strip_prefix(&word)?.strip_prefix(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_become_reports_without_claims() {
        let table = [
            ("List files in docs", Some("Listed files in docs")),
            (
                "Find remaining conflicts",
                Some("Searched for remaining conflicts"),
            ),
            (
                "Verify that all tests pass",
                Some("Checked that all tests pass"),
            ),
            (
                "Switch to main and pull latest",
                Some("Switched to main and pulled latest"),
            ),
            ("Run: cat big.log", None),
            ("Fix the tests", None),
            ("All tests passed", None),
            ("", None),
        ];
        for (description, expected) in table {
            assert_eq!(
                in_the_past(description).as_deref(),
                expected,
                "{description}"
            );
        }
    }
}
