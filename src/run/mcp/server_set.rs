//! The servers of a run, and their trial for `doctor`.

use std::cmp::Reverse;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::config::{McpFailure, ServerConfig, ServerDeps, await_unless_cancelled};
use super::server::Server;
use super::tool::McpTool;
use crate::io::{CancelToken, Messages};
use crate::run::tools::{Tool as _, ToolSource as _};
use crate::text::format_count;
use crate::tool_facts::mcp_prefix;

/// Servers that start when one of their tools is needed. Clones share them.
#[derive(Clone)]
pub struct ServerSet {
    /// Sorted by the length of their prefix, the longest first: one prefix may start with another.
    pub(super) all: Arc<[Arc<Server>]>,
    pub(super) deps: Arc<ServerDeps>,
    /// Fires when the run ends.
    pub(super) stop: CancelToken,
    pub(super) messages: Messages,
}

impl ServerSet {
    /// Creates servers without starting them. Failures are reported on `messages`.
    pub fn new(mut configs: Vec<ServerConfig>, deps: ServerDeps, messages: Messages) -> Self {
        configs.sort_by_key(|config| Reverse(mcp_prefix(&config.name).len()));
        let (deps, stop) = (Arc::new(deps), CancelToken::default());
        let tool_count = Arc::<AtomicUsize>::default();
        let servers = configs.into_iter().map(|config| {
            let (deps, stop) = (Arc::clone(&deps), stop.clone());
            let (count, messages) = (Arc::clone(&tool_count), messages.clone());
            Arc::new(Server::new(config, deps, stop, count, messages))
        });
        Self {
            all: servers.collect(),
            deps,
            stop,
            messages,
        }
    }

    /// Lists the tools of all servers, which start at the same time, sorted by name.
    pub(super) fn list_tools(&self, cancel: &CancelToken) -> Result<Vec<Arc<McpTool>>, McpFailure> {
        let (servers, cancel) = (Arc::clone(&self.all), cancel.clone());
        let listed = self.deps.run(async move {
            let listings = servers.iter().map(|server| Arc::clone(server).list_tools());
            let listings: Vec<_> = listings.map(tokio::spawn).collect();
            let mut listed = Vec::new();
            for listing in listings {
                match await_unless_cancelled(listing, &cancel).await {
                    Err(McpFailure::Cancelled) => return Err(McpFailure::Cancelled),
                    listing => listed.push(listing),
                }
            }
            Ok(listed)
        })?;
        let mut tools = Vec::new();
        for (server, listing) in self.all.iter().zip(listed) {
            match listing {
                Ok(listing) => tools.extend(
                    listing
                        .iter()
                        .map(|tool| Arc::new(McpTool::new(tool, server))),
                ),
                Err(failure) => self.messages.error(&failure.to_string()),
            }
        }
        tools.sort_by(|first, second| first.name().cmp(second.name()));
        tools.dedup_by(|second, first| second.name() == first.name());
        Ok(tools)
    }

    /// Whether a server that runs claims to have resources.
    pub(super) fn has_resources(&self) -> bool {
        let mut servers = self.all.iter();
        servers.any(|server| server.has_resources.load(Ordering::Relaxed))
    }

    /// Returns the servers that may have a tool with this name.
    pub(super) fn servers_for_tool(&self, name: &str) -> impl Iterator<Item = &Arc<Server>> {
        let servers = self.all.iter();
        servers.filter(move |server| name.starts_with(&server.prefix))
    }
}

/// The offer of a server that responds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The negotiated revision of the protocol.
    pub revision: String,
    /// Number of tools.
    pub tools: usize,
    /// Number of resources and templates.
    pub resources: usize,
    /// Time to start, list tools and list resources.
    pub elapsed: Duration,
}

/// A configured server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbedServer {
    pub name: String,
    /// Its program without arguments, or its host: the rest may contain keys.
    pub target: String,
    /// Its offer, or the error with a hint; `None` if it was not tried.
    pub result: Option<Result<Probe, String>>,
}

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

impl fmt::Display for Probe {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |number: usize, one, many| format_count(number as u64, one, many);
        write!(
            text,
            "{}; {}, {}; {} ms",
            self.revision,
            count(self.tools, "tool", "tools"),
            count(self.resources, "resource", "resources"),
            self.elapsed.as_millis()
        )
    }
}

impl ServerSet {
    /// Returns all servers, sorted by name. With `start` it starts them at the same time, lists what they offer, and
    /// ends them.
    pub fn probe(self, start: bool) -> Vec<ProbedServer> {
        let mut servers = self.all.to_vec();
        servers.sort_by(|first, second| first.name.cmp(&second.name));
        let unprobed = servers.iter().map(|server| ProbedServer {
            name: server.name.clone(),
            target: server.target(),
            result: None,
        });
        let mut probed: Vec<ProbedServer> = unprobed.collect();
        if !start {
            return probed;
        }
        let results = self.deps.run(async move {
            let running: Vec<_> = servers
                .into_iter()
                .map(probe_server)
                .map(tokio::spawn)
                .collect();
            let mut results = Vec::new();
            for probe in running {
                let to_failure =
                    |error: tokio::task::JoinError| McpFailure::Failed(error.to_string());
                let result = probe.await.map_err(to_failure).flatten();
                results.push(Some(
                    result.map_err(|failure| with_hint(failure.to_string())),
                ));
            }
            Ok(results)
        });
        self.end();
        for (server, result) in probed.iter_mut().zip(results.unwrap_or_default()) {
            server.result = result;
        }
        probed
    }
}

async fn probe_server(server: Arc<Server>) -> Result<Probe, McpFailure> {
    let start = Instant::now();
    let tools = Arc::clone(&server).list_tools().await?.len();
    let revision = Arc::clone(&server).connection().await?.revision();
    let resources = server.list_resources().await?.len();
    Ok(Probe {
        revision,
        tools,
        resources,
        elapsed: start.elapsed(),
    })
}

fn with_hint(error: String) -> String {
    match HINTS.iter().find(|(part, _)| error.contains(part)) {
        Some((_, hint)) => format!("{error}; {hint}"),
        None => error,
    }
}
