//! The servers of a run, each with its tools. A server is started when it is first needed, and again after it
//! has exited.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::Tool as RemoteTool;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::Value;
use tokio::sync::{Mutex, MutexGuard};

use super::config::{McpFailure, ServerConfig, ServerDeps, Transport, await_unless_cancelled};
use super::connection::{Connection, WaitConditions};
use super::handshake::{Listener, Revisions, Route, StartFailure};
use super::input::ServerUser;
use super::listing::Items;
use super::process::{MAX_MESSAGE_WIDTH, ServerProcess};
use crate::client::http::{Address, PlainText};
use crate::io::{CancelToken, Messages};
use crate::run::tools::CallContext;
use crate::text::fit_columns;
use crate::tool_facts::mcp_prefix;

/// Number of reconnections after an interrupted response, with delays of one, two and four seconds.
const MAX_RECONNECTIONS: usize = 3;

/// A server, running or not.
pub(super) struct Server {
    pub(super) name: String,
    /// Prefix of the names of its tools.
    pub(super) prefix: String,
    pub(super) deps: Arc<ServerDeps>,
    /// Number of tools of all servers that have listed them.
    pub(super) tool_count: Arc<AtomicUsize>,
    stop: CancelToken,
    /// Gets warnings about malformed items of its lists.
    messages: Messages,
    transport: Transport,
    state: Mutex<State>,
    /// Whether it claimed to have resources when it was started.
    pub(super) has_resources: AtomicBool,
    /// Set when its tools must be listed again.
    changed: Arc<AtomicBool>,
}

#[derive(Default)]
struct State {
    connection: Option<Arc<Connection>>,
    tools: Arc<Vec<RemoteTool>>,
    /// Set if the server failed to start; it is not tried again.
    failure: Option<McpFailure>,
}

impl Server {
    pub(super) fn new(
        config: ServerConfig,
        deps: Arc<ServerDeps>,
        stop: CancelToken,
        tool_count: Arc<AtomicUsize>,
        messages: Messages,
    ) -> Self {
        Self {
            prefix: mcp_prefix(&config.name),
            name: config.name,
            deps,
            tool_count,
            stop,
            messages,
            transport: config.transport,
            state: Mutex::default(),
            has_resources: AtomicBool::default(),
            changed: Arc::default(),
        }
    }

    /// Returns its program without arguments, or its host.
    pub(super) fn target(&self) -> String {
        match &self.transport {
            Transport::Stdio(program) => program.command.clone(),
            Transport::Http { url, .. } => match Address::parse(url) {
                Ok(address) => address.authority(),
                Err(_) => "http".to_owned(),
            },
            Transport::Unknown(kind) => kind.clone(),
        }
    }

    /// Lists its tools. Starts the server if it is not running.
    pub(super) async fn list_tools(self: Arc<Self>) -> Result<Arc<Vec<RemoteTool>>, McpFailure> {
        let (connection, mut state) = self.connect().await?;
        if self.changed.swap(false, Ordering::Relaxed) {
            let limit = self.deps.timeouts.start;
            match connection.list_tools(limit, &self.stop).await {
                Ok(tools) => self.set_tools(&mut state, tools),
                // The old list stays valid if the server still runs.
                Err(_) if !connection.is_closed() => {}
                Err(reason) => {
                    connection.end().await;
                    return Err(McpFailure::Failed(self.with_server_name(&reason)));
                }
            }
        }
        Ok(Arc::clone(&state.tools))
    }

