//! The domain types: messages with their blocks, token counts, ids and decisions. They do not depend
//! on the format of an API or agent.

mod block;
mod decision;
mod injected;
#[expect(
    clippy::module_inception,
    reason = "the module is named for its main type"
)]
mod message;
mod network;
mod usage;

pub use block::{
    Block, Call, CallEnd, Media, MessageId, ResultPart, SessionId, Thought, ToolResult, ToolUseId,
    input_of, result_parts,
};
pub use decision::{BuiltinRule, CallOutcome, DecidedBy, Decision, Mode, start_of_result};
pub use injected::{is_interruption, is_remark, split_blocks, typed_text, without_injected};
pub use message::{Message, MessageMerger, Origin, Pairs, Role, Thread};
pub use network::Network;
pub use usage::{Tier, Usage, serialize_rounded};
