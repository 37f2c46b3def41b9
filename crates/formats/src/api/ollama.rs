//! Ollama's `/api/chat`.

use std::collections::HashMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::delta::{Chunk, Delta, End, Extent};
use super::dialect::{Ask, Dialect, JsonForm, set_temperature};
use super::envelope::Envelope;
use super::openai_chat::{declare_strict, read_calls};
use super::request::{CallResult, Delivery, Request};
use super::request::{
    MergedTurn, filter_attachments, format_result, map_call_names, merge_turns, parse_arguments,
};
use turnpipe_core::json::{bytes, is_true, non_empty, number, object, text};
use turnpipe_core::message::{Call, ResultPart, Role, ToolResult, Usage};

/// The default context of a server, in tokens. A longer prompt is silently truncated at the start.
const DEFAULT_CONTEXT: usize = 4096;

/// Maximum context to request, in tokens.
const MAX_CONTEXT: usize = 128 * 1024;

/// Minimum bytes of text per token, for most languages.
const BYTES_PER_TOKEN: usize = 3;

/// Builds the body of a request.
pub(super) fn encode(
    dialect: &Dialect,
    model: &str,
    request: &Request,
    delivery: Delivery,
) -> Value {
    let ask = Ask::new(request, dialect);
    // The default is to stream.
    let mut body = json!({"model": model, "stream": delivery == Delivery::Streamed});
    let messages = Value::from(encode_messages(&ask.instructions(request), request));
    let functions: Vec<Value> = ask.functions().iter().map(declare_strict).collect();
    let mut options = json!({(dialect.budget_key.as_str()): request.max_output_tokens});
    set_temperature(&mut options, dialect, request);
    let bytes = messages.to_string().len() + Value::from(functions.clone()).to_string().len();
    if let Some(context) = needed_context(bytes, request.max_output_tokens) {
        options["num_ctx"] = context.into();
    }
    body["messages"] = messages;
    if !functions.is_empty() {
        body["tools"] = functions.into();
    }
    // A call cannot be forced.
    match ask.json {
        Some((JsonForm::Schema | JsonForm::Lenient, function)) => {
            body["format"] = function.parameters.clone();
        }
        Some((JsonForm::Object, _)) => body["format"] = "json".into(),
        Some((JsonForm::Instructions, _)) | None => {}
    }
    body["options"] = options;
    body
}

/// Returns the context that a request needs, if the default may be too small.
fn needed_context(bytes: usize, max_output_tokens: u32) -> Option<usize> {
    let output = usize::try_from(max_output_tokens).unwrap_or(MAX_CONTEXT);
    let needed = (bytes / BYTES_PER_TOKEN).saturating_add(output);
    (needed > DEFAULT_CONTEXT).then(|| needed.next_power_of_two().min(MAX_CONTEXT))
}

fn encode_messages(instructions: &str, request: &Request) -> Vec<Value> {
    let conversation = merge_turns(request);
    let functions = map_call_names(&conversation);
    let mut messages = Vec::new();
    if !instructions.is_empty() {
        messages.push(json!({"role": "system", "content": instructions}));
    }
    for turn in &conversation {
        match turn.role {
            Role::User | Role::System => messages.extend(encode_user_turn(turn, &functions)),
            Role::Assistant => messages.push(encode_model_turn(turn)),
        }
    }
    messages
}

fn encode_user_turn(turn: &MergedTurn<'_>, functions: &HashMap<&str, &str>) -> Vec<Value> {
    let result = |result: &ToolResult| {
        let name = functions.get(&*result.id).copied();
        encode_result(name.unwrap_or(&result.id), None, &result.parts)
    };
    let mut messages: Vec<Value> = turn.results().map(result).collect();
    let text = turn.text();
    let images: Vec<&str> = turn.attachments().map(|image| image.data).collect();
    if !text.is_empty() || !images.is_empty() {
        let mut message = json!({"role": "user", "content": text});
        if !images.is_empty() {
            message["images"] = json!(images);
        }
        messages.push(message);
    }
    messages
}

fn encode_result(name: &str, id: Option<&str>, parts: &[ResultPart]) -> Value {
    let mut message = json!({"role": "tool", "tool_name": name, "content": format_result(parts)});
    if let Some(id) = id {
        message["tool_call_id"] = id.into();
    }
    let images: Vec<&str> = filter_attachments(parts).map(|image| image.data).collect();
    if !images.is_empty() {
        message["images"] = json!(images);
    }
    message
}

/// Builds the messages with the results of calls.
pub(super) fn encode_results(results: &[CallResult]) -> Vec<Value> {
    let message = |call: &CallResult| {
        let id = call.has_id.then_some(&*call.result.id);
        encode_result(&call.name, id, &call.result.parts)
    };
    results.iter().map(message).collect()
}

fn encode_model_turn(turn: &MergedTurn<'_>) -> Value {
    let call = |call: &Call| json!({"function": {"name": call.name, "arguments": parse_arguments(&call.input)}});
    let calls: Vec<Value> = turn.calls().map(call).collect();
    let mut message = json!({"role": "assistant", "content": turn.text()});
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
        let thought = turn.thoughts();
        if !thought.is_empty() {
            message["thinking"] = thought.into();
        }
    }
    message
}

object! {
    /// A reply, or a part of one.
    Reply {
        model, message, done, done_reason, prompt_tokens = "prompt_eval_count",
        tokens = "eval_count",
    }
}
object! {
    /// The message.
    Message { content, thinking, tool_calls }
}

/// Reads a reply or a part of one, which have the same form. `None` for anything else.
pub(super) fn parse(json: &str) -> Option<Chunk<'_>> {
    let reply = Reply::read(json)?;
    if let (None, None) = (reply.message, reply.done) {
        return None;
    }
    let message = Message::from_raw(reply.message).unwrap_or_default();
    let mut deltas = Vec::new();
    deltas.extend(bytes(message.thinking).map(Delta::Thinking));
    deltas.extend(bytes(message.content).map(Delta::Text));
    deltas.extend(read_calls(message.tool_calls).into_iter().map(Delta::Call));
    if is_true(reply.done) {
        deltas.push(Delta::Usage(Usage {
            input: number(reply.prompt_tokens).unwrap_or(0),
            output: number(reply.tokens).unwrap_or(0),
            ..Usage::default()
        }));
        deltas.extend(read_end(reply.done_reason));
    }
    let chunk = Chunk::single(None, Extent::MoreOrStart, deltas);
    Some(Chunk {
        model: non_empty(reply.model),
        ..chunk
    })
}

/// Reads a record that is a reply or a part of one.
pub(super) fn read_reply<'a>(record: &Envelope<'a>) -> Chunk<'a> {
    let message = record.message.clone().unwrap_or_default();
    let mut deltas = Vec::new();
    deltas.extend(bytes(message.thinking).map(Delta::Thinking));
    if let Some(super::envelope::Content::Text(text)) = message.content {
        deltas.push(Delta::Text(super::anthropic::to_bytes(&text)));
    }
    deltas.extend(read_calls(message.tool_calls).into_iter().map(Delta::Call));
    if is_true(record.done) {
        deltas.extend(read_end(record.done_reason));
    }
    Chunk::single(None, Extent::MoreOrStart, deltas)
}

fn read_end<'a>(reason: Option<&RawValue>) -> [Delta<'a>; 2] {
    let end = End::from_reason(&text(reason).unwrap_or_default());
    [Delta::End(end), Delta::Closed]
}
