//! From what somebody was about to do to what they did.

use super::verbs::PAST;
use crate::side::builtin::clean::cut;

/// The widest description.
const WIDEST: usize = 56;

/// The description of a command in the past tense; nothing if its first word is no verb of which
/// more than the try is known.
pub(super) fn in_the_past(description: &str) -> Option<String> {
    let line = description.lines().next()?.trim();
    // Some agents give the command itself.
    if [" && ", " || ", " | ", "; "]
        .iter()
        .any(|sign| line.contains(sign))
    {
        return None;
    }
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    let past = past_of(first)?;
    let mut told = past.to_owned();
    let mut follows_joint = false;
    for word in rest.split_whitespace() {
        told.push(' ');
        match past_of(word).filter(|_| follows_joint && word.starts_with(char::is_lowercase)) {
            Some(past) => told.push_str(&lowered_first(past)),
            None => told.push_str(word),
        }
        follows_joint = matches!(word, "and" | "then" | "&");
    }
    let told = told.replacen("Searched for for ", "Searched for ", 1);
    let told = told.replacen("Looked for if ", "Checked if ", 1);
    Some(cut(told.trim_end_matches('.'), WIDEST))
}

fn past_of(word: &str) -> Option<&'static str> {
    let word = word.trim_end_matches([',', ':']).to_lowercase();
    PAST.iter()
        .find(|(verb, _)| *verb == word)
        .map(|(_, past)| *past)
}

/// A text whose first letter is small, unless the first word is spelled in a way of its own.
pub(in crate::side::builtin) fn lowered_first(text: &str) -> String {
    let first = text.split([' ', ',', ':']).next().unwrap_or_default();
    let mut letters = first.chars();
    letters.next();
    let rest = letters.as_str();
    let has_own_spelling =
        rest.contains(|letter: char| letter.is_uppercase() || "._/-#0123456789".contains(letter));
    let is_single = rest.is_empty() && first != "A";
    if has_own_spelling || is_single {
        return text.to_owned();
    }
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(letters).collect()
    })
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

    #[test]
    fn names_keep_their_spelling() {
        assert_eq!(lowered_first("Searched for x"), "searched for x");
        assert_eq!(lowered_first("README.md not found"), "README.md not found");
        assert_eq!(lowered_first("LoginForm broke"), "LoginForm broke");
    }
}
