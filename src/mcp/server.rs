//! The servers of a run, each with its tools. A server is started when it is first needed, and again after it dies.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{CallToolResult, Tool as RemoteTool};
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::Value;
use tokio::sync::{Mutex, MutexGuard};

use super::config::{
    McpFailure, ServerConfig, ServerDeps, Transport, normalised, server_prefix, unless_cancelled,
};
use super::connection::{Connection, Route, ServerProcess};
use super::content::reply;
use crate::http::{Address, PlainText};
use crate::io::{CancelToken, Messages};
use crate::permission::Action;
use crate::tools::{
    Access, Assessment, CallContext, CallStatus, DecisionContext, Input, InvalidInput,
    PreparedCall, ResultLimit, Tool, ToolFailure, ToolReply,
};

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
    transport: Transport,
    state: Mutex<State>,
    /// Set when its tools must be listed again.
    changed: Arc<AtomicBool>,
}

#[derive(Default)]
struct State {
    connection: Option<Arc<Connection>>,
    tools: Vec<Arc<McpTool>>,
    /// Set if the server never worked; then it is not tried again.
    failure: Option<McpFailure>,
}

impl Server {
    pub(super) fn new(
        config: ServerConfig,
        deps: Arc<ServerDeps>,
        stop: CancelToken,
        tool_count: Arc<AtomicUsize>,
    ) -> Self {
        Self {
            prefix: server_prefix(&config.name),
            name: config.name,
            deps,
            tool_count,
            stop,
            transport: config.transport,
            state: Mutex::default(),
            changed: Arc::default(),
        }
    }

    /// Lists its tools. Starts the server if it is not running.
    pub(super) async fn tools(self: Arc<Self>) -> Result<Vec<Arc<McpTool>>, McpFailure> {
        let (connection, mut state) = self.connected().await?;
        if self.changed.swap(false, Ordering::Relaxed) {
            let limit = self.deps.timeouts.start;
            match connection.tools(limit, &self.stop).await {
                Ok(tools) => self.learn(&mut state, tools),
                // The old list stays valid if the server still runs.
                Err(_) if !connection.is_closed() => {}
                Err(reason) => {
                    connection.end().await;
                    return Err(McpFailure::Failed(self.reason(&reason)));
                }
            }
        }
        Ok(state.tools.clone())
    }

    /// Calls a tool.
    pub(super) fn call(
        self: &Arc<Self>,
        tool: String,
        input: Input,
        cancel: &CancelToken,
    ) -> Result<CallToolResult, McpFailure> {
        let (server, cancel) = (Arc::clone(self), cancel.clone());
        self.deps.run(async move {
            let connecting = Arc::clone(&server).connection();
            let connection = unless_cancelled(tokio::spawn(connecting), &cancel).await?;
            let limit = server.deps.timeouts.call;
            let called = connection.call(tool, input, &cancel, limit).await;
            called.map_err(|failure| match failure {
                McpFailure::Failed(reason) => McpFailure::Failed(server.reason(&reason)),
                other => other,
            })
        })
    }

    async fn connection(self: Arc<Self>) -> Result<Arc<Connection>, McpFailure> {
        Ok(self.connected().await?.0)
    }

