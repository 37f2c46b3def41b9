//! Appending records to a file that others write to as well, without losing a byte of anybody's.
//!
//! The rules are a function over an abstract file ([`Tail`]), which is tested with files that tear,
//! fill up, fail and change under it. What a record means is not known here.

mod append;
mod file;
mod file_system;
mod tail;

pub use append::{AppendError, Appended, append_record};
pub use file::{LockedFile, OpenError, Presence, Sync};
pub use file_system::FileSystems;
pub use tail::Tail;

#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;
