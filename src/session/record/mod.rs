//! Converts the records of a stream to the lines of a session file (`docs/protocol.md`, Session
//! files).
//!
//! Deciding what to keep and in which form needs no file. `target` does the I/O.

mod chain;
mod continuation;
mod foreign;
mod keep;
mod metadata;
mod recorder;
mod rename;
mod target;

pub use chain::Chain;
pub use continuation::{Continuation, TurnWatch};
pub use foreign::{ForeignSession, Recorded};
pub use keep::{KeepError, Kept, Moment, has_place, keep_recap, keep_title};
pub use metadata::{
    Destination, Metadata, SIDE_FILE_SUFFIX, anchor_line, destination, metadata_line,
    side_file_path,
};
pub use recorder::{Recorder, SessionFacts};
pub use rename::{NameError, RenameFacts, SessionName, name_file, name_record};
pub use target::{Ownership, RecordError, Transcript, follow_file, ownership};
