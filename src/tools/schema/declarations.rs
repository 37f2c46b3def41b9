//! Declarations of tools for model APIs.

use serde_json::Value;

use crate::api::{Api, Function};
use crate::tools::{Registry, Tool};

/// Returns the value for the request's `tools` key: an array, in the registry's order.
///
/// Deferred tools are marked `defer_loading` for Anthropic, whose API searches them; the other
/// APIs have no such search, and deferred tools are left out there.
pub fn declarations(registry: &Registry, api: Api) -> Value {
    let all = registry.all();
    let tools = all.iter().map(|tool| &**tool);
    let tools = tools.filter(|tool| api == Api::Anthropic || !tool.is_deferred());
    api.tools(tools.map(|tool| declaration(tool, api)).collect())
}

fn declaration(tool: &dyn Tool, api: Api) -> Value {
    let mut declaration = api.declaration(&Function {
        name: tool.name().to_owned(),
        description: tool.description().to_owned(),
        parameters: tool.input_schema().clone(),
    });
    if tool.is_deferred() {
        declaration["defer_loading"] = true.into();
    }
    declaration
}
