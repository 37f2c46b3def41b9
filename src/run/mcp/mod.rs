//! MCP servers: configuration files, starting servers on demand, calls of tools, resources, and results.
//!
//! A server is a program that the user chose. It runs unconfined, but its messages are untrusted: they are bounded,
//! every wait has a timeout, and hints do not grant permission.

mod config;
mod connection;
mod content;
mod handshake;
mod input;
mod listing;
mod process;
mod resources;
mod server;
mod server_set;
mod source;
mod tool;

pub use config::{
    ConfigProblem, MalformedConfig, Program, ServerConfig, ServerDeps, Timeouts, Transport,
    read_config,
};
pub use server_set::{Probe, ProbedServer, ServerSet};
