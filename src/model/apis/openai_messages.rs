//! A conversation as messages of the `OpenAI` API.

use serde_json::{Value, json};

use super::spoken::{Spoken, result_text, spoken};
use crate::message::{Call, Role};
use crate::model::Request;
use crate::model::dialect::Acceptance;

/// The messages of a request, with `instructions` before them.
pub(super) fn messages(instructions: &str, request: &Request, thoughts: Acceptance) -> Vec<Value> {
    let mut messages = Vec::new();
    if !instructions.is_empty() {
        messages.push(json!({"role": "system", "content": instructions}));
    }
    for spoken in spoken(request) {
        match spoken.role {
            Role::User | Role::System => messages.extend(user(&spoken)),
            Role::Assistant => messages.push(assistant(&spoken, thoughts)),
        }
    }
    messages
}

/// Results come first: they belong to the message before.
fn user(spoken: &Spoken<'_>) -> Vec<Value> {
    let result = |result| {
        let content = result_text(result);
        json!({"role": "tool", "tool_call_id": result.id, "content": content})
    };
    let mut messages: Vec<Value> = spoken.results().map(result).collect();
    let text = spoken.text();
    let images: Vec<Value> = spoken
        .attachments()
        .map(|(kind, data)| {
            let url = format!("data:{kind};base64,{data}");
            json!({"type": "image_url", "image_url": {"url": url}})
        })
        .collect();
    if !images.is_empty() {
        let mut content = images;
        if !text.is_empty() {
            content.insert(0, json!({"type": "text", "text": text}));
        }
        messages.push(json!({"role": "user", "content": content}));
    } else if !text.is_empty() {
        messages.push(json!({"role": "user", "content": text}));
    }
    messages
}

/// In the midst of calls, some servers insist on what their model thought before (`DeepSeek`, Kimi).
fn assistant(spoken: &Spoken<'_>, thoughts: Acceptance) -> Value {
    let call = |call: &Call| {
        let function = json!({"name": call.name, "arguments": call.input.get()});
        json!({"id": call.id, "type": "function", "function": function})
    };
    let calls: Vec<Value> = spoken.calls().map(call).collect();
    let text = spoken.text();
    if calls.is_empty() {
        return json!({"role": "assistant", "content": text});
    }
    let content = (!text.is_empty()).then_some(text);
    let mut message = json!({"role": "assistant", "content": content, "tool_calls": calls});
    let thought = spoken.thoughts();
    if thoughts == Acceptance::Sent && !thought.is_empty() {
        message["reasoning_content"] = thought.into();
    }
    message
}

/// Marks the end of a prefix for the prompt cache: the message's text becomes a part with a mark.
pub(super) fn mark(message: &mut Value) {
    let marked = match message.get("content") {
        Some(Value::String(text)) => {
            json!([{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}])
        }
        _ => return,
    };
    message["content"] = marked;
}
