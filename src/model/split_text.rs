//! Text that comes in parts, which may be cut in the middle of a character.
//!
//! Servers written in JavaScript cut strings between the halves of a surrogate pair.

use crate::wire::object::from_wtf8;

/// Text in the making.
#[derive(Debug, Default)]
pub(super) struct SplitText {
    whole: Vec<u8>,
    /// Where what was handed out ends.
    told: usize,
}

impl SplitText {
    /// Adds a part (UTF-8, in which a lone surrogate is three bytes) and returns what can be
    /// handed out: a half at the end waits for the other one.
    pub(super) fn push(&mut self, part: &[u8]) -> String {
        self.whole.extend_from_slice(part);
        let end = match self.whole.len().checked_sub(3) {
            Some(start) if start >= self.told && is_high_half(&self.whole[start..]) => start,
            _ => self.whole.len(),
        };
        let told = std::mem::replace(&mut self.told, end);
        from_wtf8(self.whole[told..end].to_vec())
    }

    /// All of it.
    pub(super) fn into_text(self) -> String {
        from_wtf8(self.whole)
    }
}

fn is_high_half(bytes: &[u8]) -> bool {
    matches!(bytes, [0xED, 0xA0..=0xAF, _])
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
}
