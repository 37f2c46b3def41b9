//! The inner machinery of a coding agent, taken apart into Unix filters.
//!
//! Every rule lives in this library; the binary only parses arguments and turns the outcome into
//! an exit status. `docs/architecture.md` says which room a line of code belongs to; a room
//! imports only rooms listed before it there.

// The lower modules serve more than the light library uses.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]

pub mod text;

pub mod io;

pub(crate) mod json;

pub mod jsonl;

pub mod process;

#[cfg(feature = "model")]
pub mod http;

pub mod message;

pub(crate) mod tool_facts;

pub mod records;

pub mod api;

pub mod agent;

pub mod assemble;

pub mod view;

pub mod state;

pub mod session;

pub mod shell;

pub mod permission;

#[cfg(feature = "model")]
pub mod hooks;

#[cfg(feature = "model")]
pub mod tools;

#[cfg(feature = "mcp")]
pub mod mcp;

#[cfg(feature = "model")]
pub mod results;

#[cfg(feature = "model")]
pub mod exec;

#[cfg(feature = "model")]
pub mod model;

#[cfg(feature = "model")]
pub mod side;

#[cfg(feature = "model")]
pub mod turn;

#[cfg(feature = "cli")]
pub mod config;

#[cfg(feature = "cli")]
pub mod cmd;
