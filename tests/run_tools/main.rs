//! The binary's `run-tools`: whole pipelines over real processes, files and pipes.

#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test may fail anywhere"
)]

mod advisor;
mod api_results;
mod asking;
mod bench;
mod budgets;
mod call_ids;
mod children;
mod composition;
mod damage;
mod endings;
mod example_hooks;
mod first_process;
mod fixtures;
mod hooks;
mod identity;
mod judging;
mod lane;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "mcp")]
mod mcp_protocol;
mod model_server;
mod output;
mod own_environment;
mod patches;
mod policies;
#[path = "../pty/mod.rs"]
mod pty;
#[cfg(target_os = "linux")]
mod sandbox;
#[path = "../schema/mod.rs"]
mod schema;
mod sessions;
#[path = "../skip/mod.rs"]
mod skip;
mod streaming;
mod web;
#[cfg(target_os = "linux")]
mod workspace;
#[cfg(target_os = "linux")]
mod workspace_network;