    /// Returns a connection to the server; starts it if it is not running.
    async fn connected(
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
                self.learn(&mut state, tools);
                let connection = Arc::clone(state.connection.insert(Arc::new(connection)));
                Ok((connection, state))
            }
            Err(reason) => {
                let failure = McpFailure::Failed(self.reason(&reason));
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
                let started = ServerProcess::start(program, &self.deps);
                let (process, ends) = started.map_err(|error| error.to_string())?;
                (Route::Pipes(ends), Some(process))
            }
            Transport::Http { url, headers } => (self.http_route(url, headers)?, None),
            Transport::Unknown(kind) => {
                return Err(format!("unknown transport `{kind}`; use `stdio` or `http`"));
            }
        };
        self.changed.store(false, Ordering::Relaxed);
        let (changed, limit) = (Arc::clone(&self.changed), self.deps.timeouts.start);
        Connection::open(route, process, changed, limit, &self.stop).await
    }

    fn http_route(&self, url: &str, headers: &BTreeMap<String, String>) -> Result<Route, String> {
        let address = Address::parse(url).map_err(|error| error.to_string())?;
        if !headers.is_empty() {
            address
                .admit_secrets(PlainText::Nearby)
                .map_err(|error| error.to_string())?;
        }
        let client = self
            .deps
            .client
            .for_address(&address)
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
    pub(super) fn reason(&self, reason: &str) -> String {
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

/// Metadata key for the maximum size of a tool's results.
const RESULT_SIZE_KEY: &str = "anthropic/maxResultSizeChars";

/// Upper bound of that size, in UTF-16 units.
const MAX_RESULT_SIZE: usize = 500_000;

/// Total number of tools above which schemas are deferred.
const MAX_LISTED_TOOLS: usize = 20;

/// A tool of a server.
pub(super) struct McpTool {
    name: String,
    description: String,
    schema: Value,
    result_limit: ResultLimit,
    remote: Arc<Remote>,
}

/// The data of a tool that a call needs.
struct Remote {
    server: Arc<Server>,
    /// The server's name for the tool.
    name: String,
    only_reads: bool,
}

impl McpTool {
    pub(super) fn new(tool: RemoteTool, server: &Arc<Server>) -> Self {
        let meta = tool.meta.as_ref();
        let result_size = meta.and_then(|meta| meta.get(RESULT_SIZE_KEY)?.as_u64());
        let hints = tool.annotations.as_ref();
        Self {
            name: format!("{}{}", server.prefix, normalised(&tool.name)),
            description: tool.description.unwrap_or_default().into_owned(),
            schema: Value::Object((*tool.input_schema).clone()),
            result_limit: result_size.map_or(ResultLimit::Default, |units| {
                let units = usize::try_from(units).unwrap_or(usize::MAX);
                ResultLimit::Raised(units.min(MAX_RESULT_SIZE))
            }),
            remote: Arc::new(Remote {
                server: Arc::clone(server),
                only_reads: hints.and_then(|hints| hints.read_only_hint) == Some(true),
                name: tool.name.into_owned(),
            }),
        }
    }
}

impl Tool for McpTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn input_schema(&self) -> &Value {
        &self.schema
    }

    fn is_deferred(&self) -> bool {
        self.remote.server.tool_count.load(Ordering::Relaxed) > MAX_LISTED_TOOLS
    }

    fn result_limit(&self) -> ResultLimit {
        self.result_limit
    }

    fn prepare(&self, input: &Input) -> Result<Box<dyn PreparedCall>, InvalidInput> {
        Ok(Box::new(McpCall {
            remote: Arc::clone(&self.remote),
            input: input.clone(),
        }))
    }
}

struct McpCall {
    remote: Arc<Remote>,
    input: Input,
}

impl PreparedCall for McpCall {
    fn assess(&self, _: &DecisionContext) -> Assessment {
        let Remote {
            server, only_reads, ..
        } = &*self.remote;
        let (access, what) = if *only_reads {
            (Access::reads_everything(), "declares the tool as read-only")
        } else {
            (
                Access::everything(),
                "does not declare the tool as read-only",
            )
        };
        Assessment {
            access,
            why: format!("MCP server {} {what}", server.name),
            // Hints of a server do not grant permission.
            action: Action::Anything,
        }
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let Remote { server, name, .. } = &*self.remote;
        match server.call(name.clone(), self.input.clone(), call.cancel) {
            Ok(result) => Ok(reply(result)),
            Err(McpFailure::Failed(reason)) => Err(ToolFailure(reason)),
            Err(McpFailure::Cancelled) => Ok(ended(CallStatus::Cancelled, String::new())),
            Err(failure @ McpFailure::TimedOut(_)) => {
                let text = server.reason(&failure.to_string());
                Ok(ended(CallStatus::TimedOut, text))
            }
        }
    }
}

/// Returns the reply of a call without a result.
pub(super) fn ended(status: CallStatus, text: String) -> ToolReply {
    ToolReply {
        status,
        ..ToolReply::text(text, Value::Null)
    }
}

/// Servers that start when one of their tools is needed. Clones share them.
#[derive(Clone)]
pub struct Servers {
    /// Sorted by the length of their prefix, the longest first: one prefix may start with another.
    pub(super) all: Arc<[Arc<Server>]>,
    pub(super) deps: Arc<ServerDeps>,
    /// Fires when the run ends.
    pub(super) stop: CancelToken,
    pub(super) messages: Messages,
}

impl Servers {
    /// Creates servers without starting them. Failures are reported on `messages`.
    pub fn new(mut configs: Vec<ServerConfig>, deps: ServerDeps, messages: Messages) -> Self {
        configs.sort_by_key(|config| Reverse(server_prefix(&config.name).len()));
        let (deps, stop) = (Arc::new(deps), CancelToken::default());
        let tool_count = Arc::<AtomicUsize>::default();
        let servers = configs.into_iter().map(|config| {
            let (deps, stop) = (Arc::clone(&deps), stop.clone());
            Arc::new(Server::new(config, deps, stop, Arc::clone(&tool_count)))
        });
        Self {
            all: servers.collect(),
            deps,
            stop,
            messages,
        }
    }

    /// Lists the tools of all servers, which start at the same time, sorted by name.
    pub(super) fn list(&self, cancel: &CancelToken) -> Result<Vec<Arc<McpTool>>, McpFailure> {
        let (servers, cancel) = (Arc::clone(&self.all), cancel.clone());
        let listed = self.deps.run(async move {
            let listings = servers.iter().map(|server| Arc::clone(server).tools());
            let listings: Vec<_> = listings.map(tokio::spawn).collect();
            let mut listed = Vec::new();
            for listing in listings {
                match unless_cancelled(listing, &cancel).await {
                    Err(McpFailure::Cancelled) => return Err(McpFailure::Cancelled),
                    listing => listed.push(listing),
                }
            }
            Ok(listed)
        })?;
        let mut tools = Vec::new();
        for listing in listed {
            match listing {
                Ok(listing) => tools.extend(listing),
                Err(failure) => self.messages.error(&failure.to_string()),
            }
        }
        tools.sort_by(|one, next| one.name().cmp(next.name()));
        tools.dedup_by(|next, one| next.name() == one.name());
        Ok(tools)
    }

    /// Returns the servers that may have a tool with this name.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = &Arc<Server>> {
        let servers = self.all.iter();
        servers.filter(move |server| name.starts_with(&server.prefix))
    }
}
