//! Writes Anthropic's Messages API: requests, results and streaming events.

use serde_json::{Value, json};

use super::dialect::{Ask, AskedCalls, Dialect, JsonForm, set_temperature};
use super::request::{
    Attachment, CallResult, Delivery, Function, MergedTurn, Request, SharedPrefix, as_attachment,
    merge_turns_from_user, parse_arguments,
};
use turnpipe_core::message::{Block, ResultPart, Role, Thought, ToolResult};

/// Builds the body of a request.
pub(super) fn encode(
    dialect: &Dialect,
    model: &str,
    request: &Request,
    delivery: Delivery,
) -> Value {
    let ask = Ask::new(request, dialect);
    let mut body = json!({"model": model});
    body[&dialect.budget_key] = request.max_output_tokens.into();
    body["stream"] = (delivery == Delivery::Streamed).into();
    set_temperature(&mut body, dialect, request);
    let functions: Vec<Value> = ask.functions().iter().map(declare).collect();
    let instructions = ask.instructions(request);
    let mut system = json!([{"type": "text", "text": instructions}]);
    let mut messages = encode_messages(request);
    if dialect
        .cache_marks
        .is_worthwhile(functions.iter().chain([&system]))
    {
        mark_for_cache(&mut system[0]);
    }
    if request.shared == SharedPrefix::Conversation {
        let whole = functions.iter().chain([&system]).chain(&messages);
        if dialect.cache_marks.is_worthwhile(whole)
            && let Some(blocks) = messages
                .last_mut()
                .and_then(|last| last["content"].as_array_mut())
            && let Some(last) = blocks.last_mut()
        {
            mark_for_cache(last);
        }
    }
    if !instructions.is_empty() {
        body["system"] = system;
    }
    body["messages"] = messages.into();
    if !functions.is_empty() {
        body["tools"] = functions.into();
    }
    match ask.calls {
        AskedCalls::Named(function) => {
            body["tool_choice"] = json!({
                "type": "tool", "name": function.name, "disable_parallel_tool_use": true,
            });
        }
        AskedCalls::Any(_) => {
            body["tool_choice"] = json!({"type": "any", "disable_parallel_tool_use": true});
        }
        AskedCalls::Free(_) => {}
    }
    if let Some((JsonForm::Schema | JsonForm::Lenient, function)) = ask.json {
        let format = json!({"type": "json_schema", "schema": function.parameters});
        body["output_config"] = json!({"format": format});
    }
    body
}

/// Returns the declaration of a function.
pub(super) fn declare(function: &Function) -> Value {
    json!({
        "name": function.name,
        "description": function.description,
        "input_schema": function.parameters,
    })
}

fn mark_for_cache(block: &mut Value) {
    block["cache_control"] = json!({"type": "ephemeral"});
}

/// Returns the messages, alternating between user and model and starting with the user.
fn encode_messages(request: &Request) -> Vec<Value> {
    let mut messages = Vec::new();
    for turn in merge_turns_from_user(request) {
        let role = match turn.role {
            Role::User | Role::System => "user",
            Role::Assistant => "assistant",
        };
        let content = encode_content(&turn);
        if !content.is_empty() {
            messages.push(json!({"role": role, "content": content}));
        }
    }
    // A reply that the model continues must not end with blanks.
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

/// Returns the content of a turn. Results come first, as the API requires.
fn encode_content(turn: &MergedTurn<'_>) -> Vec<Value> {
    let others = turn.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(json!({"type": "text", "text": text})),
        Block::Call(call) => Some(json!({
            "type": "tool_use", "id": call.id, "name": call.name, "input": parse_arguments(&call.input),
        })),
        Block::Media(media) => as_attachment(media).map(encode_image),
        Block::Thinking(Thought::Signed { text, signature }) => {
            Some(json!({"type": "thinking", "thinking": text, "signature": signature}))
        }
        Block::Thinking(Thought::Redacted { data }) => {
            Some(json!({"type": "redacted_thinking", "data": data}))
        }
        Block::Thinking(Thought::Plain(_)) | Block::Result(_) => None,
    });
    turn.results().map(encode_result).chain(others).collect()
}

fn encode_image(image: Attachment<'_>) -> Value {
    let source = json!({"type": "base64", "media_type": image.media_type, "data": image.data});
    json!({"type": "image", "source": source})
}

fn encode_result_part(part: &ResultPart) -> Option<Value> {
    match part {
        ResultPart::Text(text) if text.trim().is_empty() => None,
        ResultPart::Text(text) => Some(json!({"type": "text", "text": text})),
        ResultPart::Media(media) => as_attachment(media).map(encode_image),
    }
}

fn encode_result(result: &ToolResult) -> Value {
    let parts: Vec<Value> = result.parts.iter().filter_map(encode_result_part).collect();
    let mut block = json!({"type": "tool_result", "tool_use_id": result.id});
    if !parts.is_empty() {
        block["content"] = parts.into();
    }
    if result.failed {
        block["is_error"] = true.into();
    }
    block
}

/// Builds the message with the results of calls.
pub(super) fn encode_results(results: &[CallResult]) -> Vec<Value> {
    let block = |call: &CallResult| {
        let content = match call.result.parts.as_slice() {
            [ResultPart::Text(text)] => json!(text),
            parts => parts.iter().filter_map(encode_result_part).collect(),
        };
        json!({
            "type": "tool_result",
            "tool_use_id": call.result.id,
            "content": content,
            "is_error": call.result.failed,
        })
    };
    let blocks: Vec<Value> = results.iter().map(block).collect();
    vec![json!({"role": "user", "content": blocks})]
}

pub(crate) enum BlockStart<'a> {
    Text,
    Thinking,
    RedactedThinking(&'a str),
    Call { id: &'a str, name: &'a str },
}

pub(crate) enum BlockDelta<'a> {
    Text(&'a str),
    Thinking(&'a str),
    Signature(&'a str),
    Input(&'a str),
}

/// Returns the event at the start of the block at this position.
pub(crate) fn encode_block_start(index: usize, block: &BlockStart<'_>) -> Value {
    let block = match block {
        BlockStart::Text => json!({"type": "text", "text": ""}),
        BlockStart::Thinking => json!({"type": "thinking", "thinking": "", "signature": ""}),
        BlockStart::RedactedThinking(data) => json!({"type": "redacted_thinking", "data": data}),
        BlockStart::Call { id, name } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": {}})
        }
    };
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

/// Returns the event with a delta of a block.
pub(crate) fn encode_block_delta(index: usize, delta: &BlockDelta<'_>) -> Value {
    let delta = match delta {
        BlockDelta::Text(text) => json!({"type": "text_delta", "text": text}),
        BlockDelta::Thinking(text) => json!({"type": "thinking_delta", "thinking": text}),
        BlockDelta::Signature(proof) => json!({"type": "signature_delta", "signature": proof}),
        BlockDelta::Input(json) => json!({"type": "input_json_delta", "partial_json": json}),
    };
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

/// Returns the event at the end of a block.
pub(crate) fn encode_block_stop(index: usize) -> Value {
    json!({"type": "content_block_stop", "index": index})
}
