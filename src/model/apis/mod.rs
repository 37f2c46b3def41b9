//! Requests and replies in the form of each API. Pure: a request in, a body out; a body in, a
//! draft of the reply out.

mod anthropic_messages;
mod ask;
mod gemini;
mod ollama_chat;
mod openai_chat;
mod openai_messages;
mod spoken;

#[cfg(test)]
mod encode_tests;

use serde_json::{Map, Value};

use super::dialect::{Acceptance, Api, Dialect};
use super::draft::Draft;
use super::server_error::ServerError;
use super::{Delivery, Failure, Request, Thinking};

/// How much of a malformed answer is shown, in characters.
const LONGEST_EXCERPT: usize = 80;

impl Api {
    /// The path after a provider's address.
    pub(super) fn path(self, model: &str, delivery: Delivery) -> String {
        match self {
            Self::OpenaiChat => "chat/completions".to_owned(),
            Self::AnthropicMessages => "v1/messages".to_owned(),
            Self::Gemini => gemini::path(model, delivery),
            Self::OllamaChat => "api/chat".to_owned(),
        }
    }

    /// Where a server lists its models, in its longest list; the member of the answer that holds them,
    /// and the member that names each.
    pub(super) fn list_of_models(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::OpenaiChat => ("models", "data", "id"),
            Self::AnthropicMessages => ("v1/models?limit=1000", "data", "id"),
            Self::Gemini => ("v1beta/models?pageSize=1000", "models", "name"),
            Self::OllamaChat => ("api/tags", "models", "name"),
        }
    }
}

/// The body of a request.
pub(super) fn encode(
    dialect: &Dialect,
    model: &str,
    request: &Request,
    delivery: Delivery,
) -> String {
    let mut body = match dialect.api {
        Api::OpenaiChat => openai_chat::encode(dialect, model, request, delivery),
        Api::AnthropicMessages => anthropic_messages::encode(dialect, model, request, delivery),
        Api::Gemini => gemini::encode(dialect, request),
        Api::OllamaChat => ollama_chat::encode(dialect, model, request, delivery),
    };
    match request.thinking {
        Thinking::Off => merge(&mut body, &dialect.thinking_off),
        Thinking::Tokens(tokens) => merge(&mut body, &dialect.thinking_with(tokens)),
        Thinking::Unspecified => {}
    }
    merge(&mut body, &dialect.extra_body);
    // A value can always be written. `Display` goes through a formatter, which is slower.
    serde_json::to_string(&body).unwrap_or_default()
}

/// How much of a reply a JSON value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it.
    Whole,
    /// A part, which came in a stream.
    Part,
}

/// Reads a reply or a part of one.
///
/// # Errors
/// It is an error, or something else.
pub(super) fn read(api: Api, json: &str, extent: Extent, draft: &mut Draft) -> Result<(), Failure> {
    let json = json.trim();
    // Errors count before everything else, whatever the status is.
    if let Some(error) = ServerError::inside(json) {
        return Err(error.failure(None, None));
    }
    let read = match (api, extent) {
        (Api::OpenaiChat, Extent::Whole) => openai_chat::read_whole(json, draft),
        (Api::OpenaiChat, Extent::Part) => openai_chat::read_part(json, draft),
        (Api::AnthropicMessages, Extent::Whole) => anthropic_messages::read_whole(json, draft),
        (Api::AnthropicMessages, Extent::Part) => anthropic_messages::read_part(json, draft),
        (Api::Gemini, _) => gemini::read(json, draft),
        (Api::OllamaChat, _) => ollama_chat::read(json, draft),
    };
    read.ok_or_else(|| senseless(json))
}

/// An answer that does not follow the API.
pub(super) fn senseless(body: &str) -> Failure {
    let body = body.trim();
    let reason = if body.is_empty() {
        "the answer has no content".to_owned()
    } else {
        let excerpt: String = body.chars().take(LONGEST_EXCERPT).collect();
        let line = excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("not in the form of the api: {line}")
    };
    Failure::Malformed { reason }
}

/// The temperature, where it can be chosen.
fn temperature(dialect: &Dialect, request: &Request) -> Option<Value> {
    match dialect.temperature {
        Acceptance::Sent => request.temperature.map(Value::from),
        Acceptance::Refused => None,
    }
}

/// Merges one object into another, recursively.
fn merge(under: &mut Value, over: &Map<String, Value>) {
    for (key, value) in over {
        match value {
            Value::Object(over) if under[key].is_object() => merge(&mut under[key], over),
            _ => under[key] = value.clone(),
        }
    }
}
