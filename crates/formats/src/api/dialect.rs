//! The APIs, and the differences between servers of one API, as data.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::request::{Function, ReplyForm, Request};

/// A model API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// Anthropic messages, which stream-json records contain as well.
    #[serde(rename = "anthropic_messages")]
    #[cfg_attr(feature = "clap", value(name = "anthropic"))]
    Anthropic,
    /// `OpenAI` chat completions.
    #[cfg_attr(feature = "clap", value(name = "openai"))]
    OpenaiChat,
    /// `OpenAI`'s Responses API.
    #[cfg_attr(feature = "clap", value(name = "responses"))]
    Responses,
    /// Gemini contents, which Qwen Code sessions contain as well.
    #[cfg_attr(feature = "clap", value(name = "gemini"))]
    Gemini,
    /// Ollama's own API.
    #[serde(rename = "ollama_chat")]
    #[cfg_attr(feature = "clap", value(name = "ollama"))]
    Ollama,
}

/// The way to request a call of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForcedCall {
    /// The request names the function.
    Named,
    /// The request requires any call and offers only one function.
    Any,
    /// Calls cannot be forced; JSON is requested instead.
    Json,
}

/// The way to request JSON that follows a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JsonForm {
    /// The request contains the schema.
    Schema,
    /// Like `Schema`, in the form that accepts more schemas or is known to more models, if the API has two.
    Lenient,
    /// The request requires any object; the schema is in the instructions.
    Object,
    /// Only the instructions contain the schema.
    Instructions,
}

/// Marks of prefixes for the prompt cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheMarks {
    /// No marks: the server caches by itself or not at all.
    #[default]
    None,
    /// `cache_control` for prefixes of at least this many tokens; servers ignore shorter ones.
    From(u32),
}

/// Acceptance of a member of requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Acceptance {
    /// The member is sent.
    #[default]
    Sent,
    /// The server or the model refuses it.
    Refused,
}

/// The differences between servers and models of one API.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dialect {
    /// The API.
    pub api: Api,
    /// The key of the token budget, if the API has several.
    pub budget_key: String,
    /// Members merged into a request to turn thinking off.
    #[serde(default)]
    pub thinking_off: Map<String, Value>,
    /// Members merged into a request for thinking with a budget: `$TOKENS` becomes the budget,
    /// `$EFFORT` becomes `low`, `medium` or `high`.
    #[serde(default)]
    pub thinking_on: Map<String, Value>,
    /// The way to force a call.
    pub forced_call: ForcedCall,
    /// The way to request JSON.
    pub json: JsonForm,
    /// Whether JSON is requested while tools are offered. Otherwise the instructions contain the schema.
    #[serde(default)]
    pub json_with_tools: Acceptance,
    /// Whether prefixes are marked.
    #[serde(default)]
    pub cache_marks: CacheMarks,
    /// Whether the temperature is sent.
    #[serde(default)]
    pub temperature: Acceptance,
    /// Whether unsigned thinking before calls is sent back.
    #[serde(default)]
    pub thoughts: Acceptance,
    /// Members merged into every request.
    #[serde(default)]
    pub extra_body: Map<String, Value>,
}

/// The settings of a dialect in the configuration.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DialectOverrides {
    /// The key of the token budget.
    pub budget_key: Option<String>,
    /// Members that turn thinking off.
    pub thinking_off: Option<Map<String, Value>>,
    /// Members that turn thinking on.
    pub thinking_on: Option<Map<String, Value>>,
    /// The way to force a call.
    pub forced_call: Option<ForcedCall>,
    /// The way to request JSON.
    pub json: Option<JsonForm>,
    /// Whether JSON is requested while tools are offered.
    pub json_with_tools: Option<Acceptance>,
    /// Whether prefixes are marked.
    pub cache_marks: Option<CacheMarks>,
    /// Whether the temperature is sent.
    pub temperature: Option<Acceptance>,
    /// Whether thoughts are sent back.
    pub thoughts: Option<Acceptance>,
    /// Members merged into every request.
    pub extra_body: Option<Map<String, Value>>,
}

impl Dialect {
    /// Returns the dialect with these settings.
    #[must_use]
    pub fn with_overrides(self, overrides: &DialectOverrides) -> Self {
        let overrides = overrides.clone();
        Self {
            api: self.api,
            budget_key: overrides.budget_key.unwrap_or(self.budget_key),
            thinking_off: overrides.thinking_off.unwrap_or(self.thinking_off),
            thinking_on: overrides.thinking_on.unwrap_or(self.thinking_on),
            forced_call: overrides.forced_call.unwrap_or(self.forced_call),
            json: overrides.json.unwrap_or(self.json),
            json_with_tools: overrides.json_with_tools.unwrap_or(self.json_with_tools),
            cache_marks: overrides.cache_marks.unwrap_or(self.cache_marks),
            temperature: overrides.temperature.unwrap_or(self.temperature),
            thoughts: overrides.thoughts.unwrap_or(self.thoughts),
            extra_body: overrides.extra_body.unwrap_or(self.extra_body),
        }
    }
}

