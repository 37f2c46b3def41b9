//! One server: started when it is first needed, and again if it died since.

use std::collections::HashMap;
use std::ffi::OsString;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{CallToolResult, Tool as RemoteTool};
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio::sync::{Mutex, MutexGuard};
use tokio::task::JoinHandle;

use super::config::{ServerConfig, Transport};
use super::connection::{Connection, Failure, Route};
use super::name::server_prefix;
use super::process::ServerProcess;
use super::tool::McpTool;
use crate::http::{Address, Client, Engine, PlainText, Task};
use crate::io::CancelToken;
use crate::process::Spawners;
use crate::tools::Input;

/// How often an answer that was cut off is asked for, after one second, two and four, before the server
/// counts as gone.
const RECONNECTIONS: usize = 3;

/// What servers need.
#[derive(Debug)]
pub struct World {
    /// Runs the conversations with them.
    pub engine: Engine,
    /// Sends requests to those that are reached over HTTP.
    pub client: Client,
    /// Starts programs.
    pub spawners: Arc<Spawners>,
    /// What programs get as their environment.
    pub variables: Vec<(OsString, OsString)>,
    /// Where programs run.
    pub directory: PathBuf,
    /// How long to wait.
    pub timeouts: Timeouts,
}

/// How long servers are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a server to start and list its tools.
    pub start: Duration,
    /// For a call.
    pub call: Duration,
}

impl World {
    /// Runs a task on the engine to its end.
    pub(super) fn run<Output: Send + 'static>(
        &self,
        task: impl Future<Output = Result<Output, Failure>> + Send + 'static,
    ) -> Result<Output, Failure> {
        let done = self.engine.run(|_: Task<()>| task, |()| ());
        done.unwrap_or_else(|error| Err(Failure::Failed(error.to_string())))
    }
}

/// The end of a task, which goes on if nobody waits for it any more: what a server does when it starts
/// is of use to the next call.
pub(super) async fn unless_cancelled<Output>(
    task: JoinHandle<Result<Output, Failure>>,
    cancel: &CancelToken,
) -> Result<Output, Failure> {
    tokio::select! {
        done = task => done.unwrap_or_else(|error| Err(Failure::Failed(error.to_string()))),
        () = cancel.fired() => Err(Failure::Cancelled),
    }
}

/// A server, running or not.
pub(super) struct Server {
    pub(super) name: String,
    /// What the names of its tools begin with.
    pub(super) prefix: String,
    pub(super) world: Arc<World>,
    /// How many tools all servers have, as far as they have said so.
    pub(super) tool_count: Arc<AtomicUsize>,
    stop: CancelToken,
    transport: Transport,
    state: Mutex<State>,
    /// Set when its tools are to be listed.
    changed: Arc<AtomicBool>,
}

#[derive(Default)]
struct State {
    connection: Option<Arc<Connection>>,
    tools: Vec<Arc<McpTool>>,
    /// Why it is not tried again: it has never worked.
    failure: Option<Failure>,
}

impl Server {
    pub(super) fn new(
        config: ServerConfig,
        world: Arc<World>,
        stop: CancelToken,
        tool_count: Arc<AtomicUsize>,
    ) -> Self {
        Self {
            prefix: server_prefix(&config.name),
            name: config.name,
            world,
            tool_count,
            stop,
            transport: config.transport,
            state: Mutex::default(),
            changed: Arc::default(),
        }
    }

    /// Its tools. It is started if it does not run.
    pub(super) async fn tools(self: Arc<Self>) -> Result<Vec<Arc<McpTool>>, Failure> {
        let (connection, mut state) = self.connected().await?;
        if self.changed.swap(false, Ordering::Relaxed) {
            let limit = self.world.timeouts.start;
            match connection.tools(limit, &self.stop).await {
                Ok(tools) => self.learn(&mut state, tools),
                // It may do no more than that.
                Err(_) if !connection.is_closed() => {}
                Err(reason) => {
                    connection.end().await;
                    return Err(Failure::Failed(self.reason(&reason)));
                }
            }
        }
        Ok(state.tools.clone())
    }

