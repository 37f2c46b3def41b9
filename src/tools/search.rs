//! `ToolSearch`, which returns schemas that are not in the list of tools.

use std::sync::{Arc, LazyLock};

use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_json::{Value, json};

use super::config::McpFailure;
use super::servers::Servers;
use super::tool::McpTool;
use crate::tools::{
    Assessment, CallContext, CallStatus, DecisionContext, Input, InvalidInput, PreparedCall, Tool,
    ToolFailure, ToolReply,
};

/// The name of the tool.
pub(super) const NAME: &str = "ToolSearch";

const DESCRIPTION: &str = "Finds tools of MCP servers whose parameters you were not given, and \
    returns their declarations. A query is either `select:` and exact names separated by commas, or \
    words that the name or the description of a tool contains.";

/// Default number of tools found by words.
const DEFAULT_RESULTS: usize = 5;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct Query {
    /// `select:` and exact names separated by commas, or words
    query: String,
    /// Maximum number of tools found by words
    max_results: Option<usize>,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(parameters::<Query>);

/// Returns the schema of a tool's parameters.
pub(super) fn parameters<T: JsonSchema>() -> Value {
    let mut schema = schema_for!(T).to_value();
    if let Some(schema) = schema.as_object_mut() {
        schema.retain(|name, _| name != "$schema" && name != "title");
    }
    schema
}

/// Searches the tools of servers.
pub(super) struct ToolSearch {
    servers: Servers,
}

impl ToolSearch {
    pub(super) fn new(servers: Servers) -> Self {
        Self { servers }
    }
}

impl Tool for ToolSearch {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        DESCRIPTION
    }

    fn input_schema(&self) -> &Value {
        &SCHEMA
    }

    fn prepare(&self, input: &Input) -> Result<Box<dyn PreparedCall>, InvalidInput> {
        let query = Query::deserialize(input)
            .map_err(|error| InvalidInput(format!("invalid arguments: {error}")))?;
        Ok(Box::new(Search {
            servers: self.servers.clone(),
            query,
        }))
    }
}

struct Search {
    servers: Servers,
    query: Query,
}

impl PreparedCall for Search {
    fn assess(&self, _: &DecisionContext) -> Assessment {
        Assessment::harmless(NAME)
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let tools = match self.servers.list(call.cancel) {
            Ok(tools) => tools,
            Err(McpFailure::Cancelled) => {
                return Ok(ToolReply::ended(CallStatus::Cancelled, "", Value::Null));
            }
            Err(failure) => return Err(ToolFailure(failure.to_string())),
        };
        let found = found(&tools, &self.query);
        let names: Vec<&str> = found.iter().map(|tool| tool.name()).collect();
        let structured = json!({ "matches": names, "total": tools.len() });
        if found.is_empty() {
            return Ok(ToolReply::text("No tool matches.", structured));
        }
        let declared: Vec<String> = found.iter().map(|tool| declaration(tool)).collect();
        Ok(ToolReply::text(declared.join("\n"), structured))
    }
}

fn declaration(tool: &McpTool) -> String {
    let declaration = json!({
        "name": tool.name(),
        "description": tool.description(),
        "input_schema": tool.input_schema(),
    });
    declaration.to_string()
}

/// Returns the matching tools. Tools that contain the most words come first.
fn found<'a>(tools: &'a [Arc<McpTool>], query: &Query) -> Vec<&'a Arc<McpTool>> {
    if let Some(names) = query.query.strip_prefix("select:") {
        let names: Vec<&str> = names.split(',').map(str::trim).collect();
        let tools = tools.iter();
        return tools.filter(|tool| names.contains(&tool.name())).collect();
    }
    let query_text = query.query.to_lowercase();
    let words: Vec<&str> = query_text.split_whitespace().collect();
    let mut scored: Vec<_> = tools
        .iter()
        .map(|tool| {
            let text = format!("{} {}", tool.name(), tool.description()).to_lowercase();
            let hits = words.iter().filter(|word| text.contains(**word)).count();
            (hits, tool)
        })
        .filter(|(hits, _)| *hits > 0)
        .collect();
    scored.sort_by_key(|(hits, _)| std::cmp::Reverse(*hits));
    let limit = query.max_results.unwrap_or(DEFAULT_RESULTS);
    scored
        .into_iter()
        .take(limit)
        .map(|(_, tool)| tool)
        .collect()
}
