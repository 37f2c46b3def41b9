//! `OpenAI`'s Responses API: conversations of items.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::delta::{Arguments, CallDelta, Chunk, Delta, End, EndKind, Extent};
use super::dialect::{Ask, AskedCalls, Dialect, JsonForm, is_strict, set_temperature};
use super::envelope::Envelope;
use super::request::{
    CallResult, Delivery, Function, MergedTurn, Request, as_attachment, filter_attachments,
    format_data_url, format_result, merge_turns,
};
use super::verbatim::Verbatim;
use turnpipe_core::json::{bytes, has_text, non_empty, non_null, number, object, text};
use turnpipe_core::message::{self, ResultPart, Role, Thought, ToolResult, Usage};

/// Builds the body of a request. The server stores nothing: each request contains the conversation.
pub(super) fn encode(
    dialect: &Dialect,
    model: &str,
    request: &Request,
    delivery: Delivery,
) -> Value {
    let ask = Ask::new(request, dialect);
    let is_streamed = delivery == Delivery::Streamed;
    let mut body = json!({"model": model, "stream": is_streamed, "store": false});
    body[&dialect.budget_key] = request.max_output_tokens.into();
    set_temperature(&mut body, dialect, request);
    let instructions = ask.instructions(request);
    if !instructions.is_empty() {
        body["instructions"] = instructions.into();
    }
    body["input"] = merge_turns(request).iter().flat_map(encode_turn).collect();
    let functions: Vec<Value> = ask.functions().iter().map(declare).collect();
    if !functions.is_empty() {
        body["tools"] = functions.into();
    }
    match ask.calls {
        AskedCalls::Named(function) => {
            body["tool_choice"] = json!({"type": "function", "name": function.name});
            body["parallel_tool_calls"] = false.into();
        }
        AskedCalls::Any(_) => body["tool_choice"] = "required".into(),
        AskedCalls::Free(_) => {}
    }
    match ask.json {
        Some((form @ (JsonForm::Schema | JsonForm::Lenient), function)) => {
            body["text"] = json!({"format": {
                "type": "json_schema",
                "name": function.name,
                "strict": form == JsonForm::Schema && is_strict(function),
                "schema": function.parameters,
            }});
        }
        Some((JsonForm::Object, _)) => {
            body["text"] = json!({"format": {"type": "json_object"}});
        }
        Some((JsonForm::Instructions, _)) | None => {}
    }
    body
}

/// Returns the declaration of a function. Without `strict` the server would rewrite the schema.
pub(super) fn declare(function: &Function) -> Value {
    json!({
        "type": "function",
        "name": function.name,
        "description": function.description,
        "parameters": function.parameters,
        "strict": is_strict(function),
    })
}

/// Returns the items of a turn. Results come first: they belong to the calls before.
fn encode_turn(turn: &MergedTurn<'_>) -> Vec<Value> {
    let encode = |result| encode_output(CALL_OUTPUT, result);
    let mut items: Vec<Value> = turn.results().map(encode).collect();
    let mut content = Vec::new();
    for block in &turn.blocks {
        match block {
            message::Block::Text(text) => {
                let kind = match turn.role {
                    Role::Assistant => "output_text",
                    Role::User | Role::System => "input_text",
                };
                content.push(json!({"type": kind, "text": text}));
                continue;
            }
            message::Block::Media(_) | message::Block::Result(_) => continue,
            _ => items.extend(encode_message(turn.role, &std::mem::take(&mut content))),
        }
        match block {
            message::Block::Call(call) => items.push(json!({
                "type": "function_call", "call_id": call.id, "name": call.name,
                "arguments": call.input.get(),
            })),
            message::Block::Thinking(Thought::Signed { text, signature }) => {
                let summary =
                    (!text.is_empty()).then(|| json!({"type": "summary_text", "text": text}));
                items.push(json!({
                    "type": "reasoning", "summary": Vec::from_iter(summary),
                    "encrypted_content": signature,
                }));
            }
            _ => {}
        }
    }
    content.extend(turn.attachments().map(|image| {
        json!({
            "type": "input_image", "image_url": format_data_url(image),
        })
    }));
    items.extend(encode_message(turn.role, &content));
    items
}

