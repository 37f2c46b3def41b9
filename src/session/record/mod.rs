//! From the records of a stream to the lines of a session file (protocol 6.12).
//!
//! Pure: what the file holds so far is told, what is to be appended is returned.

mod chain;
mod continuation;
mod recorder;

pub use chain::Chain;
pub use continuation::{Continuation, TurnWatch};
pub use recorder::{Recorder, SessionFacts};
