//! Ollama's `/api/chat`.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::ask::Ask;
use super::openai_chat::{Call, Called, function};
use super::spoken::{Spoken, arguments, functions_called, result_text, spoken};
use super::temperature;
use crate::json::{number, object, text};
use crate::message::{Role, Usage};
use crate::model::dialect::Dialect;
use crate::model::draft::{Draft, End};
use crate::model::{Delivery, Request};

/// The default context of a server, in tokens. A longer prompt is silently cut at the front.
const USUAL_CONTEXT: usize = 4096;

/// The largest context that is requested.
const LARGEST_CONTEXT: usize = 128 * 1024;

/// The fewest bytes of text per token, for most languages.
const BYTES_OF_A_TOKEN: usize = 3;

/// The body of a request.
pub(super) fn encode(
    dialect: &Dialect,
    model: &str,
    request: &Request,
    delivery: Delivery,
) -> Value {
    let ask = Ask::of(request, dialect);
    // The default is to stream.
    let mut body = json!({"model": model, "stream": delivery == Delivery::Streamed});
    let messages = Value::from(messages(&ask.instructions(request), request));
    let functions: Vec<Value> = ask.functions().iter().map(function).collect();
    let mut options = json!({(dialect.budget_key.as_str()): request.max_output_tokens});
    if let Some(temperature) = temperature(dialect, request) {
        options["temperature"] = temperature;
    }
    let bytes = messages.to_string().len() + Value::from(functions.clone()).to_string().len();
    if let Some(context) = context(bytes, request.max_output_tokens) {
        options["num_ctx"] = context.into();
    }
    body["messages"] = messages;
    if !functions.is_empty() {
        body["tools"] = functions.into();
    }
    match ask {
        Ask::Schema(function) => body["format"] = function.parameters.clone(),
        Ask::Object(_) => body["format"] = "json".into(),
        // A call cannot be forced.
        Ask::Text | Ask::Call(_) | Ask::AnyCall(_) | Ask::Instructions(_) | Ask::Tools(_) => {}
    }
    body["options"] = options;
    body
}

/// The context that a request needs, if the default may be too small.
fn context(bytes: usize, max_output_tokens: u32) -> Option<usize> {
    let output = usize::try_from(max_output_tokens).unwrap_or(LARGEST_CONTEXT);
    let needed = (bytes / BYTES_OF_A_TOKEN).saturating_add(output);
    (needed > USUAL_CONTEXT).then(|| needed.next_power_of_two().min(LARGEST_CONTEXT))
}

fn messages(instructions: &str, request: &Request) -> Vec<Value> {
    let conversation = spoken(request);
    let functions = functions_called(&conversation);
    let mut messages = Vec::new();
    if !instructions.is_empty() {
        messages.push(json!({"role": "system", "content": instructions}));
    }
    for spoken in &conversation {
        match spoken.role {
            Role::User | Role::System => messages.extend(user(spoken, &functions)),
            Role::Assistant => messages.push(assistant(spoken)),
        }
    }
    messages
}

fn user(spoken: &Spoken<'_>, functions: &HashMap<&str, &str>) -> Vec<Value> {
    let mut messages: Vec<Value> = spoken
        .results()
        .map(|result| {
            let name = functions.get(&*result.id).copied().unwrap_or(&result.id);
            json!({"role": "tool", "tool_name": name, "content": result_text(result)})
        })
        .collect();
    let text = spoken.text();
    let images: Vec<&str> = spoken.attachments().map(|(_, data)| data).collect();
    if !text.is_empty() || !images.is_empty() {
        let mut message = json!({"role": "user", "content": text});
        if !images.is_empty() {
            message["images"] = json!(images);
        }
        messages.push(message);
    }
    messages
}

fn assistant(spoken: &Spoken<'_>) -> Value {
    let call = |call: &crate::message::Call| json!({"function": {"name": call.name, "arguments": arguments(&call.input)}});
    let calls: Vec<Value> = spoken.calls().map(call).collect();
    let mut message = json!({"role": "assistant", "content": spoken.text()});
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
        let thought = spoken.thoughts();
        if !thought.is_empty() {
            message["thinking"] = thought.into();
        }
    }
    message
}

object! {
    /// A reply, or a part of one.
    Answer {
        message, done, done_reason, prompt_tokens = "prompt_eval_count", tokens = "eval_count",
    }
}
object! {
    /// The message.
    Message { content, thinking, tool_calls }
}

/// Reads a reply or a part of one, which have the same form. `None` if it is neither.
pub(super) fn read(json: &str, draft: &mut Draft) -> Option<()> {
    let answer = Answer::read(json)?;
    if let (None, None) = (answer.message, answer.done) {
        return None;
    }
    let message = Message::of(answer.message).unwrap_or_default();
    draft.thinking(message.thinking);
    draft.text(message.content);
    for call in Call::list(message.tool_calls) {
        let called = Called::of(call.function).unwrap_or_default();
        draft.whole_call(call.id, called.name, called.arguments);
    }
    if answer.done.is_some_and(|done| done.get() == "true") {
        draft.closed = true;
        draft.end = Some(match text(answer.done_reason).as_deref() {
            Some("length") => End::Budget,
            _ => End::Regular,
        });
        draft.usage = Usage {
            input: number(answer.prompt_tokens).unwrap_or(0),
            output: number(answer.tokens).unwrap_or(0),
            ..Usage::default()
        };
    }
    Some(())
}
