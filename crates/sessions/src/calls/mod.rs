//! The tool calls of sessions, each with its result.

pub(crate) mod events;
pub(crate) mod seen_call;
