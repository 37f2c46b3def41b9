//! Coding agents: their tools, and the streams that they write.

mod codex_stream;
mod gemini_stream;
mod opencode_stream;
mod pi_stream;
mod sign;
mod stream;
mod stream_reader;
mod tools;

pub use sign::Opening;
pub(crate) use sign::{PI_FILE, Sign, sign};
pub use stream::StreamItem;
pub(crate) use stream_reader::{Row, StreamReader};
pub(crate) use tools::{
    AgentTool, Parameter, Purpose, agent_tool, parameters, patched_files, texts,
};
