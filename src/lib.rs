//! The machinery of coding agents as composable Unix filters.
//!
//! This is the library of the command `turnpipe`. Four modules are meant for other programs; they need
//! neither a network nor a model:
//!
//! | module | purpose |
//! |---|---|
//! | [`session`] | session files of coding agents: messages, token counts and costs |
//! | [`shell`] | analysis of shell commands without running them |
//! | [`permission`] | permission rules, modes and decisions |
//! | [`text`] | untrusted text: terminal-safe output, redaction of secrets, display width |
//!
//! [`message`] has the types that they share. `examples/` has complete programs. Everything else is
//! internal to the command and can change in any version.
//!
//! # Cargo features
//!
//! `cli` (default) builds the command, `model` everything that runs tools or calls models, and `mcp`
//! (default) the client of MCP servers. For the library alone, without an HTTP client and TLS:
//!
//! ```toml
//! turnpipe = { version = "0.1", default-features = false }
//! ```
//!
//! # Read a session
//!
//! [`session::Session::open`] detects which agent wrote a file.
//!
//! ```no_run
#![doc = include_str!("../examples/session_tokens.rs")]
//! ```
//!
//! # Analyse a command line
//!
//! [`shell::analyse`] decides whether a command only reads, and splits it into its parts. It takes time
//! linear in the length of the command.
//!
//! ```no_run
#![doc = include_str!("../examples/analyse_command.rs")]
//! ```
//!
//! # Decide by rules
//!
//! Rules have the syntax of Claude Code's settings. [`permission::Rules::decide`] is a pure function: the
//! caller describes the call and resolves links.
//!
//! ```no_run
#![doc = include_str!("../examples/decide.rs")]
//! ```

// Without the command, some items of lower modules are unused.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]

pub use turnpipe_core::text;

#[doc(hidden)]
pub use turnpipe_core::io;

pub(crate) use turnpipe_core::json;

#[doc(hidden)]
pub use turnpipe_core::jsonl;

pub(crate) use turnpipe_core::process_table;

#[doc(hidden)]
pub mod process;

#[cfg(feature = "model")]
#[doc(hidden)]
pub mod http;

pub use turnpipe_core::message;

pub(crate) use turnpipe_core::tool_facts;

#[cfg(all(feature = "model", sandbox))]
#[doc(hidden)]
pub mod sandbox;

#[doc(hidden)]
pub mod records;

#[doc(hidden)]
pub use turnpipe_formats::api;

#[doc(hidden)]
pub use turnpipe_formats::agent;

#[doc(hidden)]
pub use turnpipe_formats::assemble;

#[doc(hidden)]
pub use turnpipe_sessions::state;

pub use turnpipe_sessions::session;

#[doc(hidden)]
pub mod view;

#[doc(hidden)]
pub mod render;

pub use turnpipe_guard::shell;

pub use turnpipe_guard::permission;

#[cfg(feature = "model")]
#[doc(hidden)]
pub mod hooks;

#[cfg(feature = "model")]
#[doc(hidden)]
pub mod tools;

#[cfg(feature = "mcp")]
#[doc(hidden)]
pub mod mcp;

#[cfg(feature = "model")]
#[doc(hidden)]
pub mod results;

#[cfg(feature = "model")]
#[doc(hidden)]
pub mod exec;

#[cfg(feature = "model")]
#[doc(hidden)]
pub mod model;

#[cfg(feature = "model")]
#[doc(hidden)]
pub mod side;

#[cfg(feature = "model")]
#[doc(hidden)]
pub mod turn;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod config;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cmd;
