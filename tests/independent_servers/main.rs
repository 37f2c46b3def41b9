//! Tests of model providers against independent servers: `llmock` (which checks its clients),
//! `aimock`, and llama.cpp's server. Titles and counts are compared with agents.
//!
//! The servers are installed from the registries of Python and npm, so these tests run only when asked:
//! `cargo test --test independent_servers -- --ignored`.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]
#![expect(clippy::print_stdout, reason = "the results are compared by eye, too")]

mod aimock;
mod commands;
mod examples;
#[path = "../summaries/files.rs"]
#[expect(dead_code, reason = "shared with other tests")]
mod files;
mod llama;
mod llmock;
mod models;
#[path = "../summaries/recorded.rs"]
mod recorded;
mod schemas;
mod server;
#[path = "../skip/mod.rs"]
mod skip;
#[path = "../cli/turnpipe.rs"]
#[expect(dead_code, reason = "shared with other tests")]
mod turnpipe;
mod turns;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The directory of the servers, installed once.
static INSTALLED: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("independent_servers");
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/independent_servers/install.sh"
    );
    let status = Command::new(script).arg(&folder).status().unwrap();
    assert!(
        status.success(),
        "the servers cannot be installed: {status}"
    );
    folder
});

#[test]
#[ignore = "installs programs from the registries of Python and npm"]
fn agents_show_and_count_what_turnpipe_does() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/independent_agents.py");
    let mut command = Command::new("python3");
    command.args([script, env!("CARGO_BIN_EXE_turnpipe")]);
    let status = command.arg(INSTALLED.join("agents")).status().unwrap();
    assert!(status.success(), "{status}");
}

#[test]
#[ignore = "installs programs from the registries of Python and npm"]
fn independent_servers_accept_the_requests() {
    let folder = &*INSTALLED;
    llmock::run(folder);
    aimock::run(folder);
    commands::check_rate_limit(folder);
    commands::run(folder);
}

#[test]
#[ignore = "installs programs from the registries of Python and npm"]
fn an_agent_of_pipes_works_with_independent_servers() {
    let folder = &*INSTALLED;
    turns::run(folder);
    schemas::run(folder);
    examples::run(folder);
}
