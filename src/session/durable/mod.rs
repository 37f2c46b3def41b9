//! Appending records to a file that others write to as well, without losing a byte of anybody's.
//!
//! The rules are a function over an abstract file ([`Tail`]), tried out against files that tear,
//! fill up, fail and change under it; what a record means is not its business.

mod append;
mod file;
mod file_system;
mod page;
mod tail;

pub use append::{AppendError, Appended, append_record};
pub use file::{LockedFile, OpenError, Presence, Sync};
pub use file_system::FileSystems;
pub use tail::Tail;

#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;
