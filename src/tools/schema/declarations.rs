//! Tools as the model APIs want them declared.

use serde_json::{Map, Value, json};

use super::gemini::gemini_schema;
use crate::tools::{Registry, Tool};

/// The shape of a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Format {
    /// `tools` of the Anthropic messages API.
    Anthropic,
    /// `tools` of OpenAI chat completions.
    #[cfg_attr(feature = "cli", value(name = "openai"))]
    OpenAi,
    /// `tools` of Gemini's `generateContent`.
    Gemini,
}

/// The value for the request's `tools` key: an array, in the registry's order.
///
/// Deferred tools are marked `defer_loading` for Anthropic, whose API searches them; the other
/// APIs have no such search; deferred tools are left out there.
pub fn declarations(registry: &Registry, format: Format) -> Value {
    let all = registry.all();
    let tools = all.iter().map(|tool| &**tool);
    match format {
        Format::Anthropic => tools.map(anthropic).collect(),
        Format::OpenAi => tools
            .filter(|tool| !tool.is_deferred())
            .map(open_ai)
            .collect(),
        Format::Gemini => {
            let functions: Vec<Value> = tools
                .filter(|tool| !tool.is_deferred())
                .map(gemini)
                .collect();
            if functions.is_empty() {
                json!([])
            } else {
                json!([{"functionDeclarations": functions}])
            }
        }
    }
}

fn anthropic(tool: &dyn Tool) -> Value {
    let mut declaration = json!({
        "name": tool.name(),
        "description": tool.description(),
        "input_schema": tool.input_schema(),
    });
    if tool.is_deferred() {
        declaration["defer_loading"] = true.into();
    }
    declaration
}

fn open_ai(tool: &dyn Tool) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name(),
            "description": tool.description(),
            "parameters": tool.input_schema(),
        }
    })
}

fn gemini(tool: &dyn Tool) -> Value {
    let mut declaration = Map::new();
    declaration.insert("name".to_owned(), tool.name().into());
    declaration.insert("description".to_owned(), tool.description().into());
    // An object without properties is refused: a function without parameters has none.
    let parameters = gemini_schema(tool.input_schema());
    if parameters.get("properties").is_some() {
        declaration.insert("parameters".to_owned(), parameters);
    }
    declaration.into()
}
