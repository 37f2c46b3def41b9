//! From the records of a stream to the lines of a session file (protocol 6.12).
//!
//! What to keep and in which form is decided without looking at a file; `target` does that.

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
    BESIDE, Destination, Metadata, anchor_line, destination, file_beside, metadata_line,
};
pub use recorder::{Recorder, SessionFacts};
pub use rename::{NameError, RenameFacts, SessionName, name_file, name_record};
pub use target::{Ownership, RecordError, Transcript, follow_file, ownership};
