//! Model APIs, one file each: whole messages, parts of streamed ones, requests and results.
//!
//! Pure. No other module contains members of an API's objects.

mod anthropic;
mod anthropic_encode;
mod contents;
mod delta;
mod dialect;
mod dispatch;
mod envelope;
mod gemini;
mod gemini_schema;
mod ollama;
mod openai_chat;
mod request;
mod responses;
mod shape;
mod verbatim;

pub(crate) use anthropic::{
    BlockDetail, read_blocks as read_anthropic_blocks, read_usage as read_anthropic_usage,
};
pub(crate) use anthropic_encode::{
    BlockDelta, BlockStart, encode_block_delta, encode_block_start, encode_block_stop,
};
pub use contents::{AssistantText, Contents, ResultBody, truncate_json_string};
pub use delta::CutOff;
pub use delta::FREE_TEXT;
pub use delta::{Arguments, CallDelta, Chunk, Delta, End, EndKind, Extent};
pub use dialect::{Acceptance, Api, CacheMarks, Dialect, DialectOverrides, ForcedCall, JsonForm};
pub use dispatch::encode;
pub(crate) use envelope::Envelope;
pub use gemini::Signed;
pub(crate) use gemini::{
    Tokens as GeminiTokens, read_blocks as read_gemini_blocks, read_usage as read_gemini_usage,
    sum_usage as sum_gemini_usage,
};
pub use openai_chat::{BUDGET_KEYS, CALLS, STREAM_OPTIONS};
pub(crate) use openai_chat::{read_calls as read_chat_calls, to_call_deltas};
pub use request::CallResult;
pub use request::{
    Attempts, Delivery, Function, OutputSchema, PromptId, ReplyForm, Request, SharedPrefix,
    Thinking, Turn,
};
pub(crate) use responses::{is_response, read_custom_call_id, read_parts as read_responses_parts};
pub(crate) use shape::{DialogContent, RecordContent, read_content, read_conversation};
pub use shape::{TEXT_NEEDLES, prefilter_needles};
pub(crate) use verbatim::{PARTIAL_INPUT, Verbatim, merge_members};
