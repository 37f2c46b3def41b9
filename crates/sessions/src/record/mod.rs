//! Converts the records of a stream to lines of session files, and writes titles, recaps and labels
//! (`docs/sessions.md`, Recording).

mod chain;
mod foreign;
mod recorder;
mod recording;
mod transcript;

pub use crate::files::side_file::{SIDE_FILE_SUFFIX, each_side_record, side_file_path};
pub use chain::Continuation;
pub use foreign::{ForeignSession, Recorded};
pub use recorder::SessionFacts;
pub use recording::{Recording, Target};
pub use transcript::{NameError, Ownership, SessionName, Transcript, ownership};
