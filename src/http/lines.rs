//! Lines of a stream, from bytes that arrive in pieces. Pure.

/// A line is longer than any part of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a line of the answer is longer than {limit} bytes")]
pub struct TooLong {
    limit: usize,
}

/// The longest line, in bytes.
const LONGEST: usize = 16 << 20;

/// Splits at LF, CRLF and CR alike, wherever the pieces were split.
#[derive(Debug, Default)]
pub(super) struct LineSplitter {
    line: Vec<u8>,
    /// The last byte was a CR: an LF that follows belongs to it.
    after_return: bool,
}

impl LineSplitter {
    /// Reads a piece and hands every line that ends in it to `sink`, without its ending.
    pub(super) fn push(
        &mut self,
        mut bytes: &[u8],
        mut sink: impl FnMut(&[u8]),
    ) -> Result<(), TooLong> {
        while let Some(&first) = bytes.first() {
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else {
                self.line.extend_from_slice(bytes);
                break;
            };
            self.after_return = bytes[end] == b'\r';
            if self.line.is_empty() {
                sink(&bytes[..end]);
            } else {
                self.line.extend_from_slice(&bytes[..end]);
                sink(&self.line);
                self.line.clear();
            }
            bytes = &bytes[end + 1..];
        }
        if self.line.len() > LONGEST {
            return Err(TooLong { limit: LONGEST });
        }
        Ok(())
    }

    /// The unfinished line at the end; empty if there is none.
    pub(super) fn rest(self) -> Vec<u8> {
        self.line
    }
}

/// The decoder of one stream. Blank lines are skipped. The content of lines is not interpreted.
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

    /// The unfinished last line. It may be torn.
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
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_ending_ends_one_line() {
        let text = b"a\nb\r\nc\rd\r\n\r\n\n\re";
        let expected = ["a", "b", "c", "d", "", "", ""];
        for split in 0..=text.len() {
            let mut splitter = LineSplitter::default();
            let mut lines = Vec::new();
            for piece in [&text[..split], &text[split..]] {
                let sink = |line: &[u8]| lines.push(String::from_utf8(line.to_vec()).unwrap());
                splitter.push(piece, sink).unwrap();
            }
            assert_eq!(lines, expected, "{split}");
            assert_eq!(splitter.rest(), b"e");
        }
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut splitter = LineSplitter::default();
        let piece = vec![b'x'; 1 << 20];
        let fed = (0..20).find_map(|_| splitter.push(&piece, |_| ()).err());
        assert!(fed.is_some());
    }

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
