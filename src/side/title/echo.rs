//! Whether an answer only repeats an example of the prompt.

use crate::side::javascript::trim;

/// The examples of good titles in the prompt.
const EXAMPLES: [&str; 4] = [
    "fix login button on mobile",
    "add oauth authentication flow",
    "debug failing ci pipeline tests",
    "重构用户鉴权中间件",
];

/// Whether a title is one of the prompt's examples, whatever its case and what is around it.
pub(in crate::side) fn is_example(title: &str) -> bool {
    let lowered = trim(title).to_lowercase();
    let bare = lowered.trim_matches(|character: char| !character.is_alphanumeric());
    EXAMPLES.contains(&bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_are_those_of_the_prompt() {
        let prompt = include_str!("../../../prompts/title.md").to_lowercase();
        for example in EXAMPLES {
            assert!(prompt.contains(example), "{example}");
        }
    }

    #[test]
    fn repeated_examples_are_recognised() {
        assert!(is_example(" FIX LOGIN button on mobile! "));
        assert!(is_example("【重构用户鉴权中间件】。"));
        assert!(!is_example("Fix login button  on mobile"));
        assert!(!is_example("Fix logout button on mobile"));
    }
}
