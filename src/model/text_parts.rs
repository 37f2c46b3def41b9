//! Text of a reply: parts that may be cut within a character, and thinking between tags. Pure.

use crate::json::from_wtf8;

/// Text that arrives in parts. Servers written in JavaScript cut strings between the halves of a
/// surrogate pair.
#[derive(Debug, Default)]
pub(super) struct SplitText {
    whole: Vec<u8>,
    /// The length of what was handed out.
    handed_out: usize,
}

impl SplitText {
    /// Adds a part (UTF-8, in which a lone surrogate is three bytes) and returns what can be
    /// handed out: a half at the end waits for the other one.
    pub(super) fn push(&mut self, part: &[u8]) -> String {
        self.whole.extend_from_slice(part);
        let end = match self.whole.len().checked_sub(3) {
            Some(half) if half >= self.handed_out && is_high_half(&self.whole[half..]) => half,
            _ => self.whole.len(),
        };
        let start = std::mem::replace(&mut self.handed_out, end);
        from_wtf8(self.whole[start..end].to_vec())
    }

    /// All of it.
    pub(super) fn into_text(self) -> String {
        from_wtf8(self.whole)
    }
}

fn is_high_half(bytes: &[u8]) -> bool {
    matches!(bytes, [0xED, 0xA0..=0xAF, _])
}

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Splits a text into what is said, and thinking at its beginning. The chat template may have
/// opened the tag already, so a lone closing tag on its own line ends thinking as well. If the tag
/// is never closed, the answer did not begin.
pub fn without_think_tags(text: String) -> (String, String) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_a_character_are_joined() {
        let mut text = SplitText::default();
        assert_eq!(text.push(b"a\xED\xA0\xBD"), "a");
        assert_eq!(text.push(b"\xED\xB8\x80b"), "😀b");
        assert_eq!(text.push(b"\xED\xA0\xBD"), "");
        assert_eq!(text.push(b"c"), "\u{fffd}c");
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
            assert_eq!(without_think_tags(text.to_owned()), expected, "{text}");
        }
    }
}
