//! What survives between one-shot processes of one session (protocol 6.11): the directory, its
//! lock, and what is kept in it.

mod read_log;

pub use read_log::{FileStamp, ReadEntry, ReadLog, ReadRange};
