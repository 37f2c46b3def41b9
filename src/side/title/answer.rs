//! From a model's answer to a title.

use super::{is_example, sanitize, to_kebab};
use crate::side::Rejection;

/// How titles look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum TitleStyle {
    /// `Fix login button`.
    #[default]
    Sentence,
    /// `fix-login-button`.
    Kebab,
}

/// The title in a model's answer.
///
/// # Errors
/// Nothing is left, or it repeats an example of the prompt.
pub fn clean_title(answer: &str, style: TitleStyle) -> Result<String, Rejection> {
    let title = sanitize(answer);
    if is_example(&title) || is_example(answer) {
        return Err(Rejection::PromptEcho);
    }
    let title = match style {
        TitleStyle::Sentence => title,
        TitleStyle::Kebab => to_kebab(&title),
    };
    if title.is_empty() {
        return Err(Rejection::Empty);
    }
    Ok(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_title_says_why() {
        let sentence = TitleStyle::Sentence;
        assert_eq!(clean_title("**Port it**", sentence).unwrap(), "Port it");
        assert_eq!(
            clean_title("Port it", TitleStyle::Kebab).unwrap(),
            "port-it"
        );
        assert_eq!(clean_title(" ... ", sentence), Err(Rejection::Empty));
        let echo = "Fix login button on mobile.";
        assert_eq!(clean_title(echo, sentence), Err(Rejection::PromptEcho));
    }
}
