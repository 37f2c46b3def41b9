//! `ListMcpResourcesTool` and `ReadMcpResourceTool`: the resources of servers, under the names that Claude Code uses.

use std::sync::{Arc, LazyLock};

use rmcp::model::{CallToolResult, ContentBlock, EmbeddedResource};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::config::{McpFailure, await_unless_cancelled};
use super::content::convert_result;
use super::server::Server;
use super::server_set::ServerSet;
use super::tool::reply_of_failure;
use crate::permission::Action;
use crate::run::tools::{
    Access, Assessment, CallContext, CallStatus, DecisionContext, Input, InvalidInput,
    PreparedCall, Tool, ToolFailure, ToolReply, input_schema,
};
use crate::tool_facts::agent_tool;

const LIST: &str = "ListMcpResourcesTool";

const READ: &str = "ReadMcpResourceTool";

#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct ListParameters {
    /// Name of a server; all servers if absent
    server: Option<String>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct ReadParameters {
    /// Name of the server
    server: String,
    /// Address of the resource, from a list or a completed `uriTemplate`
    uri: String,
}

static LIST_SCHEMA: LazyLock<Value> = LazyLock::new(input_schema::<ListParameters>);

static READ_SCHEMA: LazyLock<Value> = LazyLock::new(input_schema::<ReadParameters>);

/// A request for resources.
#[derive(Debug, Clone)]
enum ResourceRequest {
    List(ListParameters),
    Read(ReadParameters),
}

/// One of the two tools.
pub(super) struct ResourceTool {
    name: &'static str,
    servers: ServerSet,
}

impl ResourceTool {
    /// Returns both tools.
    pub(super) fn all(servers: &ServerSet) -> [Self; 2] {
        [LIST, READ].map(|name| Self {
            name,
            servers: servers.clone(),
        })
    }

    /// Returns the tool with this name or another agent's name for it.
    pub(super) fn by_name(name: &str, servers: &ServerSet) -> Option<Self> {
        let canonical = agent_tool(name)?.name;
        let mut both = Self::all(servers).into_iter();
        both.find(|tool| tool.name == canonical)
    }
}

impl Tool for ResourceTool {
    fn name(&self) -> &'static str {
        self.name
    }

    fn description(&self) -> &'static str {
        if self.name == LIST {
            "Lists the resources of MCP servers, and templates for the addresses of further ones."
        } else {
            "Reads a resource of an MCP server."
        }
    }

    fn input_schema(&self) -> &Value {
        if self.name == LIST {
            &LIST_SCHEMA
        } else {
            &READ_SCHEMA
        }
    }

    fn prepare(&self, input: &Input) -> Result<Box<dyn PreparedCall>, InvalidInput> {
        let parsed = if self.name == LIST {
            ListParameters::deserialize(input).map(ResourceRequest::List)
        } else {
            ReadParameters::deserialize(input).map(ResourceRequest::Read)
        };
        let request =
            parsed.map_err(|error| InvalidInput(format!("invalid arguments: {error}")))?;
        Ok(Box::new(ResourceCall {
            servers: self.servers.clone(),
            request,
        }))
    }
}

struct ResourceCall {
    servers: ServerSet,
    request: ResourceRequest,
}

impl PreparedCall for ResourceCall {
    fn assess(&self, _: &DecisionContext) -> Assessment {
        Assessment {
            access: Access::reads_everything(),
            why: "resources of MCP servers are read".to_owned(),
            // The address goes to a server, and the server may be started.
            action: Action::Anything,
        }
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        match &self.request {
            ResourceRequest::List(ListParameters { server: None }) => {
                self.list(&self.servers.all, false, call)
            }
            ResourceRequest::List(ListParameters { server: Some(name) }) => {
                let server = self.find_server(name)?;
                self.list(&[Arc::clone(server)], true, call)
            }
            ResourceRequest::Read(ReadParameters { server, uri }) => {
                let (server, uri) = (self.find_server(server)?, uri.clone());
                let read = server.request(call, |connection, waiting| async move {
                    connection.read_resource(uri, waiting).await
                });
                read.map_or_else(
                    |failure| reply_of_failure(server, &failure),
                    |resource| {
                        let contents = resource.contents.into_iter().map(EmbeddedResource::new);
                        let blocks = contents.map(ContentBlock::Resource).collect();
                        Ok(convert_result(CallToolResult::success(blocks)))
                    },
                )
            }
        }
    }
}

impl ResourceCall {
    fn find_server(&self, name: &str) -> Result<&Arc<Server>, ToolFailure> {
        let mut servers = self.servers.all.iter();
        let server = servers.find(|server| server.name == name);
        server.ok_or_else(|| {
            let mut names: Vec<&str> = self
                .servers
                .all
                .iter()
                .map(|server| &*server.name)
                .collect();
            names.sort_unstable();
            let names = names.join(", ");
            ToolFailure(format!("unknown MCP server `{name}`; available: {names}"))
        })
    }

    /// Lists the resources of servers, first on a line. The failure of a server is listed too, or ends the call if
    /// `is_required`.
    fn list(
        &self,
        servers: &[Arc<Server>],
        is_required: bool,
        call: &CallContext<'_>,
    ) -> Result<ToolReply, ToolFailure> {
        let mut servers = servers.to_vec();
        servers.sort_by(|first, second| first.name.cmp(&second.name));
        let cancel = call.cancel.clone();
        let listed = self.servers.deps.run(async move {
            let listings = servers.into_iter().map(|server| {
                let listing = Arc::clone(&server).list_resources();
                (server, tokio::spawn(listing))
            });
            let listings: Vec<_> = listings.collect();
            let mut resources = Vec::new();
            for (server, listing) in listings {
                match await_unless_cancelled(listing, &cancel).await {
                    Ok(listed) => resources.extend(listed.into_iter().map(|mut resource| {
                        resource["server"] = json!(server.name);
                        resource
                    })),
                    Err(McpFailure::Failed(error)) if !is_required => {
                        resources.push(json!({"server": server.name, "error": error}));
                    }
                    Err(failure) => return Err(failure),
                }
            }
            Ok(resources)
        });
        match listed {
            Ok(resources) if resources.is_empty() => {
                Ok(ToolReply::text("No resources found.", json!([])))
            }
            Ok(resources) => {
                let lines: Vec<String> = resources.iter().map(Value::to_string).collect();
                Ok(ToolReply::text(lines.join("\n"), Value::Array(resources)))
            }
            Err(McpFailure::Cancelled) => Ok(ToolReply::with_status(
                CallStatus::Cancelled,
                "",
                Value::Null,
            )),
            Err(failure) => Err(ToolFailure(failure.to_string())),
        }
    }
}
