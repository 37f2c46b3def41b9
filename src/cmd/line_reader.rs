//! Lines of bounded length.
//!
//! For inputs whose lines are any JSON values, or no JSON at all; streams of records have a reader
//! of their own in `jsonl`.

use std::io::{self, BufRead, BufReader, Read};

/// One line of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// The line without its end (`\n` or `\r\n`).
    Whole(&'a [u8]),
    /// The line is longer than the limit and was skipped.
    TooLong,
}

/// Splits `source` into lines of at most `limit` bytes, in memory bounded by the limit.
pub(super) struct LineReader<Source> {
    source: BufReader<Source>,
    limit: usize,
    line: Vec<u8>,
}

impl<Source: Read> LineReader<Source> {
    pub(super) fn new(source: Source, limit: usize) -> Self {
        Self {
            source: BufReader::new(source),
            limit,
            line: Vec::new(),
        }
    }

    /// Whether the next call may have to wait for input.
    pub(super) fn may_wait(&self) -> bool {
        memchr::memchr(b'\n', self.source.buffer()).is_none()
    }

    /// The next line, or `None` at the end. The last line needs no end.
    ///
    /// # Errors
    /// Reading failed.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        // Room for the end of the line.
        let most = self.limit as u64 + 2;
        let mut beginning = self.source.by_ref().take(most);
        if beginning.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        let line = match self.line.strip_suffix(b"\n") {
            Some(line) => line,
            None if self.line.len() as u64 == most => {
                self.source.skip_until(b'\n')?;
                return Ok(Some(Line::TooLong));
            }
            None => &self.line,
        };
        if line.len() > self.limit {
            return Ok(Some(Line::TooLong));
        }
        Ok(Some(Line::Whole(line.strip_suffix(b"\r").unwrap_or(line))))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    /// Yields its chunks one read at a time.
    struct Chunks(VecDeque<Vec<u8>>);

    impl Read for Chunks {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(mut chunk) = self.0.pop_front() else {
                return Ok(0);
            };
            let length = chunk.len().min(buffer.len());
            buffer[..length].copy_from_slice(&chunk[..length]);
            if length < chunk.len() {
                self.0.push_front(chunk.split_off(length));
            }
            Ok(length)
        }
    }

    fn lines(source: impl Read, limit: usize) -> Vec<Option<Vec<u8>>> {
        let mut reader = LineReader::new(source, limit);
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line().unwrap() {
            lines.push(match line {
                Line::Whole(bytes) => Some(bytes.to_vec()),
                Line::TooLong => None,
            });
        }
        lines
    }

    #[test]
    fn lines_lose_their_end_and_nothing_else() {
        let some = |text: &str| Some(text.as_bytes().to_vec());
        assert_eq!(lines(&b""[..], 9), []);
        assert_eq!(lines(&b"\n"[..], 9), [some("")]);
        assert_eq!(lines(&b"a\r\n\nb"[..], 9), [some("a"), some(""), some("b")]);
        assert_eq!(
            lines(&b"12345\n123456\n1"[..], 5),
            [some("12345"), None, some("1")]
        );
    }

    #[test]
    fn a_long_line_is_skipped_in_bounded_memory() {
        let source = io::repeat(b'x').take(1 << 20).chain(&b"\nshort\n"[..]);
        let mut reader = LineReader::new(source, 100);
        assert_eq!(reader.next_line().unwrap(), Some(Line::TooLong));
        assert_eq!(reader.next_line().unwrap(), Some(Line::Whole(b"short")));
        assert!(reader.line.capacity() < 1000);
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter(
            chunks in prop::collection::vec("[ab\n]{1,5}", 0..10), limit in 1_usize..6
        ) {
            let joined = chunks.concat();
            let chunks = chunks.into_iter().map(String::into_bytes).collect();
            let expected: Vec<_> = joined
                .split_terminator('\n')
                .map(|line| (line.len() <= limit).then(|| line.as_bytes().to_vec()))
                .collect();
            prop_assert_eq!(lines(Chunks(chunks), limit), expected);
        }
    }
}
