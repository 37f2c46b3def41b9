//! A server that is a program of ours.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{io, thread};

use tokio::sync::watch;
use tokio::time::timeout;

use super::config::Program;
use super::server::World;
use crate::io::CancelToken;
use crate::process::{
    Capture, Captured, Command, Conversation, ExitStatus, Finished, Limits, SpawnError, Stdin,
};
use crate::text::{fitted, terminal_safe_line};

/// What is kept of its stderr, for the message when it fails.
const KEPT: Capture = Capture {
    memory_bytes: 8 * 1024,
    total_bytes: 8 * 1024,
};

/// How long it may go on after it was asked to end.
const GRACE: Duration = Duration::from_millis(500);

/// How much of its last words, or of an error, is shown, in columns.
pub(super) const SHOWN: usize = 200;

/// A program, from its start to its end.
#[derive(Debug)]
pub(super) struct ServerProcess {
    cancel: CancelToken,
    /// How it ended, if it has.
    ending: watch::Receiver<Option<String>>,
}

/// What to write to it and to read from it.
pub(super) type Ends = (OwnedFd, OwnedFd);

impl ServerProcess {
    /// Starts it, on a thread that watches it to its end.
    pub(super) fn start(program: &Program, world: &World) -> io::Result<(Self, Ends)> {
        let (stdin, to_server) = io::pipe()?;
        let (from_server, stdout) = io::pipe()?;
        let mut environment: BTreeMap<OsString, OsString> =
            world.variables.iter().cloned().collect();
        let own = program.environment.iter();
        environment.extend(own.map(|(name, value)| (name.into(), value.into())));
        // By it, servers are found that outlive this process.
        environment.insert("TURNPIPE".into(), "1".into());
        let directory = program.directory.as_deref().unwrap_or(Path::new(""));
        let command = Command {
            program: program.command.clone().into(),
            arguments: program.arguments.iter().map(OsString::from).collect(),
            environment: environment.into_iter().collect(),
            directory: world.directory.join(directory),
            stdin: Stdin::Null,
            report: None,
            capture: KEPT,
            limits: Limits {
                timeout: Duration::MAX,
                grace: GRACE,
                drain: GRACE,
            },
        };
        let conversation = Conversation {
            stdin: stdin.into(),
            stdout: stdout.into(),
        };
        let (cancel, (ended, ending)) = (CancelToken::default(), watch::channel(None));
        let watcher = (Arc::clone(&world.spawners), cancel.clone());
        thread::Builder::new()
            .name("server".to_owned())
            .spawn(move || {
                let (spawners, cancel) = watcher;
                let finished = spawners.run_with(&command, Some(conversation), &cancel);
                let _ = ended.send(Some(description(finished)));
            })?;
        let ends = (to_server.into(), from_server.into());
        Ok((Self { cancel, ending }, ends))
    }

    /// How it ended, if it does so within `patience`.
    pub(super) async fn ending(&self, patience: Duration) -> Option<String> {
        let mut ending = self.ending.clone();
        let ended = timeout(patience, ending.wait_for(Option::is_some)).await;
        ended.ok()?.ok()?.clone()
    }

    /// Waits for its end, which it should reach by itself since its input is closed, and asks for it
    /// after a while.
    pub(super) async fn end(&self) {
        if self.ending(GRACE).await.is_none() {
            self.cancel.cancel();
            // After the grace it is killed.
            self.ending(3 * GRACE).await;
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

fn description(finished: Result<Finished, SpawnError>) -> String {
    let finished = match finished {
        Ok(finished) => finished,
        Err(error) => return error.to_string(),
    };
    let ending = match finished.status {
        ExitStatus::Code(code) => format!("it ended with status {code}"),
        ExitStatus::Signal(signal) => format!("it was ended by signal {signal}"),
    };
    match last_line(&finished.stderr) {
        Some(line) => format!("{ending}: {line}"),
        None => ending,
    }
}

fn last_line(stderr: &Captured) -> Option<String> {
    let bytes = stderr.suffix(KEPT.total_bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().rfind(|line| !line.trim().is_empty())?;
    Some(fitted(&terminal_safe_line(line.trim()), SHOWN))
}
