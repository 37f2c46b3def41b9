//! The domain types: messages with their blocks, token counts, ids and decisions. They do not depend
//! on the format of an API or agent.

mod block;
mod decision;
mod ids;
mod injected;
mod join;
#[expect(
    clippy::module_inception,
    reason = "the module is named for its main type"
)]
mod message;
mod mode;
mod outcome;
mod pairs;
mod usage;

pub use block::{Block, Call, Media, ResultPart, Thought, ToolResult};
pub use decision::{DecidedBy, Decision};
pub use ids::{MessageId, SessionId, ToolUseId};
pub use injected::{is_remark, split_typed, typed, without_injected};
pub use join::MessageJoiner;
pub use message::{Message, Origin, Role, Thread};
pub use mode::{BuiltinRule, Mode};
pub use outcome::{CallOutcome, start_of_result};
pub use pairs::Pairs;
pub use usage::Usage;
pub(crate) use usage::to_the_millionth;
