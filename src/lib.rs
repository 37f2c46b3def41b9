//! The inner machinery of a coding agent, taken apart into Unix filters.
//!
//! Every rule lives in this library; the binary only parses arguments and turns the outcome into
//! an exit status. `docs/architecture.md` says which room a line of code belongs to; a room
//! imports only rooms listed before it there.

pub mod text;

pub mod io;

pub(crate) mod json;

pub mod jsonl;

pub mod process;

pub mod http;

pub mod message;

pub mod records;

pub mod api;

pub mod agent;

pub mod assemble;

pub mod view;

pub mod state;

pub mod session;

pub mod shell;

pub mod permission;

pub mod hooks;

pub mod tools;

#[cfg(feature = "mcp")]
pub mod mcp;

pub mod results;

pub mod exec;

pub mod model;

pub mod side;

pub mod turn;

pub mod config;

pub mod flow;

pub mod cmd;
