//! The servers of a run, as a source of tools.

use std::sync::Arc;
use std::thread;

use super::config::ServerConfig;
use super::search::{self, ToolSearch};
use super::server::{Server, World};
use super::tool::McpTool;
use crate::io::Messages;
use crate::tools::{Tool, ToolSource, Unavailable};

/// Servers that are started when one of their tools is needed. Clones share them.
#[derive(Clone)]
pub struct Servers {
    all: Arc<[Arc<Server>]>,
    messages: Messages,
}

impl Servers {
    /// Starts none of them. Those that fail are reported on `messages`.
    pub fn new(configs: Vec<ServerConfig>, world: World, messages: Messages) -> Self {
        let world = Arc::new(world);
        let servers = configs.into_iter();
        let servers = servers.map(|config| Arc::new(Server::new(config, Arc::clone(&world))));
        Self {
            all: servers.collect(),
            messages,
        }
    }

    /// The servers that may have a tool of this name. One server's prefix may begin like another's.
    fn named(&self, name: &str) -> impl Iterator<Item = &Arc<Server>> {
        let servers = self.all.iter();
        servers.filter(move |server| name.starts_with(&server.prefix))
    }

    /// The tools of all servers, which start at the same time, sorted by name.
    pub(super) fn list(&self) -> Vec<Arc<McpTool>> {
        let listed: Vec<_> = thread::scope(|scope| {
            let waiting: Vec<_> = self
                .all
                .iter()
                .map(|server| scope.spawn(|| server.tools()))
                .collect();
            let waiting = waiting.into_iter();
            waiting.filter_map(|listing| listing.join().ok()).collect()
        });
        let mut tools = Vec::new();
        for listing in listed {
            match listing {
                Ok(listing) => tools.extend(listing),
                Err(reason) => self.messages.note(&reason),
            }
        }
        tools.sort_by(|one, next| one.name().cmp(next.name()));
        tools.dedup_by(|next, one| next.name() == one.name());
        tools
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
        for server in self.named(name) {
            let tools = server.tools().map_err(Unavailable)?;
            if let Some(tool) = tools.into_iter().find(|tool| tool.name() == name) {
                return Ok(Some(tool));
            }
        }
        Ok(None)
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let tools = self.list();
        let has_deferred = tools.iter().any(|tool| tool.is_deferred());
        let search = has_deferred.then(|| Arc::new(ToolSearch::new(self.clone())) as Arc<dyn Tool>);
        let tools = tools.into_iter().map(|tool| tool as Arc<dyn Tool>);
        search.into_iter().chain(tools).collect()
    }

    fn end(&self) {
        thread::scope(|scope| {
            for server in &*self.all {
                scope.spawn(|| server.end());
            }
        });
    }
}
