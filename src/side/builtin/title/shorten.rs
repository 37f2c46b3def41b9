//! Titles of three to seven words.

use super::words::is_function_word;

/// The most words.
const MOST: usize = 7;

/// The fewest words behind which a title is cut.
const FEWEST: usize = 3;

/// Beginnings of what follows the main clause. Each stands behind a blank.
const BOUNDARIES: &[&str] = &[
    "and i ",
    "and then ",
    "because ",
    "so that ",
    "but ",
    "which ",
    "- ",
    "– ",
    "— ",
    "(",
    "it's ",
    "i'd ",
    "so i ",
    "so we ",
    "since ",
    "i think ",
    "in order to ",
    "can you ",
    "can we ",
    "and if ",
    "and see ",
    "for example",
    "e.g.",
    "i.e.",
    "instead of ",
    "would we ",
    "and second ",
    "and make sure",
];

/// Words that say nothing where they stand.
const FILLERS: &[&str] = &[
    "in this codebase",
    "in the codebase",
    "in this repo",
    "in this repository",
    "in our codebase",
    "again",
    "for me",
    "quickly",
    "please",
    "right now",
    "currently",
    "at the moment",
    "for now",
    "as well",
    "in claude code",
    "together",
    "a bit",
    "basically",
    "simply",
    "just",
];

/// Words that may be missing if there are too many.
const DROPPABLE: &[&str] = &[
    "a", "an", "the", "this", "that", "these", "those", "we", "you", "i", "me", "us", "our", "my",
    "your", "have", "has", "is", "are", "was", "were", "be", "been", "it", "any", "some", "also",
    "of", "there", "still", "really",
];

/// Words that begin a clause.
const CLAUSE_WORDS: &[&str] = &["if", "when", "while", "before", "after"];

/// Words of which a clause tells something.
const SUBJECTS: &[&str] = &["I", "i", "we", "you", "it"];

/// Words that follow a verb and say nothing.
const DETERMINERS: &[&str] = &[
    "a", "an", "the", "my", "our", "your", "this", "these", "those", "me",
];

/// A title of a few words.
pub(super) fn shorten(text: &str) -> String {
    let plain = text.replace(['`', '"', '“', '”', '*'], "");
    let plain = without_fillers(&plain);
    let mut words: Vec<&str> = plain.split_whitespace().collect();
    let asks = words
        .get(1)
        .is_some_and(|word| matches!(*word, "why" | "what" | "how" | "where"));
    let object = 1 + usize::from(asks);
    if words.len() > object + 1 && DETERMINERS.contains(&words[object].to_lowercase().as_str()) {
        words.remove(object);
    }
    let joined = words.join(" ");
    let clause = main_clause(&joined);
    let mut words: Vec<&str> = clause.split_whitespace().collect();
    if words.len() > MOST {
        let mut before = "";
        words.retain(|word| {
            let is_first = before.is_empty();
            // `if I start` needs its `I`.
            let is_subject = CLAUSE_WORDS.contains(&before) && SUBJECTS.contains(word);
            before = word;
            is_first || is_subject || !DROPPABLE.contains(&word.to_lowercase().as_str())
        });
        words.truncate(MOST);
    }
    while words.len() > 2
        && words.last().is_some_and(|word| {
            is_function_word(word.trim_matches(|letter: char| !letter.is_alphanumeric()))
        })
    {
        words.pop();
    }
    words
        .join(" ")
        .trim_end_matches([',', ';', ':', '.', '-', '(', ' '])
        .to_owned()
}

fn without_fillers(text: &str) -> String {
    let mut text = format!("{text} ");
    for filler in FILLERS {
        let lowered = text.to_lowercase();
        if lowered.len() != text.len() {
            break;
        }
        let spaced = format!(" {filler}");
        if let Some(at) = lowered.find(&spaced) {
            let end = at + spaced.len();
            if text[end..].starts_with([' ', ',', '?']) {
                text.replace_range(at..end, "");
            }
        }
    }
    text.trim().to_owned()
}

/// The text up to the last boundary that leaves enough words, and not too many.
fn main_clause(text: &str) -> &str {
    let lowered = text.to_lowercase();
    if lowered.len() != text.len() {
        return text;
    }
    let words_before = |at: usize| text[..at].split_whitespace().count();
    let mut cuts: Vec<usize> = lowered.match_indices(", ").map(|(at, _)| at).collect();
    cuts.extend(lowered.match_indices(": ").map(|(at, _)| at));
    for boundary in BOUNDARIES {
        let spaced = format!(" {boundary}");
        cuts.extend(lowered.match_indices(&spaced).map(|(at, _)| at));
    }
    cuts.sort_unstable();
    // A verb and the name of a file say enough.
    let fewest = if names_file(text) { 2 } else { FEWEST };
    let is_right = |at: &&usize| (fewest..=MOST).contains(&words_before(**at));
    let last = cuts.iter().rfind(is_right);
    let whole = text.split_whitespace().count();
    match (last, whole > MOST) {
        (Some(at), true) => &text[..*at],
        // A short text is cut only where a new clause begins for sure.
        (Some(_), false) | (None, _) => cuts
            .iter()
            .find(|at| words_before(**at) >= fewest)
            .map_or(text, |at| &text[..*at]),
    }
}

/// Whether the second word is the name of a file.
fn names_file(text: &str) -> bool {
    let second = text.split_whitespace().nth(1).unwrap_or_default();
    let name = second.trim_end_matches([',', ':']);
    name.contains('/')
        && name
            .rsplit_once('.')
            .is_some_and(|(_, kind)| (1..=4).contains(&kind.len()))
}
