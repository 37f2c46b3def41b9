//! Arguments of commands that can use MCP servers.

use std::path::Path;
#[cfg(feature = "mcp")]
use std::{path::PathBuf, sync::Arc};

use clap::Args;

use crate::cmd::{Globals, UsageError};
use crate::io::Io;
use crate::tools::Registry;

#[derive(Debug, Args)]
pub(crate) struct McpArguments {
    /// Add the MCP servers of a file like `.mcp.json`; repeatable
    #[cfg(feature = "mcp")]
    #[arg(long, value_name = "FILE")]
    mcp_config: Vec<PathBuf>,
}

impl McpArguments {
    /// Adds the tools of the servers, which will run in `directory`. Starts no server.
    ///
    /// # Errors
    /// A file is unreadable or invalid.
    #[cfg(feature = "mcp")]
    pub(crate) fn add_servers(
        &self,
        registry: Registry,
        directory: &Path,
        globals: &Globals,
        io: &Io,
    ) -> Result<Registry, UsageError> {
        use crate::{http, mcp, tools};
        if self.mcp_config.is_empty() {
            return Ok(registry);
        }
        let configs = mcp::read_config(&self.mcp_config, &io.environment);
        let configs = configs.map_err(|malformed| {
            let error = UsageError::reason(&malformed);
            match malformed.problem {
                mcp::ConfigProblem::Unset { variable, .. } => error.with_hint(format!(
                    "set {variable}, or write a default: `${{{variable}:-...}}`"
                )),
                _ => error,
            }
        })?;
        let config = globals.config(&io.environment)?;
        let deps = mcp::ServerDeps {
            engine: http::Engine::default(),
            client: http::Client::new(config.models(None).http),
            spawners: Arc::new(globals.children.spawners(1)),
            variables: tools::child_variables(&io.environment, &std::collections::BTreeSet::new()),
            directory: directory.to_owned(),
            timeouts: config.mcp_timeouts(),
        };
        let servers = mcp::Servers::new(configs, deps, io.messages.clone());
        Ok(registry.with_source(Arc::new(servers)))
    }

    /// Returns the registry unchanged: this build has no MCP support.
    #[cfg(not(feature = "mcp"))]
    #[expect(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "same signature as with the feature"
    )]
    pub(crate) fn add_servers(
        &self,
        registry: Registry,
        _: &Path,
        _: &Globals,
        _: &Io,
    ) -> Result<Registry, UsageError> {
        Ok(registry)
    }
}