impl Dialect {
    /// Returns the members merged into a request for thinking with this budget.
    pub(super) fn enable_thinking(&self, tokens: u32) -> Map<String, Value> {
        let effort = match tokens {
            ..4096 => "low",
            4096..16_384 => "medium",
            16_384.. => "high",
        };
        let mut members = self.thinking_on.clone();
        for value in members.values_mut() {
            replace_placeholders(value, tokens, effort);
        }
        members
    }
}

fn replace_placeholders(value: &mut Value, tokens: u32, effort: &str) {
    match value {
        Value::String(text) if text == "$TOKENS" => *value = tokens.into(),
        Value::String(text) if text == "$EFFORT" => effort.clone_into(text),
        Value::Object(members) => members
            .values_mut()
            .for_each(|member| replace_placeholders(member, tokens, effort)),
        _ => {}
    }
}

/// Bytes of JSON text per token: an estimate for prose and code.
const BYTES_PER_TOKEN: usize = 4;

impl CacheMarks {
    /// Whether a prefix that consists of these values is long enough for a mark. A server ignores
    /// marks below its minimum.
    pub(super) fn is_worthwhile<'a>(self, prefix: impl IntoIterator<Item = &'a Value>) -> bool {
        let Self::From(tokens) = self else {
            return false;
        };
        let needed = usize::try_from(tokens).unwrap_or(usize::MAX);
        let mut bytes = 0;
        prefix.into_iter().any(|value| {
            bytes += value.to_string().len();
            bytes / BYTES_PER_TOKEN >= needed
        })
    }
}

/// The form of a reply, and how it is requested.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ask<'a> {
    pub(super) calls: AskedCalls<'a>,
    /// The schema of a reply without calls.
    pub(super) json: Option<(JsonForm, &'a Function)>,
}

/// The calls that a request allows or requires.
#[derive(Debug, Clone, Copy)]
pub(super) enum AskedCalls<'a> {
    /// A call of this function, by name.
    Named(&'a Function),
    /// Any call; this is the only function.
    Any(&'a Function),
    /// The model chooses among these functions, or replies.
    Free(&'a [Function]),
}

impl<'a> Ask<'a> {
    /// Returns the form for a request in a dialect.
    pub(super) fn new(request: &'a Request, dialect: &Dialect) -> Self {
        let functions = match &request.form {
            ReplyForm::Text => &[],
            ReplyForm::Tools(functions) => functions.as_slice(),
            ReplyForm::Forced(function) => {
                let (calls, json) = match dialect.forced_call {
                    ForcedCall::Named => (AskedCalls::Named(function), None),
                    ForcedCall::Any => (AskedCalls::Any(function), None),
                    ForcedCall::Json => (AskedCalls::Free(&[]), Some((dialect.json, function))),
                };
                return Self { calls, json };
            }
        };
        let excludes_tools = dialect.json_with_tools == Acceptance::Refused;
        let (functions, json) = match &request.output {
            Some(output) if output.is_retry && excludes_tools => (&[][..], dialect.json),
            Some(_) if excludes_tools && !functions.is_empty() => {
                (functions, JsonForm::Instructions)
            }
            _ => (functions, dialect.json),
        };
        Self {
            calls: AskedCalls::Free(functions),
            json: request.output.as_ref().map(|output| (json, &output.schema)),
        }
    }

    /// Returns the functions that are offered. Some servers refuse an empty list.
    pub(super) fn functions(self) -> &'a [Function] {
        match self.calls {
            AskedCalls::Named(function) | AskedCalls::Any(function) => {
                std::slice::from_ref(function)
            }
            AskedCalls::Free(functions) => functions,
        }
    }

    /// Returns the instructions, with the schema if the request has no separate member for it.
    pub(super) fn instructions(self, request: &Request) -> String {
        let Some((JsonForm::Object | JsonForm::Instructions, function)) = self.json else {
            return request.system.clone();
        };
        let schema = &function.parameters;
        let start = match self.functions() {
            [] => "Reply",
            _ => "When you need no more tools, reply",
        };
        let kind = match schema["type"].as_str() {
            Some("object") => "object",
            _ => "value",
        };
        let instruction = format!(
            "{start} with one JSON {kind} and nothing else. It has to fit this JSON Schema: {schema}"
        );
        if request.system.is_empty() {
            instruction
        } else {
            format!("{}\n\n{instruction}", request.system)
        }
    }
}

/// Whether a schema forbids other properties, which servers require for strict schemas.
pub(super) fn is_strict(function: &Function) -> bool {
    function.parameters.get("additionalProperties") == Some(&Value::Bool(false))
}

/// Adds the temperature to a body, if the server accepts one.
pub(super) fn set_temperature(body: &mut Value, dialect: &Dialect, request: &Request) {
    if let (Acceptance::Sent, Some(temperature)) = (dialect.temperature, request.temperature) {
        body["temperature"] = temperature.into();
    }
}
