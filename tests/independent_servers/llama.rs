//! llama.cpp's own server, with a model that `llama.py` writes: each of its tokens has one successor.

use std::path::Path;
use std::process::Command;

use crate::server::Server;

pub(crate) fn start(folder: &Path) -> Server {
    Server::start(|port| {
        let script = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/independent_servers/llama.py"
        );
        let mut command = Command::new(folder.join("llama/bin/python"));
        command.args([script, port]);
        command
    })
}