    /// Calls one of its tools.
    pub(super) fn call(
        self: &Arc<Self>,
        tool: String,
        input: Input,
        cancel: &CancelToken,
    ) -> Result<CallToolResult, Failure> {
        let (server, cancel) = (Arc::clone(self), cancel.clone());
        self.world.run(async move {
            let connecting = Arc::clone(&server).connection();
            let connection = unless_cancelled(tokio::spawn(connecting), &cancel).await?;
            let limit = server.world.timeouts.call;
            let called = connection.call(tool, input, &cancel, limit).await;
            called.map_err(|failure| match failure {
                Failure::Failed(reason) => Failure::Failed(server.reason(&reason)),
                other => other,
            })
        })
    }

    async fn connection(self: Arc<Self>) -> Result<Arc<Connection>, Failure> {
        Ok(self.connected().await?.0)
    }

    /// A connection to it. It is started if it does not run.
    async fn connected(
        self: &Arc<Self>,
    ) -> Result<(Arc<Connection>, MutexGuard<'_, State>), Failure> {
        let mut state = self.state.lock().await;
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        if self.stop.is_cancelled() {
            return Err(Failure::Cancelled);
        }
        let living = state.connection.as_ref();
        if let Some(connection) = living.filter(|connection| !connection.is_closed()) {
            return Ok((Arc::clone(connection), state));
        }
        match self.start().await {
            Ok((connection, tools)) => {
                self.learn(&mut state, tools);
                let connection = Arc::clone(state.connection.insert(Arc::new(connection)));
                Ok((connection, state))
            }
            Err(reason) => {
                let failure = Failure::Failed(self.reason(&reason));
                if state.tools.is_empty() {
                    state.failure = Some(failure.clone());
                }
                Err(failure)
            }
        }
    }

    fn learn(self: &Arc<Self>, state: &mut State, tools: Vec<RemoteTool>) {
        let before = state.tools.len();
        let tools = tools.into_iter();
        state.tools = tools
            .map(|tool| Arc::new(McpTool::new(tool, self)))
            .collect();
        self.tool_count
            .fetch_add(state.tools.len(), Ordering::Relaxed);
        self.tool_count.fetch_sub(before, Ordering::Relaxed);
    }

    async fn start(&self) -> Result<(Connection, Vec<RemoteTool>), String> {
        let (route, process) = match &self.transport {
            Transport::Stdio(program) => {
                let started = ServerProcess::start(program, &self.world);
                let (process, ends) = started.map_err(|error| error.to_string())?;
                (Route::Pipes(ends), Some(process))
            }
            Transport::Http { url, headers } => {
                let address = Address::parse(url).map_err(|error| error.to_string())?;
                let mut custom = HashMap::new();
                for (name, value) in headers {
                    let (Ok(key), Ok(mut value)) =
                        (name.parse::<HeaderName>(), value.parse::<HeaderValue>())
                    else {
                        return Err(format!("the header {name} cannot be sent"));
                    };
                    value.set_sensitive(true);
                    custom.insert(key, value);
                }
                if !custom.is_empty() {
                    let admitted = address.admit_secrets(PlainText::Nearby);
                    admitted.map_err(|error| error.to_string())?;
                }
                let client = self.world.client.for_address(&address);
                let client = client.map_err(|error| error.to_string())?.clone();
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                let mut config = config.custom_headers(custom);
                let mut attempts = ExponentialBackoff::default();
                attempts.max_times = Some(RECONNECTIONS);
                config.retry_config = Arc::new(attempts);
                (Route::Http(client, config), None)
            }
            Transport::Unknown(kind) => {
                return Err(format!("unknown transport `{kind}`; use `stdio` or `http`"));
            }
        };
        self.changed.store(false, Ordering::Relaxed);
        let (changed, limit) = (Arc::clone(&self.changed), self.world.timeouts.start);
        Connection::open(route, process, changed, limit, &self.stop).await
    }

    /// Ends it. If it is being started, that ends first, since the run is over.
    pub(super) async fn end(self: Arc<Self>) {
        if let Some(connection) = self.state.lock().await.connection.take() {
            connection.end().await;
        }
    }

    /// A reason with the name of the server.
    pub(super) fn reason(&self, reason: &str) -> String {
        format!("MCP server {}: {reason}", self.name)
    }
}
