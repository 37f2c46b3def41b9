//! Converts the records of a stream to lines of session files, and writes titles, recaps and labels
//! (`docs/sessions.md`, Recording).

mod chain;
mod foreign;
mod recorder;
mod recording;
mod transcript;

pub use crate::files::side_file::{SIDE_FILE_SUFFIX, side_file_path, visit_side_records};
pub use chain::Continuation;
pub use foreign::{ForeignSession, RecordOutcome};
pub use recorder::SessionFacts;
pub use recording::{Recording, Target};
pub use transcript::{NameError, Ownership, SessionName, Transcript, find_owner};
