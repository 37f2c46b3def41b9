//! Tests of model providers against independent servers: `llmock` (which checks its clients),
//! `aimock`, and llama.cpp's server. Titles and counts are compared with agents.
//!
//! The servers are installed from the registries of Python and npm, so this runs only if
//! `TURNPIPE_INDEPENDENT_SERVERS` names the directory to install them in.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]
#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

mod aimock;
mod commands;
mod examples;
#[path = "../side/files.rs"]
#[expect(dead_code, reason = "shared with other tests")]
mod files;
mod llama;
mod llmock;
mod models;
#[path = "../side/recorded.rs"]
mod recorded;
mod schemas;
mod server;
#[path = "../cli/turnpipe.rs"]
#[expect(dead_code, reason = "shared with other tests")]
mod turnpipe;
mod turns;

use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

/// Exit status of the script if a registry cannot be reached.
const UNREACHABLE: i32 = 69;

/// The directory of the servers, installed once; `None` if they are not wanted or cannot be installed.
static INSTALLED: LazyLock<Option<PathBuf>> = LazyLock::new(installed);

fn installed() -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("TURNPIPE_INDEPENDENT_SERVERS") else {
        println!("skipped: TURNPIPE_INDEPENDENT_SERVERS is not set");
        return None;
    };
    let folder = std::path::absolute(folder).unwrap();
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/independent_servers/install.sh"
    );
    let status = Command::new(script).arg(&folder).status().unwrap();
    if status.code() == Some(UNREACHABLE) {
        println!("skipped: the registries of Python and npm cannot be reached");
        return None;
    }
    assert!(status.success(), "installing the servers failed: {status}");
    Some(folder)
}

#[test]
fn agents_show_and_count_what_turnpipe_does() {
    let Some(folder) = &*INSTALLED else { return };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/independent_agents.py");
    let mut command = Command::new("python3");
    command.args([script, env!("CARGO_BIN_EXE_turnpipe")]);
    let status = command.arg(folder.join("agents")).status().unwrap();
    if status.code() == Some(UNREACHABLE) {
        println!("skipped: the registry of JavaScript packages cannot be reached");
        return;
    }
    assert!(status.success(), "{status}");
}

#[test]
fn independent_servers_accept_the_requests() {
    let Some(folder) = &*INSTALLED else { return };
    llmock::run(folder);
    aimock::run(folder);
    commands::under_a_rate_limit(folder);
    commands::run(folder);
}

#[test]
fn an_agent_of_pipes_works_with_independent_servers() {
    let Some(folder) = &*INSTALLED else { return };
    turns::run(folder);
    schemas::run(folder);
    examples::run(folder);
}
