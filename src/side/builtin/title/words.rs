//! Which words say something.

/// Words that hold others together.
const FUNCTION_WORDS: &[&str] = &[
    "a",
    "an",
    "the",
    "this",
    "that",
    "these",
    "those",
    "of",
    "in",
    "on",
    "at",
    "to",
    "for",
    "from",
    "with",
    "by",
    "as",
    "and",
    "or",
    "but",
    "if",
    "is",
    "are",
    "was",
    "were",
    "be",
    "been",
    "it",
    "its",
    "i",
    "we",
    "you",
    "he",
    "they",
    "me",
    "us",
    "my",
    "our",
    "your",
    "their",
    "do",
    "does",
    "did",
    "have",
    "has",
    "had",
    "can",
    "could",
    "will",
    "would",
    "should",
    "what",
    "when",
    "where",
    "which",
    "who",
    "why",
    "how",
    "so",
    "not",
    "no",
    "all",
    "any",
    "some",
    "there",
    "here",
    "now",
    "then",
    "also",
    "just",
    "up",
    "out",
    "into",
    "about",
    "via",
    "per",
    "than",
    "too",
    "again",
    "like",
    "get",
    "go",
    "new",
    "one",
    "more",
    "some",
    "thing",
    "things",
    "stuff",
    "something",
    "it's",
    "i'm",
    "let's",
    "don't",
    "please",
    "inside",
    "within",
    "while",
    "during",
    "until",
];

/// Words that every session has.
const EMPTY_WORDS: &[&str] = &[
    "tests",
    "same",
    "fix",
    "make",
    "change",
    "changes",
    "code",
    "review",
    "check",
    "work",
    "look",
    "explain",
    "investigate",
];

/// How many words of a title say something.
pub(in crate::side::builtin) fn informative(title: &str) -> usize {
    let lowered = title.to_lowercase();
    let mut count = 0;
    for (place, word) in lowered.split_whitespace().enumerate() {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        let says_nothing =
            word.is_empty() || is_function_word(word) || place > 0 && EMPTY_WORDS.contains(&word);
        count += usize::from(!says_nothing);
    }
    count
}

/// Whether a word only holds others together.
pub(super) fn is_function_word(word: &str) -> bool {
    let lowered = word.to_lowercase();
    FUNCTION_WORDS.contains(&lowered.as_str())
}

/// Words about the steps in which any work is done.
const STEP_WORDS: &[&str] = &[
    "branch", "commit", "commits", "push", "pr", "merge", "rebase", "test", "tests", "changes",
    "change", "create", "review", "run", "open", "draft", "check", "fix", "add", "look", "them",
    "again", "issue", "issues", "comment", "comments", "unit", "failing",
];

/// Whether at least two words of a title are about something else than the steps of any work.
pub(super) fn says_more_than_steps(title: &str) -> bool {
    let lowered = title.to_lowercase();
    let words = lowered
        .split_whitespace()
        .map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()));
    words
        .filter(|word| !word.is_empty() && !is_function_word(word) && !STEP_WORDS.contains(word))
        .count()
        >= 2
}
