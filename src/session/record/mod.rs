//! Converts the records of a stream to the lines of a session file (`docs/protocol.md`, Session
//! files).
//!
//! Deciding what to keep and in which form needs no file. `target` does the I/O.

mod chain;
mod continuation;
mod foreign;
mod metadata;
mod moment;
mod recorder;
mod session_name;
mod target;

pub use continuation::{Continuation, TurnWatch};
pub use foreign::{ForeignSession, Recorded};
pub use metadata::{SIDE_FILE_SUFFIX, side_file_path};
pub use moment::Moment;
pub use recorder::SessionFacts;
pub use session_name::{NameError, SessionName};
pub use target::{Ownership, Transcript, ownership};