    /// Sends a request of a call and waits for its response.
    pub(super) fn request<Output: Send + 'static, Work>(
        self: &Arc<Self>,
        call: &CallContext<'_>,
        send: impl FnOnce(Arc<Connection>, WaitConditions) -> Work + Send + 'static,
    ) -> Result<Output, McpFailure>
    where
        Work: Future<Output = Result<Output, McpFailure>> + Send + 'static,
    {
        let (server, cancel) = (Arc::clone(self), call.cancel.clone());
        let task = |reporter| async move {
            let connecting = tokio::spawn(Arc::clone(&server).connection());
            let connection = await_unless_cancelled(connecting, &cancel).await?;
            let limit = server.deps.timeouts.call;
            let waiting = WaitConditions {
                cancel,
                limit,
                reporter,
            };
            let response = send(connection, waiting).await;
            response.map_err(|failure| match failure {
                McpFailure::Failed(reason) => McpFailure::Failed(server.with_server_name(&reason)),
                other => other,
            })
        };
        self.deps.run_reporting(task, call.progress)
    }

    /// Lists its resources and the templates of their addresses. Starts the server if it is not running.
    pub(super) async fn list_resources(self: Arc<Self>) -> Result<Vec<Value>, McpFailure> {
        let connection = Arc::clone(&self).connection().await?;
        if !connection.has_resources() {
            return Ok(Vec::new());
        }
        let limit = self.deps.timeouts.start;
        match connection.list_resources(limit, &self.stop).await {
            Ok(listed) => Ok(self.drop_unusable(listed)),
            Err(reason) => Err(McpFailure::Failed(self.with_server_name(&reason))),
        }
    }

    /// Returns the items that can be used. Warns about the others.
    fn drop_unusable<Item>(&self, listed: Items<Item>) -> Vec<Item> {
        let warn = |reason: String| {
            let warning = fit_columns(&self.with_server_name(&reason), MAX_MESSAGE_WIDTH);
            self.messages.warn(&warning);
        };
        let items = listed
            .into_iter()
            .filter_map(|item| item.map_err(warn).ok());
        items.collect()
    }

    pub(super) async fn connection(self: Arc<Self>) -> Result<Arc<Connection>, McpFailure> {
        Ok(self.connect().await?.0)
    }

    /// Returns a connection to the server; starts it if it is not running.
    async fn connect(
        self: &Arc<Self>,
    ) -> Result<(Arc<Connection>, MutexGuard<'_, State>), McpFailure> {
        let mut state = self.state.lock().await;
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        if self.stop.is_cancelled() {
            return Err(McpFailure::Cancelled);
        }
        let living = state.connection.as_ref();
        if let Some(connection) = living.filter(|connection| !connection.is_closed()) {
            return Ok((Arc::clone(connection), state));
        }
        match self.start().await {
            Ok((connection, tools)) => {
                self.set_tools(&mut state, tools);
                let has_resources = connection.has_resources();
                self.has_resources.store(has_resources, Ordering::Relaxed);
                let connection = Arc::clone(state.connection.insert(Arc::new(connection)));
                Ok((connection, state))
            }
            Err(reason) => {
                let failure = McpFailure::Failed(self.with_server_name(&reason));
                if state.tools.is_empty() {
                    state.failure = Some(failure.clone());
                }
                Err(failure)
            }
        }
    }

    fn set_tools(&self, state: &mut State, listed: Items<RemoteTool>) {
        let tools = self.drop_unusable(listed);
        self.tool_count.fetch_add(tools.len(), Ordering::Relaxed);
        self.tool_count
            .fetch_sub(state.tools.len(), Ordering::Relaxed);
        state.tools = Arc::new(tools);
    }

    async fn start(&self) -> Result<(Connection, Items<RemoteTool>), String> {
        let (limit, start) = (self.deps.timeouts.start, Instant::now());
        let outcome = match self.attempt(Revisions::Any, limit).await {
            Err(StartFailure {
                retry: Some(revisions),
                ..
            }) => {
                let remaining = limit.saturating_sub(start.elapsed());
                self.attempt(revisions, remaining).await
            }
            outcome => outcome,
        };
        outcome.map_err(|failure| failure.reason)
    }

    async fn attempt(
        &self,
        revisions: Revisions,
        limit: Duration,
    ) -> Result<(Connection, Items<RemoteTool>), StartFailure> {
        let (route, process) = match &self.transport {
            Transport::Stdio(program) => {
                let started = ServerProcess::start(program, &self.deps);
                let (process, ends) = started.map_err(|error| error.to_string())?;
                (Route::Pipes(ends), Some(process))
            }
            Transport::Http { url, headers } => (self.http_route(url, headers)?, None),
            Transport::Unknown(kind) => {
                let reason = format!("unknown transport `{kind}`; use `stdio` or `http`");
                return Err(reason.into());
            }
        };
        let user = ServerUser {
            server: self.name.clone(),
            user: self.deps.user.clone(),
        };
        let listener = Listener::new(&self.changed, user, &self.stop);
        Connection::open(route, revisions, process, listener, limit).await
    }

    fn http_route(&self, url: &str, headers: &BTreeMap<String, String>) -> Result<Route, String> {
        let address = Address::parse(url).map_err(|error| error.to_string())?;
        if !headers.is_empty() {
            address
                .check_secrets_allowed(PlainText::Nearby)
                .map_err(|error| error.to_string())?;
        }
        let client = self
            .deps
            .client
            .client_for(&address)
            .map_err(|error| error.to_string())?;
        let mut retries = ExponentialBackoff::default();
        retries.max_times = Some(MAX_RECONNECTIONS);
        let mut config = StreamableHttpClientTransportConfig::with_uri(url)
            .custom_headers(sensitive_headers(headers)?);
        config.retry_config = Arc::new(retries);
        Ok(Route::Http(client.clone(), config))
    }

    /// Ends the server. Waits for a start in progress.
    pub(super) async fn end(self: Arc<Self>) {
        if let Some(connection) = self.state.lock().await.connection.take() {
            connection.end().await;
        }
    }

    /// Adds the name of the server to a reason.
    pub(super) fn with_server_name(&self, reason: &str) -> String {
        format!("MCP server {}: {reason}", self.name)
    }
}

fn sensitive_headers(
    headers: &BTreeMap<String, String>,
) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let parse = |(name, value): (&String, &String)| {
        let (Ok(key), Ok(mut value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>())
        else {
            return Err(format!("header {name}: cannot be sent"));
        };
        value.set_sensitive(true);
        Ok((key, value))
    };
    headers.iter().map(parse).collect()
}
