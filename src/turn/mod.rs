//! Requests to the main model, and what becomes of its replies: the history as an API accepts it,
//! limits, and the records of a reply while it arrives. Executes nothing; the rules are pure.

mod history;
mod limits;
mod records;
mod system;

pub use history::{FEEDBACK, History, NothingToAnswer};
pub use limits::{Limit, Limits, Spent};
pub use records::{Ending, RecordBuilder};
pub use system::system_prompt;
