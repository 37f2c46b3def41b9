//! One record, one line, at the end of a file that others write to.

use std::io;

use turnpipe_core::io::retry_interrupted;
use turnpipe_core::jsonl::escape_separators;

/// Length of the end of the file that is checked for damage by a crash, in bytes.
const TAIL_LENGTH: usize = 4096;
/// Maximum number of attempts to write a record that other writers damage.
const ATTEMPTS: usize = 8;

/// A record that is not, or possibly not, in the file.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// The text is not a single line of JSON.
    #[error("a record must be one line of valid JSON")]
    NotALine,
    /// The system reported an error. A torn part of the record may be at the end of the file.
    #[error("cannot append: {source} ({written} bytes of the record were written)")]
    Failed {
        /// Number of bytes of the record that were written.
        written: u64,
        /// The error of the system.
        source: io::Error,
    },
    /// Other writers repeatedly wrote into the record.
    #[error("cannot append: other writers interfered {ATTEMPTS} times")]
    Contended,
}

/// Appends `record`, a line without its newline, and reads it back. Returns the offset of its first
/// byte. Never truncates or rewrites, so the bytes of other writers stay. The caller holds the lock
/// that cooperating writers use.
///
/// # Errors
/// See [`AppendError`]. Only a record that can be read back counts as appended.
pub fn append_record(file: &impl Tail, record: &str) -> Result<u64, AppendError> {
    if record.contains('\n') || serde_json::from_str::<serde::de::IgnoredAny>(record).is_err() {
        return Err(AppendError::NotALine);
    }
    let record = &*escape_separators(record);
    let to_error = |written: u64| move |source| AppendError::Failed { written, source };
    let mut is_retry = false;
    for _ in 0..ATTEMPTS {
        let before = retry_interrupted(|| file.size()).map_err(to_error(0))?;
        // A leading newline ends the torn line of another writer.
        let is_torn = is_retry || needs_line_feed(file, before).map_err(to_error(0))?;
        let line = [if is_torn { "\n" } else { "" }, record, "\n"].concat();
        let written = write_line(file, line.as_bytes(), before)?;
        if let Some(offset) = find_record(file, record, before).map_err(to_error(written))? {
            return Ok(offset);
        }
        is_retry = true;
    }
    Err(AppendError::Contended)
}

/// Whether the file ends inside a line, or in the zero bytes that a crash of the machine leaves.
fn needs_line_feed(file: &impl Tail, size: u64) -> io::Result<bool> {
    if size == 0 {
        return Ok(false);
    }
    let start = size.saturating_sub(TAIL_LENGTH as u64);
    let mut tail = vec![0; usize::try_from(size - start).unwrap_or(TAIL_LENGTH)];
    let read = read_fully(file, &mut tail, start)?;
    Ok(tail[..read].last() != Some(&b'\n') || tail[..read].contains(&0))
}

/// Writes a line. Continues after a short write only if no other writer appended in between; the
/// rest would otherwise end up inside another record. Returns the number of bytes written.
fn write_line(file: &impl Tail, line: &[u8], start: u64) -> Result<u64, AppendError> {
    let mut written = 0;
    while written < line.len() {
        let to_error = |source| AppendError::Failed {
            written: written as u64,
            source,
        };
        match retry_interrupted(|| file.append(&line[written..])).map_err(to_error)? {
            0 => return Err(to_error(io::ErrorKind::WriteZero.into())),
            count => written += count,
        }
        if written < line.len() {
            let size = retry_interrupted(|| file.size()).map_err(|source| AppendError::Failed {
                written: written as u64,
                source,
            })?;
            if size != start + written as u64 {
                break;
            }
        }
    }
    Ok(written as u64)
}

/// Searches for the record as a complete line in the bytes after the offset `from`.
fn find_record(file: &impl Tail, record: &str, from: u64) -> io::Result<Option<u64>> {
    let size = retry_interrupted(|| file.size())?;
    // The previous line may have been torn. Include its end in the search.
    let start = from.saturating_sub(1);
    let length = usize::try_from(size.saturating_sub(start)).unwrap_or(usize::MAX);
    // Other writers may have added gigabytes in the meantime. The record is near the start.
    let mut written = vec![0; length.min(record.len() + 2 * TAIL_LENGTH + (1 << 20))];
    let read = read_fully(file, &mut written, start)?;
    let written = &written[..read];
    let starts_line = |at: usize| at == 0 && start == 0 || at > 0 && written[at - 1] == b'\n';
    let found = memchr::memmem::find_iter(written, record.as_bytes())
        .find(|at| starts_line(*at) && written.get(at + record.len()) == Some(&b'\n'));
    Ok(found.map(|at| start + at as u64))
}

/// A file that is open for appending. Every operation may fail or end early like the system call
/// behind it, and others may append at any time.
pub trait Tail {
    /// Returns the size in bytes.
    ///
    /// # Errors
    /// As the system reports.
    fn size(&self) -> io::Result<u64>;

    /// Reads at `offset` without moving a position. Returns the number of bytes read, 0 at the end.
    ///
    /// # Errors
    /// As the system reports.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Appends with one system call. Returns the number of bytes written, possibly fewer than
    /// requested.
    ///
    /// # Errors
    /// As the system reports. In this case, nothing was written.
    fn append(&self, bytes: &[u8]) -> io::Result<usize>;
}

/// Reads until `buffer` is full or the file ends.
pub(super) fn read_fully(file: &impl Tail, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        let at = offset + filled as u64;
        match retry_interrupted(|| file.read_at(&mut buffer[filled..], at))? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}
