//! The calls and results in a seekable input, found before any of its calls could run. See
//! `docs/protocol.md`, Answered calls.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};

use super::Ledger;
use super::intake::events;
use crate::jsonl::Prefilter;
use crate::jsonl::Reader;
use crate::wire::Decoder;

/// Enters what stands between the current position of `file` and its end into `ledger`; the position
/// is the same afterwards. `decoder` has to be like the one that reads the file again.
///
/// # Errors
/// Reading failed.
pub fn read_ahead(
    mut file: &File,
    needles: impl Prefilter + 'static,
    mut decoder: Decoder,
    ledger: &mut Ledger,
) -> io::Result<()> {
    if !file.metadata()?.is_file() {
        return Ok(());
    }
    let start = file.stream_position()?;
    let mut reader = Reader::new(file, needles);
    while let Some(piece) = reader.next_piece()? {
        for event in events(&piece, &mut decoder).0 {
            ledger.read(&event);
        }
    }
    for event in decoder.finish() {
        ledger.read(&event);
    }
    ledger.complete();
    file.seek(SeekFrom::Start(start))?;
    Ok(())
}
