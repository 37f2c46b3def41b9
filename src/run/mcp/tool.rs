//! A tool of a server, and its calls.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rmcp::model::Tool as RemoteTool;
use serde_json::Value;

use super::config::McpFailure;
use super::content::{content_after_hook, convert_result};
use super::server::Server;
use crate::permission::Action;
use crate::run::tools::{
    Access, Assessment, CallContext, CallStatus, Content, DecisionContext, Input, InvalidInput,
    PreparedCall, ResultLimit, Tool, ToolFailure, ToolReply,
};
use crate::tool_facts::mcp_name;

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

/// The data of a tool for its calls.
struct Remote {
    server: Arc<Server>,
    /// The server's name for the tool.
    name: String,
    only_reads: bool,
}

/// Returns the name of a server's tool in declarations and records.
pub(super) fn full_name(tool: &RemoteTool, server: &Server) -> String {
    format!("{}{}", server.prefix, mcp_name(&tool.name))
}

impl McpTool {
    pub(super) fn new(tool: &RemoteTool, server: &Arc<Server>) -> Self {
        let meta = tool.meta.as_ref();
        let result_size = meta.and_then(|meta| meta.get(RESULT_SIZE_KEY)?.as_u64());
        let hints = tool.annotations.as_ref();
        Self {
            name: full_name(tool, server),
            description: tool.description.clone().unwrap_or_default().into_owned(),
            schema: Value::Object((*tool.input_schema).clone()),
            result_limit: result_size.map_or(ResultLimit::Default, |units| {
                let units = usize::try_from(units).unwrap_or(usize::MAX);
                ResultLimit::Raised(units.min(MAX_RESULT_SIZE))
            }),
            remote: Arc::new(Remote {
                server: Arc::clone(server),
                only_reads: hints.and_then(|hints| hints.read_only_hint) == Some(true),
                name: tool.name.clone().into_owned(),
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

    fn content_after(&self, output: &Value, before: &Content) -> Option<Content> {
        content_after_hook(output, before)
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
        let (access, declaration) = if *only_reads {
            (Access::reads_everything(), "declares the tool as read-only")
        } else {
            (
                Access::everything(),
                "does not declare the tool as read-only",
            )
        };
        Assessment {
            access,
            why: format!("MCP server {} {declaration}", server.name),
            // Hints of a server do not grant permission.
            action: Action::Anything,
        }
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let Remote { server, name, .. } = &*self.remote;
        let (name, input) = (name.clone(), self.input.clone());
        let result = server.request(call, |connection, waiting| async move {
            connection.call_tool(name, input, waiting).await
        });
        result.map_or_else(
            |failure| reply_of_failure(server, &failure),
            |result| Ok(convert_result(result)),
        )
    }
}

/// Returns the outcome of a call without a response.
pub(super) fn reply_of_failure(
    server: &Server,
    failure: &McpFailure,
) -> Result<ToolReply, ToolFailure> {
    match failure {
        McpFailure::Failed(reason) => Err(ToolFailure(reason.clone())),
        McpFailure::Cancelled => Ok(ToolReply::with_status(
            CallStatus::Cancelled,
            "",
            Value::Null,
        )),
        McpFailure::TimedOut(_) => {
            let text = server.with_server_name(&failure.to_string());
            Ok(ToolReply::with_status(
                CallStatus::TimedOut,
                text,
                Value::Null,
            ))
        }
    }
}