fn encode_message(role: Role, content: &[Value]) -> Option<Value> {
    let role = match role {
        Role::Assistant => "assistant",
        Role::User | Role::System => "user",
    };
    (!content.is_empty()).then(|| json!({"type": "message", "role": role, "content": content}))
}

/// The types of items that are calls.
pub(super) const CALLS: [&str; 2] = ["function_call", "custom_tool_call"];

const CALL_OUTPUT: &str = "function_call_output";

const CUSTOM_CALL_OUTPUT: &str = "custom_tool_call_output";

/// The types of items that are results.
pub(super) const OUTPUTS: [&str; 2] = [CALL_OUTPUT, CUSTOM_CALL_OUTPUT];

fn encode_output(kind: &str, result: &ToolResult) -> Value {
    let output = if filter_attachments(&result.parts).next().is_none() {
        json!(format_result(&result.parts))
    } else {
        let part = |part: &ResultPart| match part {
            ResultPart::Text(text) => Some(json!({"type": "input_text", "text": text})),
            ResultPart::Media(media) => as_attachment(media)
                .map(|image| json!({"type": "input_image", "image_url": format_data_url(image)})),
        };
        result.parts.iter().filter_map(part).collect()
    };
    json!({"type": kind, "call_id": result.id, "output": output})
}

/// Builds the items with the results of calls.
pub(super) fn encode_results(results: &[CallResult]) -> Vec<Value> {
    let item = |call: &CallResult| {
        let kind = if call.is_custom {
            CUSTOM_CALL_OUTPUT
        } else {
            CALL_OUTPUT
        };
        encode_output(kind, &call.result)
    };
    results.iter().map(item).collect()
}

object! {
    /// A part of an item's content.
    Part { kind = "type", text, refusal, image_url }
}
object! {
    /// The reason why a response is incomplete, or failed.
    Reason { reason, message }
}
object! {
    /// Token counts.
    Tokens {
        input = "input_tokens", input_details = "input_tokens_details", output = "output_tokens",
        output_details = "output_tokens_details",
    }
}
object! {
    /// Token counts in detail.
    TokenDetails { cached = "cached_tokens", reasoning = "reasoning_tokens" }
}

/// Reads a response. `None` if it is not one.
pub(super) fn parse_whole(json: &str) -> Option<Chunk<'_>> {
    let record = Envelope::read(json)?;
    record.output?;
    Some(read_response(&record))
}

/// Reads an event of a stream. `None` if it is not one. Events of unknown types are empty.
pub(super) fn parse_event(json: &str) -> Option<Chunk<'_>> {
    let record = Envelope::read(json)?;
    Some(read_event(&text(record.kind)?, &record))
}

/// Reads a record that is a response.
pub(super) fn read_response<'a>(response: &Envelope<'a>) -> Chunk<'a> {
    let mut deltas = Vec::from_iter(read_usage(response));
    for item in Envelope::read_list(response.output) {
        read_item(&item, false, &mut deltas);
    }
    deltas.push(Delta::End(read_end(response)));
    Chunk {
        model: non_empty(response.model),
        ..Chunk::single(non_empty(response.id), Extent::Whole, deltas)
    }
}

/// Reads a record that is an event of a stream.
pub(super) fn read_event<'a>(kind: &str, event: &Envelope<'a>) -> Chunk<'a> {
    let response = Envelope::from_raw(event.response).unwrap_or_default();
    let (mut extent, mut deltas) = (Extent::More, Vec::new());
    match kind {
        "response.created" => {
            return Chunk {
                model: non_empty(response.model),
                ..Chunk::single(non_empty(response.id), Extent::Start, deltas)
            };
        }
        "response.output_text.delta" => deltas.extend(bytes(event.delta).map(Delta::Text)),
        "response.refusal.delta" => deltas.extend(bytes(event.delta).map(Delta::Refusal)),
        "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
            deltas.extend(bytes(event.delta).map(Delta::Thinking));
        }
        // Calls arrive with complete arguments, so deltas of arguments are not needed.
        "response.output_item.done" => {
            extent = Extent::MoreOrStart;
            let item = Envelope::from_raw(event.item).unwrap_or_default();
            read_item(&item, true, &mut deltas);
        }
        "response.completed" | "response.incomplete" | "response.failed" => {
            deltas.extend(read_usage(&response));
            deltas.extend([Delta::End(read_end(&response)), Delta::Closed]);
        }
        _ => {}
    }
    Chunk::single(None, extent, deltas)
}

