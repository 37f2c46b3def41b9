//! Tools of MCP servers: which servers a file names, starting them when they are needed, calling
//! their tools, and what their answers become.
//!
//! A server is a program that the user chose. It runs unconfined, but what it says is hostile: its
//! messages are bounded, every wait for it has a limit, and its hints give no permission.

mod config;
mod connection;
mod content;
mod lines;
mod name;
mod process;
mod search;
mod server;
mod servers;
mod tool;

pub use config::{ConfigProblem, MalformedConfig, Program, ServerConfig, Transport, read_config};
pub use server::{Timeouts, World};
pub use servers::Servers;
