//! Appends records to a file that others write to as well, without losing any of their bytes.
//! The rules work on an abstract file ([`Tail`]). Tests use files that tear, fill up, fail and
//! change during a write. The content of records is opaque here.

mod append;
mod file;
mod file_system;
mod tail;

pub use append::{AppendError, append_record};
pub use file::{LockedFile, Presence, RecordError, RecordFailure, Sync};
pub use file_system::FileSystems;
pub use tail::Tail;

#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;
