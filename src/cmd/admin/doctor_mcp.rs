//! The MCP servers in `doctor`.

use anyhow::Context as _;

use crate::cmd::Globals;
use crate::cmd::run::arguments::McpArguments;
use crate::io::Io;
use crate::mcp::{Probe, Probed};
use crate::text::counted;
use crate::view::ProgressLine;

/// Beginnings of hints, each after a text in the error that it explains.
const HINTS: [(&str, &str); 4] = [
    (
        "command not found",
        "install it, or write its whole path as `command`",
    ),
    (
        "no response within",
        "`MCP_TIMEOUT` extends the limit, in milliseconds",
    ),
    ("uth", "write a key in `headers`; OAuth is not supported"),
    ("is not set", "set the variable, or write a default"),
];

/// A server of the files.
pub(super) struct Found {
    pub(super) name: String,
    pub(super) value: String,
    /// Its program or host.
    pub(super) target: String,
    /// The error of its start, if it was tried.
    pub(super) tried: Result<(), String>,
}

/// Returns the servers of the files. Starts them only if asked to `probe` them.
pub(super) fn servers(
    arguments: &McpArguments,
    probe: bool,
    globals: &Globals,
    io: &mut Io,
) -> anyhow::Result<Vec<Found>> {
    let here = std::env::current_dir().context("cannot find the working directory")?;
    let Some(servers) = arguments.servers(&here, globals, io)? else {
        return Ok(Vec::new());
    };
    let progress = probe.then(|| ProgressLine::spinner("starting the MCP servers", io));
    let probed = servers.probe(probe).into_iter();
    drop(progress);
    let found = probed.map(
        |Probed {
             name,
             target,
             result,
         }| Found {
            name,
            value: match &result {
                None => "configured".to_owned(),
                Some(Ok(probe)) => described(probe),
                Some(Err(_)) => "failed".to_owned(),
            },
            target,
            tried: result.map_or(Ok(()), |result| result.map(|_| ()).map_err(with_hint)),
        },
    );
    Ok(found.collect())
}

fn described(probe: &Probe) -> String {
    let count = |number: usize, one, many| counted(number as u64, one, many);
    format!(
        "{}; {}, {}; {} ms",
        probe.revision,
        count(probe.tools, "tool", "tools"),
        count(probe.resources, "resource", "resources"),
        probe.elapsed.as_millis()
    )
}

fn with_hint(error: String) -> String {
    match HINTS.iter().find(|(part, _)| error.contains(part)) {
        Some((_, hint)) => format!("{error}; {hint}"),
        None => error,
    }
}
