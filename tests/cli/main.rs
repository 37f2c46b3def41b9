//! The binary from outside: status, standard output and standard error of whole runs.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod agent_tools;
mod check_permission;
mod check_shell;
mod check_text;
mod ci_example;
mod doctor;
mod entry_points;
mod examples;
#[path = "../executable/mod.rs"]
mod executable;
mod help;
mod hook;
mod hook_agents;
mod hook_settings;
mod inputs;
mod installer;
mod library;
mod pages;
#[path = "../pty/mod.rs"]
mod pty;
mod recorded;
#[path = "../recorded/mod.rs"]
mod recording;
#[cfg(target_os = "linux")]
mod rules_in_a_sandbox;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(target_os = "linux")]
mod sandbox_ladder;
mod scale;
#[path = "../skip/mod.rs"]
mod skip;
mod streams;
mod terminal;
mod turnpipe;
mod usage;
#[cfg(target_os = "linux")]
mod workspace;
#[cfg(target_os = "linux")]
mod workspace_network;
