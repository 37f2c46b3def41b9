//! The servers of a run.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::config::{McpFailure, ServerConfig, ServerDeps, unless_cancelled};
use super::server::Server;
use super::tool::McpTool;
use crate::io::{CancelToken, Messages};
use crate::tool_facts::mcp_prefix;
use crate::tools::Tool as _;

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
        configs.sort_by_key(|config| Reverse(mcp_prefix(&config.name).len()));
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
        tools.sort_by(|one, next| one.name().cmp(next.name()));
        tools.dedup_by(|next, one| next.name() == one.name());
        Ok(tools)
    }

    /// Whether a server that runs claims to have resources.
    pub(super) fn has_resources(&self) -> bool {
        let mut servers = self.all.iter();
        servers.any(|server| server.has_resources.load(Ordering::Relaxed))
    }

    /// Returns the servers that may have a tool with this name.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = &Arc<Server>> {
        let servers = self.all.iter();
        servers.filter(move |server| name.starts_with(&server.prefix))
    }
}
