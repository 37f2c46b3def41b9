//! Model APIs, one file each: whole messages, parts of streamed ones, requests and results.
//!
//! Pure. Nothing outside of this module knows the members of an API's objects.

mod anthropic;
mod anthropic_events;
#[expect(
    clippy::module_inception,
    reason = "the module is named for its main type"
)]
mod api;
mod arguments;
mod ask;
mod contents;
mod delta;
mod dialect;
mod envelope;
mod gemini;
mod gemini_schema;
mod ollama;
mod openai_chat;
mod raw;
mod request;
mod responses;
mod shape;
mod turns;

pub(crate) use anthropic_events::{BlockDelta, BlockStart, block_delta, block_start, block_stop};
pub use api::Api;
pub(crate) use api::{CallResult, encode};
pub(crate) use arguments::Arguments;
pub use arguments::CutOff;
pub use contents::{AssistantText, Contents, ResultBody, beginning_of_string};
pub(crate) use delta::{CallDelta, Choice, Chunk, Delta, End, EndKind, Extent};
pub use dialect::{Acceptance, CacheMarks, Dialect, DialectOverrides, ForcedCall, JsonForm};
pub(crate) use envelope::{Content, Envelope};
pub(crate) use raw::{RawDelta, add_members};
pub use request::{
    Answer, Attempts, Delivery, Function, PromptId, Request, SharedPrefix, Thinking, Turn,
};
pub(crate) use responses::{is_custom_call, is_response};
pub(crate) use shape::{Said, Spoken, said, spoken};
pub use shape::{TEXT_NEEDLES, prefilter_needles};
