//! Tools of MCP servers: configuration files, starting servers on demand, calls, and results.
//!
//! A server is a program that the user chose. It runs unconfined, but its messages are untrusted: they are bounded,
//! every wait has a timeout, and hints do not grant permission.

mod config;
mod connection;
mod content;
mod deps;
mod output_limit;
mod process;
mod search;
mod server;
mod servers;
mod source;

pub use config::{ConfigProblem, MalformedConfig, Program, ServerConfig, Transport, read_config};
pub use deps::{ServerDeps, Timeouts};
pub use servers::Servers;
