//! The library of the command `turnpipe`, for its binary and tests. It can change in any version.
//!
//! Other programs use the crates below it, which need neither a network nor a model:
//!
//! | crate | purpose |
//! |---|---|
//! | [`turnpipe_sessions`] | session files of coding agents: messages, token counts and costs |
//! | [`turnpipe_guard`] | what a shell command does, and what permission rules decide |
//! | [`turnpipe_formats`] | the formats of model APIs and coding agents |
//! | [`turnpipe_core`] | untrusted text, JSON lines, messages |

#![allow(missing_docs, reason = "not an interface for other programs")]

pub use turnpipe_core::{io, jsonl, message, text};
use turnpipe_core::{json, tool_facts};
pub use turnpipe_formats::{agent, api, assemble};
#[cfg(sandbox)]
pub use turnpipe_guard::sandbox;
pub use turnpipe_guard::{permission, process, shell};
pub use turnpipe_sessions as session;
pub use turnpipe_sessions::state;

pub mod client;
pub mod commands;
pub mod config;
pub mod records;
pub mod render;
pub mod run;
pub mod summaries;
