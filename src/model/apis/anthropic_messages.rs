//! Anthropic's messages.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::ask::Ask;
use super::spoken::{Spoken, arguments, attachment, spoken_to_user};
use super::temperature;
use crate::json::{number, object, text};
use crate::message::{Block, ResultPart, Role, Thought, ToolResult};
use crate::model::dialect::Dialect;
use crate::model::draft::{Draft, End};
use crate::model::{Delivery, Request, SharedPrefix};

/// The body of a request.
pub(super) fn encode(
    dialect: &Dialect,
    model: &str,
    request: &Request,
    delivery: Delivery,
) -> Value {
    let ask = Ask::of(request, dialect);
    let mut body = json!({"model": model});
    body[&dialect.budget_key] = request.max_output_tokens.into();
    body["stream"] = (delivery == Delivery::Streamed).into();
    if let Some(temperature) = temperature(dialect, request) {
        body["temperature"] = temperature;
    }
    let functions: Vec<Value> = ask
        .functions()
        .iter()
        .map(|function| {
            json!({
                "name": function.name,
                "description": function.description,
                "input_schema": function.parameters,
            })
        })
        .collect();
    let instructions = ask.instructions(request);
    let mut system = json!([{"type": "text", "text": instructions}]);
    let mut messages = messages(request);
    if dialect
        .cache_marks
        .is_worthwhile(functions.iter().chain([&system]))
    {
        mark(&mut system[0]);
    }
    if request.shared == SharedPrefix::Conversation {
        let whole = functions.iter().chain([&system]).chain(&messages);
        if dialect.cache_marks.is_worthwhile(whole)
            && let Some(blocks) = messages
                .last_mut()
                .and_then(|last| last["content"].as_array_mut())
            && let Some(last) = blocks.last_mut()
        {
            mark(last);
        }
    }
    if !instructions.is_empty() {
        body["system"] = system;
    }
    body["messages"] = messages.into();
    if !functions.is_empty() {
        body["tools"] = functions.into();
    }
    match ask {
        Ask::Call(function) => {
            body["tool_choice"] = json!({
                "type": "tool", "name": function.name, "disable_parallel_tool_use": true,
            });
        }
        Ask::AnyCall(_) => {
            body["tool_choice"] = json!({"type": "any", "disable_parallel_tool_use": true});
        }
        Ask::Schema(function) => {
            let format = json!({"type": "json_schema", "schema": function.parameters});
            body["output_config"] = json!({"format": format});
        }
        Ask::Text | Ask::Object(_) | Ask::Instructions(_) | Ask::Tools(_) => {}
    }
    body
}

fn mark(block: &mut Value) {
    block["cache_control"] = json!({"type": "ephemeral"});
}

/// The user speaks first, and both in turn.
fn messages(request: &Request) -> Vec<Value> {
    let mut messages = Vec::new();
    for spoken in spoken_to_user(request) {
        let role = match spoken.role {
            Role::User | Role::System => "user",
            Role::Assistant => "assistant",
        };
        let content = content(&spoken);
        if !content.is_empty() {
            messages.push(json!({"role": role, "content": content}));
        }
    }
    // An answer that the model is to continue must not end with blanks.
    if let Some(last) = messages
        .last_mut()
        .filter(|last| last["role"] == "assistant")
        && let Some(Value::String(text)) = last["content"]
            .as_array_mut()
            .and_then(|blocks| blocks.last_mut())
            .and_then(|block| block.get_mut("text"))
    {
        text.truncate(text.trim_end().len());
    }
    messages
}

/// Results come first, as the API requires.
fn content(spoken: &Spoken<'_>) -> Vec<Value> {
    let others = spoken.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(json!({"type": "text", "text": text})),
        Block::Call(call) => Some(json!({
            "type": "tool_use", "id": call.id, "name": call.name, "input": arguments(&call.input),
        })),
        Block::Media(media) => attachment(media).map(image),
        Block::Thinking(Thought::Signed { text, signature }) => {
            Some(json!({"type": "thinking", "thinking": text, "signature": signature}))
        }
        Block::Thinking(Thought::Redacted { data }) => {
            Some(json!({"type": "redacted_thinking", "data": data}))
        }
        Block::Thinking(Thought::Plain(_)) | Block::Result(_) => None,
    });
    spoken.results().map(result).chain(others).collect()
}

fn image((kind, data): (&str, &str)) -> Value {
    let source = json!({"type": "base64", "media_type": kind, "data": data});
    json!({"type": "image", "source": source})
}

