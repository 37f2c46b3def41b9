//! The servers of a run, as a source of tools.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::config::ServerConfig;
use super::connection::Failure;
use super::name::server_prefix;
use super::search::{self, ToolSearch};
use super::server::{Server, World, unless_cancelled};
use super::tool::McpTool;
use crate::io::{CancelToken, Messages};
use crate::tools::{Tool, ToolSource, Unavailable};

/// Servers that are started when one of their tools is needed. Clones share them.
#[derive(Clone)]
pub struct Servers {
    /// Those with the longest names come first: what begins like the tool of one may be the tool of
    /// another.
    all: Arc<[Arc<Server>]>,
    world: Arc<World>,
    /// Fires when the run is over.
    stop: CancelToken,
    messages: Messages,
}

impl Servers {
    /// Starts none of them. Those that fail are reported on `messages`.
    pub fn new(mut configs: Vec<ServerConfig>, world: World, messages: Messages) -> Self {
        configs.sort_by_key(|config| Reverse(server_prefix(&config.name).len()));
        let (world, stop) = (Arc::new(world), CancelToken::default());
        let tool_count = Arc::<AtomicUsize>::default();
        let servers = configs.into_iter().map(|config| {
            let (world, stop) = (Arc::clone(&world), stop.clone());
            Arc::new(Server::new(config, world, stop, Arc::clone(&tool_count)))
        });
        Self {
            all: servers.collect(),
            world,
            stop,
            messages,
        }
    }

    /// The tools of all servers, which start at the same time, sorted by name.
    pub(super) fn list(&self, cancel: &CancelToken) -> Result<Vec<Arc<McpTool>>, Failure> {
        let (servers, cancel) = (Arc::clone(&self.all), cancel.clone());
        let listed = self.world.run(async move {
            let listings = servers.iter().map(|server| Arc::clone(server).tools());
            let listings: Vec<_> = listings.map(tokio::spawn).collect();
            let mut listed = Vec::new();
            for listing in listings {
                match unless_cancelled(listing, &cancel).await {
                    Err(Failure::Cancelled) => return Err(Failure::Cancelled),
                    listing => listed.push(listing),
                }
            }
            Ok(listed)
        })?;
        let mut tools = Vec::new();
        for listing in listed {
            match listing {
                Ok(listing) => tools.extend(listing),
                Err(failure) => self.messages.note(&failure.to_string()),
            }
        }
        tools.sort_by(|one, next| one.name().cmp(next.name()));
        tools.dedup_by(|next, one| next.name() == one.name());
        Ok(tools)
    }

    /// The servers that may have a tool of this name.
    fn named(&self, name: &str) -> impl Iterator<Item = &Arc<Server>> {
        let servers = self.all.iter();
        servers.filter(move |server| name.starts_with(&server.prefix))
    }
}

impl ToolSource for Servers {
    fn is_slow(&self, name: &str) -> bool {
        self.named(name).next().is_some()
    }

    fn find(&self, name: &str) -> Result<Option<Arc<dyn Tool>>, Unavailable> {
        if name == search::NAME {
            return Ok(Some(Arc::new(ToolSearch::new(self.clone()))));
        }
        let mut failure = None;
        for server in self.named(name) {
            match self.world.run(Arc::clone(server).tools()) {
                Ok(tools) => {
                    if let Some(tool) = tools.into_iter().find(|tool| tool.name() == name) {
                        return Ok(Some(tool));
                    }
                }
                Err(reason) => failure = Some(Unavailable(reason.to_string())),
            }
        }
        failure.map_or(Ok(None), Err)
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let tools = self.list(&CancelToken::default());
        let tools = tools.unwrap_or_else(|failure| {
            self.messages.note(&failure.to_string());
            Vec::new()
        });
        let has_deferred = tools.iter().any(|tool| tool.is_deferred());
        let search = has_deferred.then(|| Arc::new(ToolSearch::new(self.clone())) as Arc<dyn Tool>);
        let tools = tools.into_iter().map(|tool| tool as Arc<dyn Tool>);
        search.into_iter().chain(tools).collect()
    }

    fn end(&self) {
        self.stop.cancel();
        let servers = Arc::clone(&self.all);
        let ended = self.world.run(async move {
            let ends = servers.iter().map(|server| Arc::clone(server).end());
            for end in ends.map(tokio::spawn).collect::<Vec<_>>() {
                let _ = end.await;
            }
            Ok(())
        });
        // The engine has died, and whatever it served is gone.
        drop(ended);
    }
}
