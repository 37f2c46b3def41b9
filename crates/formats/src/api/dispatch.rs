//! Dispatches to the code of each API, which parses replies, encodes requests and writes results.

use serde_json::{Map, Value};

use super::delta::Chunk;
use super::dialect::{Api, Dialect};
use super::request::{CallResult, Delivery, Function, Request, Thinking};
use super::verbatim::Verbatim;
use super::{anthropic, anthropic_encode, gemini, ollama, openai_chat, responses};
use turnpipe_core::message::ToolUseId;

impl Api {
    /// Whether `--dialect` with this API reads records of `other`.
    pub(crate) fn includes(self, other: Self) -> bool {
        self == other || self == Self::OpenaiChat && matches!(other, Self::Responses | Self::Ollama)
    }

    /// Returns the URL path below a provider's address.
    pub fn path(self, model: &str, delivery: Delivery) -> String {
        match self {
            Self::OpenaiChat => "chat/completions".to_owned(),
            Self::Responses => "responses".to_owned(),
            Self::Anthropic => "v1/messages".to_owned(),
            Self::Gemini => gemini::path(model, delivery),
            Self::Ollama => "api/chat".to_owned(),
        }
    }

    /// Returns the path of a server's list of models, the member of the response that contains the
    /// models, and the member that names each.
    pub fn list_of_models(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::OpenaiChat | Self::Responses => ("models", "data", "id"),
            Self::Anthropic => ("v1/models?limit=1000", "data", "id"),
            Self::Gemini => ("v1beta/models?pageSize=1000", "models", "name"),
            Self::Ollama => ("api/tags", "models", "name"),
        }
    }

    /// Whether the server marks the end of a stream.
    pub fn has_stream_end(self) -> bool {
        matches!(self, Self::Anthropic | Self::Responses)
    }

    /// Reads a whole reply, or a part of a streamed one. `None` if it is neither.
    pub fn parse(self, json: &str, delivery: Delivery) -> Option<Chunk<'_>> {
        let is_whole = delivery == Delivery::Whole;
        match self {
            Self::OpenaiChat if is_whole => openai_chat::parse_whole(json),
            Self::OpenaiChat => openai_chat::parse_event(json),
            Self::Responses if is_whole => responses::parse_whole(json),
            Self::Responses => responses::parse_event(json),
            Self::Anthropic if is_whole => anthropic::parse_whole(json),
            Self::Anthropic => anthropic::parse_event(json),
            Self::Gemini => gemini::parse(json),
            Self::Ollama => ollama::parse(json),
        }
    }

    /// Builds the messages, or items, with the results of calls for the next request.
    pub(crate) fn encode_results(self, results: &[CallResult]) -> Vec<Value> {
        if results.is_empty() {
            return Vec::new();
        }
        match self {
            Self::OpenaiChat => openai_chat::encode_results(results),
            Self::Responses => responses::encode_results(results),
            Self::Anthropic => anthropic_encode::encode_results(results),
            Self::Gemini => gemini::encode_results(results),
            Self::Ollama => ollama::encode_results(results),
        }
    }

    /// Returns the declaration of a function.
    pub fn declare(self, function: &Function) -> Value {
        match self {
            Self::OpenaiChat | Self::Ollama => openai_chat::declare(function),
            Self::Responses => responses::declare(function),
            Self::Anthropic => anthropic_encode::declare(function),
            Self::Gemini => gemini::declare(function),
        }
    }

    /// Returns the value of a request's `tools`.
    pub fn encode_tools(self, declarations: Vec<Value>) -> Value {
        match self {
            Self::Gemini if !declarations.is_empty() => gemini::encode_tools(&declarations),
            _ => declarations.into(),
        }
    }

    /// Takes the model's output out of a record, unchanged.
    pub(crate) fn take_output(self, record: Value) -> Verbatim {
        match self {
            Self::Anthropic => anthropic::take_output(record),
            Self::OpenaiChat | Self::Ollama => {
                openai_chat::take_output(record).unwrap_or(Verbatim::Nothing)
            }
            Self::Responses => responses::take_output(record),
            Self::Gemini => Verbatim::Parts(gemini::take_output(record)),
        }
    }

    /// Sets the ids of the calls among the model's parts that [`Api::take_output`] returned, unless their number differs.
    /// Gemini and Ollama identify calls without an id by their names.
    pub(crate) fn set_call_ids(self, parts: &mut [Value], ids: Vec<ToolUseId>) {
        let calls = parts
            .iter_mut()
            .filter_map(|part| match (self, part["type"].as_str()) {
                (Self::Gemini, _) => part.get_mut(gemini::CALL)?.as_object_mut(),
                (Self::Responses, Some(kind)) if !responses::CALLS.contains(&kind) => None,
                (Self::Anthropic, kind) if kind != Some("tool_use") => None,
                _ => part.as_object_mut(),
            });
        let calls: Vec<_> = calls.collect();
        if calls.len() != ids.len() {
            return;
        }
        let key = if self == Self::Responses {
            "call_id"
        } else {
            "id"
        };
        for (call, id) in calls.into_iter().zip(ids) {
            let has_id = call.get(key).is_some_and(|id| !id.is_null() && id != "");
            if has_id || !matches!(self, Self::Gemini | Self::Ollama) {
                call.insert(key.to_owned(), id.0.into());
            } else {
                call.shift_remove(key);
            }
        }
    }

    /// Builds the message from the model's parts, or members and calls, that [`Api::take_output`] returned.
    pub(crate) fn to_message(self, members: Map<String, Value>, parts: Vec<Value>) -> Vec<Value> {
        match self {
            Self::OpenaiChat | Self::Ollama => openai_chat::to_message(members, parts),
            _ if parts.is_empty() => parts,
            Self::Anthropic => vec![serde_json::json!({"role": "assistant", "content": parts})],
            Self::Gemini => vec![serde_json::json!({"role": "model", "parts": parts})],
            Self::Responses => parts,
        }
    }
}

