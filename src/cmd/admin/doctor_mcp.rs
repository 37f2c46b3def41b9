//! The MCP servers in `doctor`.

use anyhow::Context as _;

use super::doctor::{finding, judged};
use crate::cmd::Globals;
use crate::cmd::run::arguments::McpArguments;
use crate::io::Io;
use crate::mcp::{Probe, Probed};
use crate::records::{DoctorRecord, Subject};
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

/// Returns a finding for each server of the files. Starts the servers only if asked to `probe` them.
pub(super) fn servers(
    arguments: &McpArguments,
    probe: bool,
    globals: &Globals,
    io: &mut Io,
) -> anyhow::Result<Vec<DoctorRecord>> {
    let here = std::env::current_dir().context("cannot find the working directory")?;
    let Some(servers) = arguments.servers(&here, globals, io)? else {
        return Ok(Vec::new());
    };
    let progress = ProgressLine::spinner("starting the MCP servers", globals.quiet || !probe, io);
    let probed = servers.probe(probe);
    drop(progress);
    let found = probed.into_iter().map(
        |Probed {
             name,
             target,
             result,
         }| {
            let value = match &result {
                None => "configured".to_owned(),
                Some(Ok(probe)) => described(probe),
                Some(Err(_)) => "failed".to_owned(),
            };
            let tried = result.map_or(Ok(()), |result| result.map(|_| ()).map_err(with_hint));
            judged(finding(Subject::McpServer, &name, &value, &target), tried)
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
