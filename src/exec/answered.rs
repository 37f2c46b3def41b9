//! The calls and results in a seekable input, found before any of its calls could run. See
//! `docs/protocol.md`, Answered calls.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::fs::FileExt;

use super::intake::events;
use super::ledger::Ledger;
use crate::assemble::Decoder;
use crate::jsonl::{Prefilter, Reader};

/// An input that can be read twice: a file, from the position it has now.
pub(super) struct ReadAhead {
    file: File,
    start: u64,
}

impl ReadAhead {
    /// Of `file`; `None` if it is not a regular one.
    ///
    /// # Errors
    /// The system does not say what it is.
    pub(super) fn of(file: &File) -> io::Result<Option<Self>> {
        if !file.metadata()?.is_file() {
            return Ok(None);
        }
        let mut file = file.try_clone()?;
        let start = file.stream_position()?;
        Ok(Some(Self { file, start }))
    }

    /// What the whole input holds. `decoder` has to be like the one that reads it again. The
    /// position of the file is left alone.
    pub(super) fn ledger(self, needles: Prefilter, mut decoder: Decoder) -> io::Result<Ledger> {
        let mut ledger = Ledger::default();
        let mut reader = Reader::new(self, needles);
        while let Some(piece) = reader.next_piece()? {
            for event in events(&piece, &mut decoder).0 {
                ledger.read(&event);
            }
        }
        for event in decoder.finish() {
            ledger.read(&event);
        }
        ledger.complete();
        Ok(ledger)
    }
}

impl Read for ReadAhead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read_at(buffer, self.start)?;
        self.start += length as u64;
        Ok(length)
    }
}
