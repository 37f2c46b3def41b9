//! The process of a server.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{io, thread};

use tokio::sync::watch;
use tokio::time::timeout;

use super::config::{Program, ServerDeps};
use crate::io::CancelToken;
use crate::process::{
    Capture, Captured, Command, ExitStatus, Finished, Limits, SpawnError, Stdin, StdioPipes,
};
use crate::text::{fit_columns, terminal_safe_line};

/// Capture of its standard error, for error messages.
const CAPTURE: Capture = Capture {
    memory_bytes: 8 * 1024,
    total_bytes: 8 * 1024,
};

/// Time between the request to exit and the kill.
const GRACE: Duration = Duration::from_millis(500);

/// Maximum width of a line of standard error or an error message, in columns.
pub(super) const MAX_MESSAGE_WIDTH: usize = 200;

/// A started program. Dropping it ends the program.
#[derive(Debug)]
pub(super) struct ServerProcess {
    cancel: CancelToken,
    /// A description of how the program ended.
    ending: watch::Receiver<Option<String>>,
}

/// The pipes to its standard input and from its standard output.
pub(super) type ServerPipes = (OwnedFd, OwnedFd);

impl ServerProcess {
    /// Starts the program, and a thread that waits for its end.
    pub(super) fn start(program: &Program, deps: &ServerDeps) -> io::Result<(Self, ServerPipes)> {
        let (stdin, to_server) = io::pipe()?;
        let (from_server, stdout) = io::pipe()?;
        let mut environment: BTreeMap<OsString, OsString> =
            deps.variables.iter().cloned().collect();
        let additional = program.environment.iter();
        environment.extend(additional.map(|(name, value)| (name.into(), value.into())));
        // Identifies servers that outlive this process.
        environment.insert("TURNPIPE".into(), "1".into());
        let directory = program.directory.as_deref().unwrap_or(Path::new(""));
        let command = Command {
            program: program.command.clone().into(),
            arguments: program.arguments.iter().map(OsString::from).collect(),
            environment: environment.into_iter().collect(),
            directory: deps.directory.join(directory),
            stdin: Stdin::Null,
            report: None,
            capture: CAPTURE,
            limits: Limits {
                timeout: Duration::MAX,
                grace: GRACE,
                drain: GRACE,
            },
        };
        let conversation = StdioPipes {
            stdin: stdin.into(),
            stdout: stdout.into(),
        };
        let (cancel, (end_sender, ending)) = (CancelToken::default(), watch::channel(None));
        let watcher = (Arc::clone(&deps.spawners), cancel.clone());
        thread::Builder::new()
            .name("server".to_owned())
            .spawn(move || {
                let (spawners, cancel) = watcher;
                let finished = spawners.run_with(&command, Some(conversation), &cancel);
                // The connection may be gone.
                let _ = end_sender.send(Some(describe_end(finished)));
            })?;
        let ends = (to_server.into(), from_server.into());
        Ok((Self { cancel, ending }, ends))
    }

    /// Waits up to `limit` for the end of the program. Returns how it ended.
    pub(super) async fn wait_for_end(&self, limit: Duration) -> Option<String> {
        let mut ending = self.ending.clone();
        let result = timeout(limit, ending.wait_for(Option::is_some)).await;
        result.ok()?.ok()?.clone()
    }

    /// Waits for the program to exit after its input was closed, then ends it.
    pub(super) async fn end(&self) {
        if self.wait_for_end(GRACE).await.is_none() {
            self.cancel.cancel();
            // It is killed after the grace period.
            self.wait_for_end(3 * GRACE).await;
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

fn describe_end(finished: Result<Finished, SpawnError>) -> String {
    let finished = match finished {
        Ok(finished) => finished,
        Err(error) => return error.to_string(),
    };
    let ending = match finished.status {
        ExitStatus::Code(code) => format!("exited with status {code}"),
        ExitStatus::Signal(signal) => format!("killed by signal {signal}"),
    };
    match last_line(&finished.stderr) {
        Some(line) => format!("{ending}: {line}"),
        None => ending,
    }
}

fn last_line(stderr: &Captured) -> Option<String> {
    let bytes = stderr.suffix(CAPTURE.total_bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().rfind(|line| !line.trim().is_empty())?;
    Some(fit_columns(
        &terminal_safe_line(line.trim()),
        MAX_MESSAGE_WIDTH,
    ))
}
