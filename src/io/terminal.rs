//! Terminals: which of the standard streams are some, and records that are safe on them.

use std::io::{self, Write};

use crate::text::{TextPieces, escape_hidden};

/// What is known about the terminal, asked once at the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TerminalFacts {
    /// stdin is a terminal.
    pub stdin: bool,
    /// stdout is a terminal.
    pub stdout: bool,
    /// stderr is a terminal.
    pub stderr: bool,
    /// How wide the terminal on stdout is, if it says so.
    pub columns: Option<usize>,
}

/// A terminal that shows records: characters that it would obey or hide are escaped as in JSON
/// (`\u009b`), so the records stay the same.
pub struct TerminalRecords<Sink> {
    sink: Sink,
    pieces: TextPieces,
}

impl<Sink: Write> TerminalRecords<Sink> {
    /// Shows records on `sink`.
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
    fn bytes_that_are_no_text_are_replaced() {
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
