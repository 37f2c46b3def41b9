//! One record, one line, at the end of a file that others write to.

use std::io;

use super::tail::{Tail, read_fully, uninterrupted};

/// How much of the end to check for damage that a crash left, in bytes.
const LOOKED_AT: usize = 4096;
/// How often to write a record again after other writers damaged it.
const ATTEMPTS: usize = 8;

/// A record that is complete in the file and was read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// The offset of its first byte.
    pub offset: u64,
}

/// Why a record is not in the file, or possibly not.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// The text is not a single line of JSON.
    #[error("a record must be one line of valid JSON")]
    NotALine,
    /// The system reported an error. A torn part of the record may be at the end of the file.
    #[error("cannot append: {source} ({written} bytes of the record were written)")]
    Failed {
        /// How many bytes of the record were written.
        written: u64,
        /// The error of the system.
        source: io::Error,
    },
    /// Other writers kept writing into the record.
    #[error("cannot append: other writers got in the way {ATTEMPTS} times")]
    Contended,
}

/// Appends `record`, a line without its newline, and reads it back. Never truncates or rewrites, so
/// the bytes of other writers stay. The caller holds the lock that cooperating writers use.
///
/// # Errors
/// See [`AppendError`]. Only a record that can be read back counts as appended.
pub fn append_record(file: &impl Tail, record: &str) -> Result<Appended, AppendError> {
    if record.contains('\n') || serde_json::from_str::<serde::de::IgnoredAny>(record).is_err() {
        return Err(AppendError::NotALine);
    }
    let failed = |written: u64| move |source| AppendError::Failed { written, source };
    let mut start_anew = false;
    for _ in 0..ATTEMPTS {
        let before = uninterrupted(|| file.size()).map_err(failed(0))?;
        let leads = start_anew || needs_line_feed(file, before).map_err(failed(0))?;
        let line = framed(record, leads);
        let written = write_line(file, &line, before)?;
        if let Some(offset) = find_back(file, record, before).map_err(failed(written))? {
            return Ok(Appended { offset });
        }
        start_anew = true;
    }
    Err(AppendError::Contended)
}

/// Whether the file ends inside a line, or in the zero bytes that a crash of the machine leaves.
fn needs_line_feed(file: &impl Tail, size: u64) -> io::Result<bool> {
    if size == 0 {
        return Ok(false);
    }
    let start = size.saturating_sub(LOOKED_AT as u64);
    let mut end = vec![0; usize::try_from(size - start).unwrap_or(LOOKED_AT)];
    let read = read_fully(file, &mut end, start)?;
    let end = &end[..read];
    Ok(end.last() != Some(&b'\n') || end.contains(&0))
}

/// The bytes to write for a record. A leading newline ends the torn line of another writer.
fn framed(record: &str, leads: bool) -> Vec<u8> {
    let lead = if leads { "\n" } else { "" };
    [lead, record, "\n"].concat().into_bytes()
}

/// Writes a line. Continues after a short write only if no other writer appended in between; the
/// rest would otherwise end up inside another record. Returns the number of bytes written.
fn write_line(file: &impl Tail, line: &[u8], start: u64) -> Result<u64, AppendError> {
    let mut written = 0;
    while written < line.len() {
        let fail = |source| AppendError::Failed {
            written: written as u64,
            source,
        };
        let count = uninterrupted(|| file.append(&line[written..])).map_err(fail)?;
        if count == 0 {
            let source = io::Error::from(io::ErrorKind::WriteZero);
            return Err(AppendError::Failed {
                written: written as u64,
                source,
            });
        }
        written += count;
        if written < line.len() {
            let fail = |source| AppendError::Failed {
                written: written as u64,
                source,
            };
            let size = uninterrupted(|| file.size()).map_err(fail)?;
            if size != start + written as u64 {
                break;
            }
        }
    }
    Ok(written as u64)
}

/// Searches for the record as a complete line in the bytes after the offset `from`.
fn find_back(file: &impl Tail, record: &str, from: u64) -> io::Result<Option<u64>> {
    let size = uninterrupted(|| file.size())?;
    // The previous line may have been torn. Include its end in the search.
    let start = from.saturating_sub(1);
    let length = usize::try_from(size.saturating_sub(start)).unwrap_or(usize::MAX);
    // Other writers may have added gigabytes in the meantime. The record is near the start.
    let mut written = vec![0; length.min(record.len() + 2 * LOOKED_AT + (1 << 20))];
    let read = read_fully(file, &mut written, start)?;
    let written = &written[..read];
    let starts_line = |at: usize| at == 0 && start == 0 || at > 0 && written[at - 1] == b'\n';
    let found = memchr::memmem::find_iter(written, record.as_bytes())
        .find(|at| starts_line(*at) && written.get(at + record.len()) == Some(&b'\n'));
    Ok(found.map(|at| start + at as u64))
}
