//! Appends records to a file that others write to as well, without losing any of their bytes.
//! The rules work on an abstract file ([`Tail`]). Tests use files that tear, fill up, fail and
//! change during a write. The content of records is opaque here.

mod append;
mod detached_write;
mod file;

pub use append::{AppendError, Tail, append_record};
pub use file::{FileSystems, LockedFile, Presence, RecordError, RecordFailure, Sync};

#[cfg(test)]
mod test_disk;
#[cfg(test)]
mod tests;
