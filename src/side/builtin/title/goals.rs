//! Prompts that only go on with what was said before.

/// Words of which such prompts consist.
const CONTINUING: &[&str] = &[
    "yes",
    "yep",
    "yeah",
    "yup",
    "y",
    "no",
    "nope",
    "n",
    "ok",
    "okay",
    "k",
    "sure",
    "continue",
    "go",
    "ahead",
    "on",
    "do",
    "it",
    "that",
    "this",
    "them",
    "thanks",
    "thank",
    "you",
    "please",
    "commit",
    "push",
    "and",
    "then",
    "now",
    "proceed",
    "next",
    "good",
    "great",
    "perfect",
    "nice",
    "cool",
    "correct",
    "right",
    "exactly",
    "agreed",
    "fine",
    "done",
    "looks",
    "lgtm",
    "sounds",
    "option",
    "a",
    "b",
    "c",
    "d",
    "e",
    "all",
    "both",
    "let's",
    "lets",
    "try",
    "again",
    "retry",
    "hi",
    "hello",
    "hey",
    "there",
    "morning",
    "afternoon",
    "evening",
    "stop",
    "wait",
    "hmm",
    "also",
    "the",
    "same",
    "for",
    "me",
    "to",
    "with",
    "too",
    "well",
    "keep",
    "going",
    "resume",
    "are",
    "still",
    "here",
    "test",
    "i",
    "agree",
    "approve",
    "approved",
    "changes",
    "ship",
    "first",
    "one",
    "second",
    "is",
    "merge",
    "pr",
    "create",
    "can",
    "we",
    "so",
    "pls",
    "thx",
    "ty",
    "oui",
    "non",
    "sí",
    "si",
    "ja",
    "nein",
    "start",
    "begin",
    "step",
    "steps",
    "phase",
    "part",
    "stage",
    "task",
    "tasks",
    "item",
    "point",
    "weiter",
    "danke",
    "merci",
    "gracias",
    "bitte",
    "はい",
    "네",
    "是",
    "好的",
    "好",
    "继续",
    "谢谢",
    "可以",
    "对",
    "行",
    "嗯",
    "お願いします",
    "続けて",
    "계속",
];

/// Whether a prompt says nothing about what the session is for.
pub(super) fn is_no_goal(text: &str) -> bool {
    let lowered = text.to_lowercase();
    let words: Vec<&str> = lowered
        .split(|letter: char| letter.is_whitespace() || ",.!?;:…，。！？()\"".contains(letter))
        .filter(|word| !word.is_empty())
        .collect();
    let is_number = |word: &&str| {
        word.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-')
    };
    words.is_empty()
        || words
            .iter()
            .all(|word| CONTINUING.contains(word) || is_number(word))
        || is_answer(text)
}

/// `1. …`, `B, …`, `do 1, 2 and 5`.
fn is_answer(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let bare = first.trim_end_matches(['.', ',', ')', ':']);

    bare.len() < first.len()
        && (bare.bytes().all(|byte| byte.is_ascii_digit())
            || bare.len() == 1 && bare.chars().all(|letter| matches!(letter, 'A'..='H')))
        && !bare.is_empty()
}