/// Reads a complete item. At the end of a stream it repeats earlier deltas.
fn read_item<'a>(item: &Envelope<'a>, is_repeated: bool, deltas: &mut Vec<Delta<'a>>) {
    let kind = text(item.kind).unwrap_or_default();
    match &*kind {
        kind if CALLS.contains(&kind) => {
            return deltas.push(Delta::Call(read_call(item)));
        }
        "message" => {
            for part in Part::read_list(item.content) {
                deltas.extend(bytes(part.text).map(Delta::WholeText));
                let refusal = bytes(part.refusal).filter(|_| !is_repeated);
                deltas.extend(refusal.map(Delta::Refusal));
            }
        }
        "reasoning" => {
            for part in Part::read_list(item.summary.filter(|_| !is_repeated)) {
                deltas.extend(bytes(part.text).map(Delta::Thinking));
            }
            deltas.extend(text(item.encrypted).map(Delta::Signature));
        }
        _ => {}
    }
    deltas.push(Delta::Block);
}

fn read_call<'a>(item: &Envelope<'a>) -> CallDelta<'a> {
    CallDelta {
        index: None,
        id: text(item.call_id),
        name: text(item.name),
        arguments: match non_null(item.input).filter(|_| item.arguments.is_none()) {
            // The text may have been cut off anywhere, which shows only here.
            Some(input) if has_text(item.status, "incomplete") => Arguments::Json(input),
            Some(input) => Arguments::from_free_text(input),
            None => Arguments::Text(bytes(item.arguments).unwrap_or_default()),
        },
    }
}

fn read_end(response: &Envelope<'_>) -> End {
    match text(response.status).as_deref() {
        Some("incomplete") => {
            let details = Reason::from_raw(response.incomplete_details).unwrap_or_default();
            let reason = text(details.reason).unwrap_or_default();
            match End::from_reason(&reason) {
                End {
                    kind: EndKind::Regular,
                    reason,
                } => End {
                    kind: EndKind::Failed(reason.clone()),
                    reason,
                },
                end => end,
            }
        }
        Some(status @ ("failed" | "cancelled")) => {
            let error = Reason::from_raw(response.error).and_then(|error| text(error.message));
            let reason = error.unwrap_or_else(|| status.to_owned().into());
            End::with_explanation("failed", reason)
        }
        status => End::from_reason(status.unwrap_or("completed")),
    }
}

/// Reads token counts. The input includes cached tokens.
fn read_usage<'a>(response: &Envelope<'_>) -> Option<Delta<'a>> {
    let tokens = Tokens::from_raw(response.usage)?;
    let count = |raw: Option<&RawValue>| number(raw).unwrap_or(0);
    let cached = TokenDetails::from_raw(tokens.input_details)
        .unwrap_or_default()
        .cached;
    let reasoning = TokenDetails::from_raw(tokens.output_details)
        .unwrap_or_default()
        .reasoning;
    Some(Delta::Usage(Usage {
        input: count(tokens.input).saturating_sub(count(cached)),
        output: count(tokens.output),
        cache_read: count(cached),
        thinking: count(reasoning),
        ..Usage::default()
    }))
}

