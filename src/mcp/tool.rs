//! A tool of a server.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rmcp::model::Tool as RemoteTool;
use serde_json::Value;

use super::connection::Failure;
use super::content::reply;
use super::name::normalised;
use super::server::Server;
use crate::permission::Action;
use crate::tools::{
    Access, Assessment, CallContext, CallStatus, DecisionContext, Input, InvalidInput,
    PreparedCall, ResultLimit, Tool, ToolFailure, ToolReply,
};

/// The key by which a tool asks for more room for its results.
const RESULT_SIZE: &str = "anthropic/maxResultSizeChars";

/// The most room that it gets, in UTF-16 units.
const LARGEST_RESULT: usize = 500_000;

/// If servers have more tools than this in all, schemas are kept until they are asked for.
const MANY_TOOLS: usize = 20;

/// A tool as its server describes it.
pub(super) struct McpTool {
    name: String,
    description: String,
    schema: Value,
    result_limit: ResultLimit,
    remote: Arc<Remote>,
}

/// What a call needs of it.
struct Remote {
    server: Arc<Server>,
    /// The server's own name for it.
    name: String,
    only_reads: bool,
}

impl McpTool {
    pub(super) fn new(tool: RemoteTool, server: &Arc<Server>) -> Self {
        let asked = tool.meta.as_ref().and_then(|meta| meta.get(RESULT_SIZE));
        let asked = asked.and_then(Value::as_u64);
        let asked = asked.map(|units| usize::try_from(units).unwrap_or(usize::MAX));
        let hints = tool.annotations.as_ref();
        Self {
            name: format!("{}{}", server.prefix, normalised(&tool.name)),
            description: tool.description.unwrap_or_default().into_owned(),
            schema: Value::Object((*tool.input_schema).clone()),
            result_limit: asked.map_or(ResultLimit::Default, |units| {
                ResultLimit::Raised(units.min(LARGEST_RESULT))
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
        self.remote.server.tool_count.load(Ordering::Relaxed) > MANY_TOOLS
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
            (Access::reads_world(), "that the tool only reads")
        } else {
            (Access::world(), "nothing about what the tool changes")
        };
        Assessment {
            access,
            why: format!("MCP server {} says {what}", server.name),
            // What a server says about itself permits nothing.
            action: Action::Anything,
        }
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let Remote { server, name, .. } = &*self.remote;
        match server.call(name.clone(), self.input.clone(), call.cancel) {
            Ok(result) => Ok(reply(result)),
            Err(Failure::Failed(reason)) => Err(ToolFailure(reason)),
            Err(Failure::Cancelled) => Ok(ended(CallStatus::Cancelled, String::new())),
            Err(failure @ Failure::TimedOut(_)) => {
                let text = server.reason(&failure.to_string());
                Ok(ended(CallStatus::TimedOut, text))
            }
        }
    }
}

/// The reply of a call that the server did not answer.
pub(super) fn ended(status: CallStatus, text: String) -> ToolReply {
    ToolReply {
        status,
        ..ToolReply::text(text, Value::Null)
    }
}
