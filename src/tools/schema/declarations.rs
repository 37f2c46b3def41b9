//! Declarations of tools for model APIs.

use serde_json::{Map, Value, json};

use super::gemini::gemini_schema;
use crate::tools::{Registry, Tool};

/// The format of declarations.
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

/// Returns the value of the request's `tools` key: an array, in the order of the registry.
///
/// Deferred tools are marked with `defer_loading` for Anthropic, whose API can search them. They are omitted for
/// other APIs.
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
    // The API rejects an object without properties, so a function without parameters has no schema.
    let parameters = gemini_schema(tool.input_schema());
    if parameters.get("properties").is_some() {
        declaration.insert("parameters".to_owned(), parameters);
    }
    declaration.into()
}
