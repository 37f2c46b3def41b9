//! The results in a seekable input, found before any of its calls could run. See
//! `docs/protocol.md`, Answered calls.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use memchr::{memchr, memrchr};

use super::Ledger;
use crate::jsonl::{LONGEST_LINE, Prefilter};
use crate::wire::{Decoder, Event};

/// Bytes read at once.
const BLOCK: usize = 1 << 20;

/// Enters the results between the current position of `file` and its end into `ledger`; the
/// position is the same afterwards. Lines without a needle are not parsed.
/// Returns whether the input can be read twice at all.
///
/// # Errors
/// Reading failed.
pub fn enter_results(
    mut file: &File,
    needles: &impl Prefilter,
    ledger: &mut Ledger,
) -> io::Result<bool> {
    if !file.metadata()?.is_file() {
        return Ok(false);
    }
    let start = file.stream_position()?;
    let mut buffer = Vec::with_capacity(2 * BLOCK);
    loop {
        let held = buffer.len();
        let read = file.take(BLOCK as u64).read_to_end(&mut buffer)?;
        let whole = match (read, memrchr(b'\n', &buffer[held..])) {
            (0, _) => buffer.len(),
            (_, Some(newline)) => held + newline + 1,
            // Of a giant line nothing can be used, wherever it ends.
            (_, None) if buffer.len() > LONGEST_LINE => buffer.len(),
            (_, None) => 0,
        };
        enter_lines(&buffer[..whole], needles, ledger);
        buffer.drain(..whole);
        if read == 0 {
            break;
        }
    }
    file.seek(SeekFrom::Start(start))?;
    Ok(true)
}

fn enter_lines(lines: &[u8], needles: &impl Prefilter, ledger: &mut Ledger) {
    let mut from = 0;
    while let Some(position) = needles.find(lines, from) {
        let start = memrchr(b'\n', &lines[..position]).map_or(0, |newline| newline + 1);
        let end = memchr(b'\n', &lines[position..]).map_or(lines.len(), |length| position + length);
        for event in Decoder::detecting().record(&String::from_utf8_lossy(&lines[start..end])) {
            if let Event::Result(result) = event {
                ledger.answered(&result.id);
            }
        }
        from = end;
    }
}
