//! The end of a file, as an interface for appending.

use std::io;

/// A file that is open for appending. Every operation may fail or be cut short like the system call
/// behind it, and others may append at any time.
pub trait Tail {
    /// The size in bytes.
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
    /// As the system reports. Nothing was written then.
    fn append(&self, bytes: &[u8]) -> io::Result<usize>;
}

/// Repeats an operation that a signal interrupted.
pub(super) fn uninterrupted<Output>(
    mut operation: impl FnMut() -> io::Result<Output>,
) -> io::Result<Output> {
    loop {
        match operation() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Reads until `buffer` is full or the file ends.
pub(super) fn read_fully(file: &impl Tail, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        let at = offset + filled as u64;
        match uninterrupted(|| file.read_at(&mut buffer[filled..], at))? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}
