//! Requests to the main model and its replies: the history in the form that an API accepts,
//! limits, the writer of a reply while it arrives, and `Stop` hooks. Executes no tools.

mod conversation;
mod history;
mod limits;
mod output;
mod records;
mod reply_writer;

pub use conversation::TurnConversation;
pub use history::{History, NothingToAnswer};
pub use limits::{Consumption, Limit, TurnLimits, system_prompt};
pub(crate) use output::OutputCheck;
pub use records::{Ending, RecordBuilder};
pub use reply_writer::{ReplyWriter, StopHooks, WrittenReply};
