//! Servers as a source of tools.

use std::sync::Arc;

use super::resources::ResourceTool;
use super::server_set::ServerSet;
use super::tool::{McpTool, full_name};
use crate::io::CancelToken;
use crate::run::tools::{Tool, ToolSource, Unavailable};

impl ToolSource for ServerSet {
    fn is_slow(&self, name: &str) -> bool {
        self.servers_for_tool(name).next().is_some()
    }

    fn find(&self, name: &str) -> Result<Option<Arc<dyn Tool>>, Unavailable> {
        if let Some(tool) = ResourceTool::by_name(name, self) {
            return Ok(Some(Arc::new(tool)));
        }
        let mut failure = None;
        for server in self.servers_for_tool(name) {
            match self.deps.run(Arc::clone(server).list_tools()) {
                Ok(tools) => {
                    let mut tools = tools.iter();
                    if let Some(tool) = tools.find(|tool| full_name(tool, server) == name) {
                        return Ok(Some(Arc::new(McpTool::new(tool, server))));
                    }
                }
                Err(reason) => failure = Some(Unavailable(reason.to_string())),
            }
        }
        failure.map_or(Ok(None), Err)
    }

    fn tools(&self, cancel: &CancelToken) -> Vec<Arc<dyn Tool>> {
        let tools = self.list_tools(cancel).unwrap_or_else(|failure| {
            if !cancel.is_cancelled() {
                self.messages.error(&failure.to_string());
            }
            Vec::new()
        });
        let resource_tools = self.has_resources().then(|| ResourceTool::all(self));
        let resources = resource_tools
            .into_iter()
            .flatten()
            .map(|tool| Arc::new(tool) as Arc<dyn Tool>);
        let tools = tools.into_iter().map(|tool| tool as Arc<dyn Tool>);
        resources.chain(tools).collect()
    }

    fn end(&self) {
        self.stop.cancel();
        let servers = Arc::clone(&self.all);
        let result = self.deps.run(async move {
            let ends = servers.iter().map(|server| Arc::clone(server).end());
            for end in ends.map(tokio::spawn).collect::<Vec<_>>() {
                // A panic while one server ends does not concern the others.
                let _ = end.await;
            }
            Ok(())
        });
        // If the engine has stopped, its tasks have ended too.
        drop(result);
    }
}
