//! What makes a model's answer unusable.

/// How models refuse in the first person.
const REFUSALS: &str = "i can't|i can’t|i cannot|i'm unable|i’m unable|i am unable|i'm sorry|i’m sorry\
    |i am sorry|sorry,|sorry，|as an ai|我无法|我不能|抱歉";

/// Whether a text is a refusal in the model's own words.
pub(super) fn is_refusal(text: &str) -> bool {
    REFUSALS
        .split('|')
        .any(|refusal| begins_with_words(text, refusal))
}

/// Whether a text repeats an example, whatever its case and what is around it.
pub(super) fn is_echo(text: &str, example: &str) -> bool {
    let bare = |text: &str| {
        let lowered = text.to_lowercase();
        let is_around = |character: char| !character.is_alphanumeric();
        lowered.trim_matches(is_around).to_owned()
    };
    let example = bare(example);
    !example.is_empty() && bare(text) == example
}

/// Whether a text begins with these words, in any case. What follows them is not part of a word
/// (only ASCII letters, digits and `_` are).
pub(super) fn begins_with_words(text: &str, words: &str) -> bool {
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let head = text.get(..words.len());
    head.is_some_and(|head| head.eq_ignore_ascii_case(words))
        && !(words.ends_with(is_word) && text[words.len()..].starts_with(is_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_whole_words() {
        for text in [
            "I cannot do that",
            "SORRY, no",
            "抱歉，没有",
            "I’m unable to help",
        ] {
            assert!(is_refusal(text), "{text}");
        }
        for text in [
            "I cannotate",
            "ſorry, x",
            "Fix: I cannot log in",
            "Sorry state of tests",
        ] {
            assert!(!is_refusal(text), "{text}");
        }
    }
}
