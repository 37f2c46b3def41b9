//! Terminal facts, and terminal-safe records.

use std::io::{self, Write};

use crate::text::{TextPieces, escape_hidden};

/// Facts about the terminal, read once at the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TerminalFacts {
    /// Whether standard input is a terminal.
    pub stdin: bool,
    /// Whether standard output is a terminal.
    pub stdout: bool,
    /// Whether standard error is a terminal.
    pub stderr: bool,
    /// The width of the terminal on standard output, in columns, if known.
    pub columns: Option<usize>,
}

/// Writes records to a terminal with control and invisible characters escaped as in JSON (`\u009b`), so
/// that the records stay the same.
pub struct TerminalRecords<Sink> {
    sink: Sink,
    pieces: TextPieces,
}

impl<Sink: Write> TerminalRecords<Sink> {
    /// Writes records to `sink`.
    pub fn new(sink: Sink) -> Self {
        Self {
            sink,
            pieces: TextPieces::default(),
        }
    }
}

impl<Sink: Write> Write for TerminalRecords<Sink> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = self.pieces.push(bytes);
        self.sink.write_all(escape_hidden(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(chunks: &[&[u8]]) -> String {
        let mut shown = Vec::new();
        let mut terminal = TerminalRecords::new(&mut shown);
        for chunk in chunks {
            terminal.write_all(chunk).unwrap();
        }
        String::from_utf8(shown).unwrap()
    }

    #[test]
    fn invalid_utf_8_is_replaced() {
        assert_eq!(
            shown(&[b"a\x9b31mb\n", b"\xff\n"]),
            "a\u{fffd}31mb\n\u{fffd}\n"
        );
    }

    proptest! {
        #[test]
        fn records_stay_the_same_wherever_they_are_cut(
            text in "[a\u{9b}\u{9d}\u{202e}\u{7f}\u{e0041}\u{1b}\\\\\"é字😀\u{200d}\n]{0,30}",
            cut in 0_usize..200
        ) {
            let record = serde_json::to_string(&text).unwrap();
            let (start, end) = record.as_bytes().split_at(cut.min(record.len()));
            let shown = shown(&[start, end]);
            prop_assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
            let harms = ['\u{9b}', '\u{9d}', '\u{202e}', '\u{7f}', '\u{e0041}', '\u{1b}'];
            prop_assert!(!shown.contains(harms), "{}", shown);
        }
    }
}
