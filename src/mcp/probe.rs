//! Tries servers, for `doctor`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::config::McpFailure;
use super::server::Server;
use super::servers::Servers;
use crate::tools::ToolSource as _;

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
pub struct Probed {
    pub name: String,
    /// Its program without arguments, or its host: the rest may contain keys.
    pub target: String,
    /// Its offer, or the error; `None` if it was not tried.
    pub result: Option<Result<Probe, String>>,
}

impl Servers {
    /// Returns all servers, sorted by name. With `start` it starts them at the same time, lists what they offer, and
    /// ends them.
    pub fn probe(self, start: bool) -> Vec<Probed> {
        let mut servers = self.all.to_vec();
        servers.sort_by(|one, next| one.name.cmp(&next.name));
        let probed = servers.iter().map(|server| Probed {
            name: server.name.clone(),
            target: server.target(),
            result: None,
        });
        let mut probed: Vec<Probed> = probed.collect();
        if !start {
            return probed;
        }
        let results = self.deps.run(async move {
            let running: Vec<_> = servers.into_iter().map(tried).map(tokio::spawn).collect();
            let mut results = Vec::new();
            for probe in running {
                let failed = |error: tokio::task::JoinError| McpFailure::Failed(error.to_string());
                let result = probe.await.map_err(failed).flatten();
                results.push(Some(result.map_err(|failure| failure.to_string())));
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

async fn tried(server: Arc<Server>) -> Result<Probe, McpFailure> {
    let begun = Instant::now();
    let tools = Arc::clone(&server).tools().await?.len();
    let revision = Arc::clone(&server).connection().await?.revision();
    let resources = server.resources().await?.len();
    Ok(Probe {
        revision,
        tools,
        resources,
        elapsed: begun.elapsed(),
    })
}
