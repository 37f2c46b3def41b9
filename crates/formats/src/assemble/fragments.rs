//! Text and JSON that arrive in fragments. Pure.

use turnpipe_core::json::from_wtf8;

/// Text that arrives in fragments. Servers written in JavaScript may split strings inside a
/// surrogate pair.
#[derive(Debug, Default)]
pub(super) struct SplitText {
    whole: Vec<u8>,
    /// The length of the text that was taken.
    taken: usize,
}

impl SplitText {
    /// Adds a fragment: WTF-8, a lone surrogate is three bytes.
    pub(super) fn push(&mut self, fragment: &[u8]) {
        self.whole.extend_from_slice(fragment);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.whole.is_empty()
    }

    /// Returns the text since the last call. Half of a pair at the end is held back until the other half arrives.
    pub(super) fn take_new(&mut self) -> String {
        let end = match self.whole.len().checked_sub(3) {
            Some(half) if half >= self.taken && is_high_half(&self.whole[half..]) => half,
            _ => self.whole.len(),
        };
        let start = std::mem::replace(&mut self.taken, end);
        from_wtf8(self.whole[start..end].to_vec())
    }

    /// Returns all bytes.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.whole
    }

    /// Returns the whole text.
    pub(super) fn into_text(self) -> String {
        from_wtf8(self.whole)
    }
}

fn is_high_half(bytes: &[u8]) -> bool {
    matches!(bytes, [0xED, 0xA0..=0xAF, _])
}

const OPEN: &str = "<think>";

const CLOSE: &str = "</think>";

/// Splits a text into the reply and the thinking at its beginning. The chat template may have
/// opened the tag already, so a lone closing tag on its own line ends thinking as well. If the tag
/// is not closed, there is no reply.
pub fn split_think_tags(text: String) -> (String, String) {
    if let Some(inner) = text.trim_start().strip_prefix(OPEN) {
        return match inner.split_once(CLOSE) {
            Some((thought, said)) => (said.trim_start().to_owned(), thought.to_owned()),
            None => (String::new(), inner.to_owned()),
        };
    }
    if let Some((thought, said)) = text.split_once(CLOSE)
        && !thought.contains(OPEN)
        && (thought.is_empty() || thought.ends_with('\n'))
        && (said.is_empty() || said.starts_with(['\n', '\r']))
    {
        return (said.trim_start().to_owned(), thought.to_owned());
    }
    (text, String::new())
}

/// The state after the fragments read so far.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Balance {
    depth: usize,
    state: LexState,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum LexState {
    /// Before the object.
    #[default]
    Before,
    /// In it, outside of strings.
    Structure,
    /// In a string.
    Text,
    /// After a backslash in a string.
    Escape,
    /// After the object.
    After,
}

impl Balance {
    /// Reads the next fragment.
    pub(super) fn read(&mut self, fragment: &[u8]) {
        for &byte in fragment {
            self.state = match (self.state, byte) {
                (LexState::Before | LexState::Structure, b'{' | b'[') => {
                    self.depth += 1;
                    LexState::Structure
                }
                (LexState::Structure, b'}' | b']') => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        LexState::After
                    } else {
                        LexState::Structure
                    }
                }
                (LexState::Structure, b'"') | (LexState::Escape, _) => LexState::Text,
                (LexState::Text, b'"') => LexState::Structure,
                (LexState::Text, b'\\') => LexState::Escape,
                (state, _) => state,
            };
        }
    }

    /// Whether an object or array has started.
    pub(super) fn has_begun(self) -> bool {
        self.state != LexState::Before
    }

    /// Whether an object or array is complete.
    pub(super) fn is_whole(self) -> bool {
        self.state == LexState::After
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn halves_of_a_character_are_joined() {
        let mut text = SplitText::default();
        let mut push = |fragment: &[u8]| {
            text.push(fragment);
            text.take_new()
        };
        assert_eq!(push(b"a\xED\xA0\xBD"), "a");
        assert_eq!(push(b"\xED\xB8\x80b"), "😀b");
        assert_eq!(push(b"\xED\xA0\xBD"), "");
        assert_eq!(push(b"c"), "\u{fffd}c");
        assert_eq!(text.into_text(), "a😀b\u{fffd}c");
    }

    #[test]
    fn only_thoughts_at_the_beginning_are_taken() {
        let rows = [
            ("Fix login", "Fix login", ""),
            ("<think>hm\n</think>\n\nFix login", "Fix login", "hm\n"),
            ("\n<think></think>Fix login", "Fix login", ""),
            ("<think>hm", "", "hm"),
            ("hm\n</think>\nFix login", "Fix login", "hm\n"),
            ("</think>\n\nFix login", "Fix login", ""),
            ("The `</think>` tag", "The `</think>` tag", ""),
            ("Use <think>x</think> here", "Use <think>x</think> here", ""),
        ];
        for (text, said, thought) in rows {
            let expected = (said.to_owned(), thought.to_owned());
            assert_eq!(split_think_tags(text.to_owned()), expected, "{text}");
        }
    }

    #[test]
    fn wholes_and_parts() {
        let rows = [
            ("", false),
            ("{", false),
            ("{}", true),
            (r#" {"a":"}"}"#, true),
            (r#"{"a":"\"}"#, false),
            (r#"{"a":[{}]"#, false),
            (r#"{"a":[{}]}"#, true),
        ];
        for (text, whole) in rows {
            let mut balance = Balance::default();
            balance.read(text.as_bytes());
            assert_eq!(balance.is_whole(), whole, "{text}");
        }
    }

    proptest! {
        #[test]
        fn only_the_last_byte_makes_an_object_whole(text in "\\PC{0,20}") {
            let object = serde_json::json!({ "k": text, "n": [1, {"x": text}] }).to_string();
            let mut balance = Balance::default();
            for byte in object.as_bytes() {
                prop_assert!(!balance.is_whole());
                balance.read(&[*byte]);
            }
            prop_assert!(balance.is_whole());
        }
    }
}
