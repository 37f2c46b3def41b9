//! Dependencies of servers, and failures of their tasks.

use std::ffi::OsString;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::http::{Client, Engine, Task};
use crate::io::CancelToken;
use crate::process::Spawners;

/// Shared dependencies of servers.
#[derive(Debug)]
pub struct ServerDeps {
    /// Runs their connections.
    pub engine: Engine,
    /// Sends requests to servers over HTTP.
    pub client: Client,
    /// Starts programs.
    pub spawners: Arc<Spawners>,
    /// Environment of programs.
    pub variables: Vec<(OsString, OsString)>,
    /// Working directory of programs.
    pub directory: PathBuf,
    /// Timeouts.
    pub timeouts: Timeouts,
}

/// Timeouts of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a server to start and list its tools.
    pub start: Duration,
    /// For a call.
    pub call: Duration,
}

impl ServerDeps {
    /// Runs a task to completion on the engine.
    pub(super) fn run<Output: Send + 'static>(
        &self,
        task: impl Future<Output = Result<Output, McpFailure>> + Send + 'static,
    ) -> Result<Output, McpFailure> {
        let done = self.engine.run(|_: Task<()>| task, |()| ());
        done.unwrap_or_else(|error| Err(McpFailure::Failed(error.to_string())))
    }
}

/// Waits for a task unless `cancel` fires. A cancelled task continues to run: a server that has started can be used by
/// the next call.
pub(super) async fn unless_cancelled<Output>(
    task: JoinHandle<Result<Output, McpFailure>>,
    cancel: &CancelToken,
) -> Result<Output, McpFailure> {
    tokio::select! {
        done = task => done.unwrap_or_else(|error| Err(McpFailure::Failed(error.to_string()))),
        () = cancel.fired() => Err(McpFailure::Cancelled),
    }
}

/// A failure of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum McpFailure {
    /// The call or the run was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The timeout of a call expired.
    #[error("no response to the call within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    /// The server refused the call, or has ended.
    #[error("{0}")]
    Failed(String),
}
