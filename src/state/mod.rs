//! What survives between one-shot processes of one session: its private directory, the lock on it,
//! and what is kept there (`docs/protocol.md`, State between processes).
//!
//! Decides nothing about calls; other rooms say what to keep.

mod clean;
mod directory;
mod file_name;
mod identity;
mod read_log;
mod session_state;

pub use clean::{CleanReport, clean};
pub(crate) use directory::{RESULTS, lock_within};
pub use directory::{SessionDirectory, StateError, StateRoot};
pub use file_name::safe_file_name;
pub use identity::{SessionKey, SessionScope};
pub use read_log::{FileStamp, ReadEntry, ReadLog, ReadRange};
pub use session_state::SessionState;
