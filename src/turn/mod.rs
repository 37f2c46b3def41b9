//! Requests to the main model and its replies: the history in the form that an API accepts,
//! limits, and the records of a reply while it arrives. Executes nothing; the rules are pure.

mod history;
mod limits;
mod output;
mod records;

pub use history::{FEEDBACK, History, NothingToAnswer};
pub use limits::{Limit, Spent, TurnLimits, system_prompt};
pub(crate) use output::{MAX_CORRECTIONS, OutputCheck};
pub use records::{Ending, RecordBuilder};
