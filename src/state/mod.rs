//! State that survives between processes of one session: its private directory, its lock, and its contents
//! (`docs/records.md`, State). Other modules decide what to store.

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