/// Builds the body of a request.
pub fn encode(dialect: &Dialect, model: &str, request: &Request, delivery: Delivery) -> String {
    let mut body = match dialect.api {
        Api::OpenaiChat => openai_chat::encode(dialect, model, request, delivery),
        Api::Responses => responses::encode(dialect, model, request, delivery),
        Api::Anthropic => anthropic_encode::encode(dialect, model, request, delivery),
        Api::Gemini => gemini::encode(dialect, request),
        Api::Ollama => ollama::encode(dialect, model, request, delivery),
    };
    match request.thinking {
        Thinking::Off => merge(&mut body, &dialect.thinking_off),
        Thinking::Tokens(tokens) => merge(&mut body, &dialect.enable_thinking(tokens)),
        Thinking::Unspecified => {}
    }
    merge(&mut body, &dialect.extra_body);
    // A value can always be written. `Display` goes through a formatter, which is slower.
    serde_json::to_string(&body).unwrap_or_default()
}

/// Merges one object into another, recursively. Null removes a member.
fn merge(under: &mut Value, over: &Map<String, Value>) {
    for (key, value) in over {
        match value {
            Value::Null => drop(under.as_object_mut().and_then(|it| it.shift_remove(key))),
            Value::Object(over) if under[key].is_object() => merge(&mut under[key], over),
            _ => under[key] = value.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Api;

    #[test]
    fn a_dialect_reads_its_own_records_and_openai_those_of_compatible_servers() {
        use Api::{Anthropic, Gemini, Ollama, OpenaiChat, Responses};
        let all = [Anthropic, Gemini, Ollama, OpenaiChat, Responses];
        for (dialect, expected) in [
            (Anthropic, &[Anthropic][..]),
            (Gemini, &[Gemini]),
            (Ollama, &[Ollama]),
            (OpenaiChat, &[Ollama, OpenaiChat, Responses]),
            (Responses, &[Responses]),
        ] {
            let read: Vec<Api> = all
                .into_iter()
                .filter(|api| dialect.includes(*api))
                .collect();
            assert_eq!(read, expected, "{dialect:?}");
        }
    }
}
