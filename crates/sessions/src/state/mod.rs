//! State that survives between processes of one session: its private directory, its lock, and its contents
//! (`docs/records.md`, State). Other modules decide what to store.

mod clean;
mod directory;
mod file_lock;
mod identity;
mod session_state;

pub use clean::clean;
pub use directory::{RESULTS, STATE_SETTING};
pub use directory::{SessionDirectory, StateError, StateRoot};
pub(crate) use directory::{lock_within, open_private};
pub use file_lock::FileLock;
pub use identity::{SessionKey, SessionScope, safe_file_name};
pub use session_state::{FileStamp, ReadEntry, ReadLog, ReadRange, SessionState};