fn result(result: &ToolResult) -> Value {
    let parts: Vec<Value> = result
        .parts
        .iter()
        .filter_map(|part| match part {
            ResultPart::Text(text) if text.trim().is_empty() => None,
            ResultPart::Text(text) => Some(json!({"type": "text", "text": text})),
            ResultPart::Media(media) => attachment(media).map(image),
        })
        .collect();
    let mut block = json!({"type": "tool_result", "tool_use_id": result.id});
    if !parts.is_empty() {
        block["content"] = parts.into();
    }
    if result.failed {
        block["is_error"] = true.into();
    }
    block
}

object! {
    /// A message.
    Message { content, stop_reason, usage }
}
object! {
    /// An event of a stream.
    StreamEvent { kind = "type", index, message, content_block, delta, usage }
}
object! {
    /// A part of a message, or more of one.
    Content {
        kind = "type", text, thinking, signature, data, id, name, input, partial_json, stop_reason,
    }
}
object! {
    /// Token counts.
    Tokens {
        input = "input_tokens", output = "output_tokens", cache_read = "cache_read_input_tokens",
        cache_write = "cache_creation_input_tokens",
    }
}

/// Reads a message. `None` if it is not one.
pub(super) fn read_whole(json: &str, draft: &mut Draft) -> Option<()> {
    let message = Message::read(json)?;
    message.content?;
    read_usage(message.usage, draft);
    for (index, block) in Content::list(message.content).iter().enumerate() {
        begin_block(u64::try_from(index).unwrap_or(u64::MAX), block, draft);
    }
    read_stop_reason(message.stop_reason, draft);
    Some(())
}

/// Reads an event of a stream. `None` if it is not one. Unknown types are skipped.
pub(super) fn read_part(json: &str, draft: &mut Draft) -> Option<()> {
    let event = StreamEvent::read(json)?;
    draft.must_be_closed = true;
    let index = number(event.index).unwrap_or(0);
    match text(event.kind)?.as_ref() {
        "message_start" => {
            let message = Message::of(event.message).unwrap_or_default();
            read_usage(message.usage, draft);
        }
        "content_block_start" => {
            begin_block(
                index,
                &Content::of(event.content_block).unwrap_or_default(),
                draft,
            );
        }
        "content_block_delta" => {
            let delta = Content::of(event.delta).unwrap_or_default();
            read_text(&delta, draft);
            if let Some(position) = draft.call_in(index) {
                draft.call_input(position, delta.partial_json);
            }
        }
        "message_delta" => {
            let delta = Content::of(event.delta).unwrap_or_default();
            read_usage(event.usage, draft);
            read_stop_reason(delta.stop_reason, draft);
        }
        "message_stop" => draft.closed = true,
        _ => {}
    }
    Some(())
}

/// The order of blocks is not fixed, and thinking may be anywhere.
fn begin_block(index: u64, block: &Content<'_>, draft: &mut Draft) {
    if text(block.kind).as_deref() != Some("tool_use") {
        read_text(block, draft);
        return;
    }
    let position = draft.begin_call(index);
    draft.name_call(
        position,
        text(block.id).as_deref(),
        text(block.name).as_deref(),
    );
    // In a stream the input comes later, and this is an empty object.
    draft.call_input(position, block.input);
}

fn read_text(content: &Content<'_>, draft: &mut Draft) {
    draft.text(content.text);
    draft.thinking(content.thinking);
    draft.redacted_thinking(content.data);
    draft.signature(content.signature);
}

fn read_stop_reason(reason: Option<&RawValue>, draft: &mut Draft) {
    let Some(reason) = text(reason) else { return };
    draft.end = Some(match reason.as_ref() {
        "max_tokens" | "model_context_window_exceeded" => End::Budget,
        "refusal" => End::Declined("the model refused".to_owned()),
        _ => End::Regular,
    });
}

/// Counts are totals, not differences. A missing count leaves the last one in place.
fn read_usage(raw: Option<&RawValue>, draft: &mut Draft) {
    let Some(tokens) = Tokens::of(raw) else {
        return;
    };
    let usage = &mut draft.usage;
    for (count, raw) in [
        (&mut usage.input, tokens.input),
        (&mut usage.output, tokens.output),
        (&mut usage.cache_read, tokens.cache_read),
        (&mut usage.cache_write, tokens.cache_write),
    ] {
        if let Some(number) = number(raw) {
            *count = number;
        }
    }
}
