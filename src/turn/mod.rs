//! Requests to the main model and its replies: the history in the form that an API accepts,
//! limits, and the records of a reply while it arrives. Executes nothing; the rules are pure.

mod history;
mod limits;
mod records;

pub use history::{FEEDBACK, History, NothingToAnswer};
pub use limits::system_prompt;
pub use limits::{Limit, Spent, TurnLimits};
pub(crate) use limits::{MAX_CORRECTIONS, OutputCheck};
pub use records::{Ending, RecordBuilder};