/// Whether a record is an item.
pub(super) fn is_item(record: &Envelope<'_>) -> bool {
    const PARTS: [&str; 3] = ["input_text", "output_text", "input_image"];
    let is_in = |kind, list: &[&str]| text(kind).is_some_and(|kind| list.contains(&&*kind));
    let parts = Part::read_list(record.content);
    is_in(record.kind, &["reasoning"])
        || is_in(record.kind, &OUTPUTS)
        || is_in(record.kind, &CALLS)
        || parts.iter().any(|part| is_in(part.kind, &PARTS))
}

/// Reads an item of the user or a tool. `None` for anything else.
pub(super) fn read_user_item(record: &Envelope<'_>) -> Option<Vec<message::Block>> {
    match &*text(record.kind).unwrap_or("message".into()) {
        CALL_OUTPUT | CUSTOM_CALL_OUTPUT => {
            let output = read_parts(record.output);
            Some(vec![message::Block::Result(ToolResult {
                id: text(record.call_id)?.into_owned(),
                parts: output,
                failed: false,
                end: None,
            })])
        }
        "message" if has_text(record.role, "user") => {
            let parts = read_parts(record.content).into_iter();
            Some(parts.map(message::Block::from).collect())
        }
        _ => None,
    }
}

/// Reads an item of the model that is a record. `None` for anything else.
pub(super) fn read_model_item<'a>(record: &Envelope<'a>) -> Option<Chunk<'a>> {
    let kind = text(record.kind).unwrap_or("message".into());
    let is_said = kind == "reasoning"
        || CALLS.contains(&&*kind)
        || kind == "message" && has_text(record.role, "assistant");
    let mut deltas = Vec::new();
    read_item(record, false, &mut deltas);
    is_said.then(|| Chunk::single(None, Extent::Whole, deltas))
}

/// Reads a call that is a record. It continues the reply of the items before it.
pub(super) fn read_item_call<'a>(record: &Envelope<'a>) -> Chunk<'a> {
    let call = Delta::Call(read_call(record));
    Chunk::single(None, Extent::MoreOrStart, vec![call])
}

/// Reads texts and images in a string or a list of parts.
pub(crate) fn read_parts(raw: Option<&RawValue>) -> Vec<ResultPart> {
    if let Some(text) = text(raw) {
        return vec![ResultPart::Text(text.into_owned())];
    }
    let parts = Part::read_list(raw).into_iter().filter_map(|part| {
        if let Some(text) = text(part.text) {
            return Some(ResultPart::Text(text.into_owned()));
        }
        let is_image = matches!(&*text(part.kind)?, "input_image" | "image" | "local_image");
        is_image.then(|| ResultPart::Media(read_image(part.image_url)))
    });
    parts.collect()
}

/// Returns an image from a `data:` URL, or from elsewhere.
fn read_image(url: Option<&RawValue>) -> message::Media {
    let url = text(url).unwrap_or_default();
    let inline = url.strip_prefix("data:");
    let (media_type, data) = inline
        .and_then(|inline| inline.split_once(";base64,"))
        .unzip();
    message::Media {
        media_type: media_type.unwrap_or_default().to_owned(),
        data: data.map(str::to_owned),
    }
}

/// Whether a record is a response, or an event of one.
pub(crate) fn is_response(record: &Value) -> bool {
    let kind = record["type"].as_str().unwrap_or_default();
    record["object"] == "response" || kind.starts_with("response.")
}

/// Takes the items of the model's output out of a record, unchanged.
pub(super) fn take_output(mut record: Value) -> Verbatim {
    let mut take_items = |pointer| match record.pointer_mut(pointer).map(Value::take) {
        Some(Value::Array(items)) => items,
        Some(item) => vec![item],
        None => Vec::new(),
    };
    match take_items("/type").first().and_then(Value::as_str) {
        Some("response.output_item.done") => Verbatim::Parts(take_items("/item")),
        Some("response.completed") => Verbatim::Repeated(take_items("/response/output")),
        _ => Verbatim::Parts(take_items("/output")),
    }
}

/// Returns the id of a call of a tool that takes free text.
pub(crate) fn read_custom_call_id(item: &Value) -> Option<&str> {
    let is_custom = item["type"] == "custom_tool_call";
    item["call_id"].as_str().filter(|_| is_custom)
}
