//! One record, one line, at the end of a file that others write to.

use std::io;

use super::tail::{Tail, read_fully, uninterrupted};

/// How much of the end is looked at for the damage that crashes leave, in bytes.
const LOOKED_AT: usize = 4096;
/// How often a record is written anew when others tore or buried it.
const ATTEMPTS: usize = 8;

/// A record that is in the file, whole, and was read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Where its first byte is.
    pub offset: u64,
}

/// Why a record is not in the file, or may not be.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// What was to be written is not one line.
    #[error("a record must be one line of valid JSON")]
    NotALine,
    /// The system refused; a torn part of the record may be at the end of the file.
    #[error("cannot append: {source} ({written} bytes of the record were written)")]
    Failed {
        /// Bytes of the record that are in the file.
        written: u64,
        /// What the system said.
        source: io::Error,
    },
    /// Others kept writing into the record.
    #[error("cannot append: other writers got in the way {ATTEMPTS} times")]
    Contended,
}

/// Appends `record`, a line without its line feed, and reads it back. Never truncates, never
/// rewrites: what others wrote stays. The caller holds whatever lock cooperating writers use.
///
/// # Errors
/// See [`AppendError`]. "Appended" is only said of a record that can be read.
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

/// Whether the file does not end cleanly: inside of a line, or in the zero bytes that a crash of
/// the machine leaves.
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

/// The bytes to write for a record. A line feed before it ends the torn line of somebody else.
fn framed(record: &str, leads: bool) -> Vec<u8> {
    let lead = if leads { "\n" } else { "" };
    [lead, record, "\n"].concat().into_bytes()
}

/// Writes a line, going on after a short write only while nobody else wrote: otherwise the rest
/// would land in the middle of something else. Returns the bytes that were written.
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

/// Looks for the record as a whole line in what was written since the file had the size `from`.
fn find_back(file: &impl Tail, record: &str, from: u64) -> io::Result<Option<u64>> {
    let size = uninterrupted(|| file.size())?;
    // The line before may have been torn; its end belongs to what is looked at.
    let start = from.saturating_sub(1);
    let length = usize::try_from(size.saturating_sub(start)).unwrap_or(usize::MAX);
    // Others may have written gigabytes meanwhile; ours is near the start.
    let mut written = vec![0; length.min(record.len() + 2 * LOOKED_AT + (1 << 20))];
    let read = read_fully(file, &mut written, start)?;
    let written = &written[..read];
    let starts_line = |at: usize| at == 0 && start == 0 || at > 0 && written[at - 1] == b'\n';
    let found = memchr::memmem::find_iter(written, record.as_bytes())
        .find(|at| starts_line(*at) && written.get(at + record.len()) == Some(&b'\n'));
    Ok(found.map(|at| start + at as u64))
}
