//! Lines from bytes that come in pieces.

/// A line is longer than anything an answer consists of.
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

    /// The line that nothing ended; empty if there is none.
    pub(super) fn rest(self) -> Vec<u8> {
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
