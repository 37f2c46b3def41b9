//! One server: started when it is first needed, and again if it died since.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use super::config::{ServerConfig, Transport};
use super::connection::{Connection, Route};
use super::name::server_prefix;
use super::process::ServerProcess;
use super::tool::McpTool;
use crate::http::{Address, Client, Engine, PlainText};
use crate::process::Spawners;

/// A server with more tools than this keeps their schemas until they are asked for.
const MANY_TOOLS: usize = 20;

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
    /// For a server to start, and to list its tools.
    pub start: Duration,
    /// For a call.
    pub call: Duration,
}

/// A server, running or not.
pub(super) struct Server {
    pub(super) name: String,
    /// What the names of its tools begin with.
    pub(super) prefix: String,
    pub(super) world: Arc<World>,
    transport: Transport,
    state: Mutex<State>,
    /// Set when its tools are to be listed.
    changed: Arc<AtomicBool>,
}

#[derive(Default)]
struct State {
    connection: Option<Arc<Connection>>,
    tools: Vec<Arc<McpTool>>,
    /// Why it is not tried again.
    failure: Option<String>,
}

impl Server {
    pub(super) fn new(config: ServerConfig, world: Arc<World>) -> Self {
        Self {
            prefix: server_prefix(&config.name),
            name: config.name,
            world,
            transport: config.transport,
            state: Mutex::default(),
            changed: Arc::new(AtomicBool::new(true)),
        }
    }

    /// Its tools. It is started if it does not run.
    pub(super) fn tools(self: &Arc<Self>) -> Result<Vec<Arc<McpTool>>, String> {
        let mut state = self.state();
        let connection = self.connect(&mut state)?;
        if self.changed.swap(false, Ordering::Relaxed) {
            match connection.tools(self.world.timeouts.start) {
                Ok(tools) => {
                    let is_deferred = tools.len() > MANY_TOOLS;
                    let tools = tools.into_iter();
                    let tools = tools.map(|tool| McpTool::new(tool, is_deferred, self));
                    state.tools = tools.map(Arc::new).collect();
                }
                Err(reason) => {
                    connection.end();
                    state.connection = None;
                    return Err(state.failure.insert(self.reason(&reason)).clone());
                }
            }
        }
        Ok(state.tools.clone())
    }

    /// A connection to it. It is started if it does not run.
    pub(super) fn connection(&self) -> Result<Arc<Connection>, String> {
        self.connect(&mut self.state())
    }

    fn connect(&self, state: &mut State) -> Result<Arc<Connection>, String> {
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        let living = state.connection.as_ref();
        if let Some(connection) = living.filter(|connection| !connection.is_closed()) {
            return Ok(Arc::clone(connection));
        }
        match self.start() {
            Ok(connection) => Ok(Arc::clone(state.connection.insert(Arc::new(connection)))),
            Err(reason) => Err(state.failure.insert(self.reason(&reason)).clone()),
        }
    }

    fn start(&self) -> Result<Connection, String> {
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
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                let client = client.map_err(|error| error.to_string())?.clone();
                (Route::Http(client, config.custom_headers(custom)), None)
            }
        };
        let (engine, limit) = (&self.world.engine, self.world.timeouts.start);
        Connection::open(route, process, Arc::clone(&self.changed), engine, limit)
    }

    /// Ends it.
    pub(super) fn end(&self) {
        // While it is being started, whoever starts it holds the lock.
        let connection = match self.state.try_lock() {
            Ok(mut state) => state.connection.take(),
            Err(_) => None,
        };
        if let Some(connection) = connection {
            connection.end();
        }
    }

    /// A reason with the name of the server.
    pub(super) fn reason(&self, reason: &str) -> String {
        format!("MCP server {}: {reason}", self.name)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
