//! `ToolSearch`, which returns schemas that are not in the list of tools.

use std::cmp::Reverse;
use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::builtin::{WholeNumber, input_schema};
use super::{
    Assessment, CallContext, CallStatus, DecisionContext, Input, InvalidInput, PreparedCall, Tool,
    ToolFailure, ToolReply, ToolSource, function,
};
use crate::api::Api;

/// The name of the tool.
pub const TOOL_SEARCH: &str = "ToolSearch";

const DESCRIPTION: &str = "Finds tools whose parameters you were not given, and returns their \
    declarations. A query is either `select:` and exact names separated by commas, or words that \
    the name or the description of a tool contains.";

/// Default number of tools found by words.
const DEFAULT_RESULTS: usize = 5;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct Query {
    /// `select:` and exact names separated by commas, or words
    query: String,
    /// Maximum number of tools found by words
    max_results: Option<WholeNumber>,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(input_schema::<Query>);

/// Searches the deferred tools among these, and those of the source.
#[derive(Clone)]
pub(super) struct ToolSearch {
    pub(super) tools: Vec<Arc<dyn Tool>>,
    pub(super) source: Option<Arc<dyn ToolSource>>,
}

impl Tool for ToolSearch {
    fn name(&self) -> &'static str {
        TOOL_SEARCH
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
            among: self.clone(),
            query,
        }))
    }
}

struct Search {
    among: ToolSearch,
    query: Query,
}

impl PreparedCall for Search {
    fn assess(&self, _: &DecisionContext) -> Assessment {
        Assessment::harmless(TOOL_SEARCH)
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let mut tools = self.among.tools.clone();
        if let Some(source) = &self.among.source {
            tools.extend(source.tools(call.cancel));
        }
        if call.cancel.is_cancelled() {
            return Ok(ToolReply::with_status(
                CallStatus::Cancelled,
                "",
                Value::Null,
            ));
        }
        tools.retain(|tool| tool.is_deferred());
        let found = find_tools(&tools, &self.query);
        let names: Vec<&str> = found.iter().map(|tool| tool.name()).collect();
        let structured = json!({ "matches": names, "total": tools.len() });
        if found.is_empty() {
            return Ok(ToolReply::text("No tool matches.", structured));
        }
        let declarations: Vec<String> = found
            .iter()
            .map(|tool| Api::Anthropic.declare(&function(&***tool)).to_string())
            .collect();
        Ok(ToolReply::text(declarations.join("\n"), structured))
    }
}

/// Returns the matching tools. Tools that contain the most words come first.
fn find_tools<'a>(tools: &'a [Arc<dyn Tool>], query: &Query) -> Vec<&'a Arc<dyn Tool>> {
    if let Some(names) = query.query.strip_prefix("select:") {
        let names: Vec<&str> = names.split(',').map(str::trim).collect();
        let tools = tools.iter();
        return tools.filter(|tool| names.contains(&tool.name())).collect();
    }
    let words = query.query.to_lowercase();
    let hit_count = |tool: &&Arc<dyn Tool>| {
        let text = format!("{} {}", tool.name(), tool.description()).to_lowercase();
        let words = words.split_whitespace();
        Reverse(words.filter(|word| text.contains(word)).count())
    };
    let mut found: Vec<_> = tools.iter().filter(|tool| hit_count(tool).0 > 0).collect();
    found.sort_by_key(hit_count);
    let limit = query
        .max_results
        .map_or(DEFAULT_RESULTS, WholeNumber::limit);
    found.truncate(limit);
    found
}
