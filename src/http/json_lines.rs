//! JSON Lines from bytes that come in pieces. Pure: bytes in, lines out.

use super::TooLong;
use super::line_splitter::LineSplitter;

/// The decoder of one stream. Blank lines are skipped; what a line holds is not looked at.
#[derive(Debug, Default)]
pub struct JsonLines {
    lines: LineSplitter,
}

impl JsonLines {
    /// The lines that a piece completes. Invalid UTF-8 is U+FFFD.
    ///
    /// # Errors
    /// A line is too long.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, TooLong> {
        let mut lines = Vec::new();
        self.lines.push(bytes, |line| lines.extend(text(line)))?;
        Ok(lines)
    }

    /// The last line if nothing ended it. It may be torn.
    pub fn rest(self) -> Option<String> {
        text(&self.lines.rest())
    }
}

fn text(line: &[u8]) -> Option<String> {
    let line = line.trim_ascii();
    (!line.is_empty()).then(|| String::from_utf8_lossy(line).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut decoder = JsonLines::default();
        let mut lines = Vec::new();
        for piece in pieces {
            lines.extend(decoder.push(piece).unwrap());
        }
        lines.extend(decoder.rest());
        lines
    }

    #[test]
    fn lines_are_whole_wherever_the_pieces_split() {
        let text = "{\"a\":\"ä😀\"}\r\n\n  {\"b\":1}\n{\"c\":".as_bytes();
        let expected = ["{\"a\":\"ä😀\"}", "{\"b\":1}", "{\"c\":"];
        for split in 0..=text.len() {
            assert_eq!(
                decode([&text[..split], &text[split..]]),
                expected,
                "{split}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(text in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(decode(text.chunks(1)), decode([text.as_slice()]));
        }
    }
}
