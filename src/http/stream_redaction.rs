//! Taking secrets out of text that comes in parts. Pure.

use super::Redaction;

/// Holds back what may become a secret, and nothing else.
#[derive(Debug, Clone)]
pub struct StreamRedaction {
    redaction: Redaction,
    held: String,
}

impl StreamRedaction {
    /// For one text.
    pub fn new(redaction: Redaction) -> Self {
        Self {
            redaction,
            held: String::new(),
        }
    }

    /// More of the text; returns what can be shown of it by now.
    pub fn push(&mut self, part: &str) -> String {
        self.held.push_str(part);
        let mut shown = self.redaction.clean(&self.held);
        let held = self.redaction.beginning_at_end(&shown);
        self.held = shown.split_off(shown.len() - held);
        shown
    }

    /// What was held back: the text has ended.
    pub fn rest(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Secret;
    use super::*;

    fn redaction() -> Redaction {
        Redaction::of(&[Secret::new("sk-canary/ä"), Secret::new("canary-2")])
    }

    fn shown<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
        let mut stream = StreamRedaction::new(redaction());
        let mut shown: String = parts.into_iter().map(|part| stream.push(part)).collect();
        shown.push_str(&stream.rest());
        shown
    }

    #[test]
    fn a_secret_is_found_wherever_it_is_split() {
        let text = "The key sk-canary/ä is sk-can not canary-2.";
        let expected = "The key [redacted] is sk-can not [redacted].";
        for (split, _) in text.char_indices() {
            assert_eq!(shown([&text[..split], &text[split..]]), expected, "{split}");
        }
    }

    #[test]
    fn what_cannot_become_a_secret_is_shown_at_once() {
        let mut stream = StreamRedaction::new(redaction());
        assert_eq!(stream.push("Fix sk"), "Fix ");
        assert_eq!(stream.push("i"), "ski");
        assert_eq!(stream.push("c"), "");
        assert_eq!(stream.rest(), "c");
    }

    proptest! {
        #[test]
        fn no_secret_is_ever_shown(
            parts in prop::collection::vec(
                prop::sample::select(vec!["sk-", "canary", "/", "ä", "-2", "s", "c", "\\/", "%2F", " "]),
                0..30,
            ),
        ) {
            let text = shown(parts.iter().copied());
            prop_assert!(!text.contains("sk-canary/ä") && !text.contains("canary-2"), "{}", text);
        }
    }
}
