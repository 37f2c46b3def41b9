//! `OpenAI`'s chat completions, and compatible servers.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::delta::{Arguments, CallDelta, Choice, Chunk, Delta, End, EndKind, Extent};
use super::dialect::{Acceptance, Ask, AskedCalls, Dialect, JsonForm, is_strict, set_temperature};
use super::envelope::Envelope;
use super::request::{
    Attachment, CallResult, Delivery, Function, MergedTurn, Request, SharedPrefix,
    filter_attachments, format_data_url, format_result, merge_turns,
};
use super::verbatim::Verbatim;
use turnpipe_core::json::{bytes, non_empty, non_null, number, object, text};
use turnpipe_core::message::{Block, Call, ResultPart, Role, ToolResult, Usage};

/// Members that limit the tokens of a reply: for current servers, and for older ones.
pub const BUDGET_KEYS: [&str; 2] = ["max_completion_tokens", "max_tokens"];

/// Member that requests the usage of a streamed reply.
pub const STREAM_OPTIONS: &str = "stream_options";

/// Introduces the images in results.
const IMAGES: &str = "The images in the results above:";

/// Builds the body of a request.
pub(super) fn encode(
    dialect: &Dialect,
    model: &str,
    request: &Request,
    delivery: Delivery,
) -> Value {
    let ask = Ask::new(request, dialect);
    let is_streamed = delivery == Delivery::Streamed;
    // `stream` is always sent: some gateways stream by default.
    let mut body = json!({"model": model, "stream": is_streamed});
    if is_streamed {
        body[STREAM_OPTIONS] = json!({"include_usage": true});
    }
    body[&dialect.budget_key] = request.max_output_tokens.into();
    set_temperature(&mut body, dialect, request);
    let functions: Vec<Value> = ask.functions().iter().map(declare_strict).collect();
    let mut messages = encode_messages(&ask.instructions(request), request, dialect.thoughts);
    let instructions = messages
        .first_mut()
        .filter(|first| first["role"] == "system");
    if let Some(first) = instructions
        && dialect
            .cache_marks
            .is_worthwhile(functions.iter().chain([&*first]))
    {
        mark_for_cache(first);
    }
    if request.shared == SharedPrefix::Conversation
        && messages.len() > 1
        && dialect
            .cache_marks
            .is_worthwhile(functions.iter().chain(&messages))
        && let Some(last) = messages.last_mut()
    {
        mark_for_cache(last);
    }
    body["messages"] = messages.into();
    if !functions.is_empty() {
        body["tools"] = functions.into();
    }
    match ask.calls {
        AskedCalls::Named(function) => {
            body["tool_choice"] = json!({"type": "function", "function": {"name": function.name}});
            body["parallel_tool_calls"] = false.into();
        }
        AskedCalls::Any(_) => body["tool_choice"] = "required".into(),
        AskedCalls::Free(_) => {}
    }
    match ask.json {
        Some((form @ (JsonForm::Schema | JsonForm::Lenient), function)) => {
            let schema = json!({
                "name": function.name,
                "strict": form == JsonForm::Schema && is_strict(function),
                "schema": function.parameters,
            });
            body["response_format"] = json!({"type": "json_schema", "json_schema": schema});
        }
        Some((JsonForm::Object, _)) => body["response_format"] = json!({"type": "json_object"}),
        Some((JsonForm::Instructions, _)) | None => {}
    }
    body
}

/// Returns the declaration of a function.
pub(super) fn declare(function: &Function) -> Value {
    let declared = json!({
        "name": function.name,
        "description": function.description,
        "parameters": function.parameters,
    });
    json!({"type": "function", "function": declared})
}

/// Like [`declare`], strict if its schema allows it.
pub(super) fn declare_strict(function: &Function) -> Value {
    let mut declaration = declare(function);
    if is_strict(function) {
        declaration["function"]["strict"] = true.into();
    }
    declaration
}

/// Returns the messages of a request, with `instructions` before them.
fn encode_messages(instructions: &str, request: &Request, thoughts: Acceptance) -> Vec<Value> {
    let mut messages = Vec::new();
    if !instructions.is_empty() {
        messages.push(json!({"role": "system", "content": instructions}));
    }
    for turn in merge_turns(request) {
        match turn.role {
            Role::User | Role::System => messages.extend(encode_user_turn(&turn)),
            Role::Assistant => messages.push(encode_model_turn(&turn, thoughts)),
        }
    }
    messages
}

/// Returns the messages of a user's turn. Results come first: they belong to the message before.
fn encode_user_turn(turn: &MergedTurn<'_>) -> Vec<Value> {
    let mut messages: Vec<Value> = turn.results().map(encode_result).collect();
    messages.extend(encode_result_images(turn.result_attachments()));
    let text = turn.text();
    let images: Vec<Value> = turn.attachments().map(encode_image).collect();
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

/// Returns a tool message, which contains only text.
fn encode_result(result: &ToolResult) -> Value {
    json!({"role": "tool", "tool_call_id": result.id, "content": format_result(&result.parts)})
}

/// Returns the message with the images in results, if there are any.
fn encode_result_images<'a>(images: impl Iterator<Item = Attachment<'a>>) -> Option<Value> {
    let mut content: Vec<Value> = images.map(encode_image).collect();
    if content.is_empty() {
        return None;
    }
    content.insert(0, json!({"type": "text", "text": IMAGES}));
    Some(json!({"role": "user", "content": content}))
}

fn encode_image(attachment: Attachment<'_>) -> Value {
    json!({"type": "image_url", "image_url": {"url": format_data_url(attachment)}})
}

/// Builds the messages with the results of calls.
pub(super) fn encode_results(results: &[CallResult]) -> Vec<Value> {
    let message = |call: &CallResult| encode_result(&call.result);
    let parts = results
        .iter()
        .flat_map(|call| filter_attachments(&call.result.parts));
    results
        .iter()
        .map(message)
        .chain(encode_result_images(parts))
        .collect()
}

/// Returns a message of the model. Between calls, some servers require its earlier thinking (`DeepSeek`, Kimi).
fn encode_model_turn(turn: &MergedTurn<'_>, thoughts: Acceptance) -> Value {
    let call = |call: &Call| {
        let function = json!({"name": call.name, "arguments": call.input.get()});
        json!({"id": call.id, "type": "function", "function": function})
    };
    let calls: Vec<Value> = turn.calls().map(call).collect();
    let text = turn.text();
    if calls.is_empty() {
        return json!({"role": "assistant", "content": text});
    }
    let content = (!text.is_empty()).then_some(text);
    let mut message = json!({"role": "assistant", "content": content, "tool_calls": calls});
    let thought = turn.thoughts();
    if thoughts == Acceptance::Sent && !thought.is_empty() {
        message["reasoning_content"] = thought.into();
    }
    message
}

/// Marks the end of a prefix for the prompt cache: the message's text becomes a part with a mark.
fn mark_for_cache(message: &mut Value) {
    let marked = match message.get("content") {
        Some(Value::String(text)) => {
            json!([{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}])
        }
        _ => return,
    };
    message["content"] = marked;
}

object! {
    /// One of several alternative replies.
    Reply { index, message, delta, finish_reason, error }
}
object! {
    /// A message, or a delta of one.
    Message {
        role, content, refusal, reasoning_content, reasoning, tool_calls, function_call,
    }
}
object! {
    /// A part of a message's content.
    ContentPart { kind = "type", text }
}
object! {
    /// A call, or a delta of one.
    ToolCall { index, id, function, custom }
}
object! {
    /// The called function.
    Called { name, arguments, input }
}
object! {
    /// Token counts.
    Tokens {
        prompt = "prompt_tokens", completion = "completion_tokens",
        prompt_details = "prompt_tokens_details", completion_details = "completion_tokens_details",
        cost,
    }
}
object! {
    /// Token counts in detail.
    TokenDetails {
        cached = "cached_tokens", cache_write = "cache_write_tokens",
        cache_creation = "cache_creation_input_tokens", reasoning = "reasoning_tokens",
    }
}

/// Index of the only call in a message of the old form; other calls do not have this index.
const OLD_CALL: u64 = 1 << 32;

/// Reads a completion. `None` if it is not one.
pub(super) fn parse_whole(json: &str) -> Option<Chunk<'_>> {
    let record = Envelope::read(json)?;
    let choices = Reply::read_list(record.choices);
    let first = choices
        .iter()
        .find(|choice| number(choice.index).unwrap_or(0) == 0)?;
    Message::from_raw(first.message).or_else(|| Message::from_raw(first.delta))?;
    Some(read_completion(&record, true))
}

/// Reads a chunk of a completion. `None` if it is not one.
pub(super) fn parse_event(json: &str) -> Option<Chunk<'_>> {
    Some(read_completion(&Envelope::read(json)?, true))
}

/// Reads an assistant message.
pub(super) fn read_message<'a>(record: &Envelope<'a>) -> Chunk<'a> {
    let message = Message {
        role: record.role,
        content: record.content,
        tool_calls: record.tool_calls,
        function_call: record.function_call,
        reasoning_content: record.reasoning_content,
        reasoning: record.reasoning,
        ..Message::default()
    };
    let mut deltas = Vec::new();
    message.add_texts(&mut deltas);
    deltas.extend(message.calls().into_iter().map(Delta::Call));
    Chunk::single(None, Extent::Whole, deltas)
}

/// Reads a record with choices, with or without text deltas.
pub(super) fn read_completion<'a>(record: &Envelope<'a>, reads_texts: bool) -> Chunk<'a> {
    let mut usage = Tokens::from_raw(record.usage).map(|tokens| Delta::Usage(read_usage(&tokens)));
    let (mut is_whole, mut has_role, mut has_calls, mut has_content) = (false, false, false, false);
    let mut choices = Vec::new();
    for reply in Reply::read_list(record.choices) {
        let whole = Message::from_raw(reply.message);
        is_whole |= whole.is_some();
        let message = whole.or_else(|| Message::from_raw(reply.delta));
        let message = message.unwrap_or_default();
        let failed = non_null(record.error).map(|_| Cow::Borrowed("error"));
        let reason = failed.or_else(|| non_empty(reply.finish_reason));
        let end = reason.map(|reason| read_end(&reason, &reply, &message));
        has_role |= non_null(message.role).is_some();
        let calls = message.calls();
        has_calls |= !calls.is_empty();
        has_content |= non_empty(message.content).is_some() || end.is_some();
        let mut deltas: Vec<Delta<'a>> = usage.take().into_iter().collect();
        // The text of an error replaces the call.
        let has_failed = end
            .as_ref()
            .is_some_and(|end| matches!(end.kind, EndKind::Failed(_)));
        if !has_failed && (reads_texts || whole.is_some()) {
            message.add_texts(&mut deltas);
        }
        let delivery = match whole {
            Some(_) => Delivery::Whole,
            None => Delivery::Streamed,
        };
        deltas.extend(to_call_deltas(calls, delivery));
        deltas.extend(end.map(Delta::End));
        let index = number(reply.index).unwrap_or_default();
        choices.push(Choice { index, deltas });
    }
    // The last chunk, which contains the usage, has no choice.
    choices.extend(usage.map(|usage| Choice {
        index: 0,
        deltas: vec![usage],
    }));
    has_content |= has_role || has_calls;
    Chunk {
        id: non_empty(record.id),
        model: non_empty(record.model),
        extent: if is_whole {
            Extent::Whole
        } else {
            Extent::ByRole {
                has_role,
                has_calls,
                has_content,
            }
        },
        choices,
    }
}

impl<'a> Message<'a> {
    fn add_texts(&self, deltas: &mut Vec<Delta<'a>>) {
        let thinking = non_null(self.reasoning_content).or(self.reasoning);
        deltas.extend(bytes(thinking).map(Delta::Thinking));
        deltas.extend(bytes(self.content).map(Delta::Text));
        for part in ContentPart::read_list(self.content) {
            if text(part.kind).is_none_or(|kind| kind == "text" || kind == "output_text") {
                deltas.extend(bytes(part.text).map(Delta::Text));
            }
        }
        deltas.extend(bytes(self.refusal).map(Delta::Refusal));
    }

    /// Returns the calls. A message of the old form has one, which some servers repeat in the new
    /// form.
    fn calls(&self) -> Vec<CallDelta<'a>> {
        let mut deltas = read_calls(self.tool_calls);
        if let Some(function) = non_null(self.function_call) {
            let old = ToolCall {
                function: Some(function),
                ..ToolCall::default()
            };
            let old = CallDelta {
                index: Some(OLD_CALL),
                ..old.read_delta()
            };
            let is_same = |call: &CallDelta<'_>| old.name.is_none() || call.name == old.name;
            if !deltas.iter().any(is_same) {
                deltas.push(old);
            }
        }
        deltas
    }
}

impl<'a> ToolCall<'a> {
    /// Reads a call delta. It only requires the index, and some servers omit even that.
    fn read_delta(&self) -> CallDelta<'a> {
        let custom = Called::from_raw(self.custom);
        let called = Called::from_raw(self.function)
            .or(custom)
            .unwrap_or_default();
        CallDelta {
            index: number(self.index),
            id: non_empty(self.id),
            name: non_empty(called.name),
            arguments: match non_null(called.arguments) {
                Some(arguments) => Arguments::from_raw(Some(arguments)),
                None => called
                    .input
                    .map_or(Arguments::None, Arguments::from_free_text),
            },
        }
    }
}

/// Returns the deltas of the calls in one message. Calls with a name and the same index in one part differ.
pub(crate) fn to_call_deltas(calls: Vec<CallDelta<'_>>, delivery: Delivery) -> Vec<Delta<'_>> {
    let mut named = None;
    let mut deltas = Vec::new();
    for call in calls {
        let is_next = call.name.is_some() && named.replace(call.index) == Some(call.index);
        deltas.push(match delivery {
            Delivery::Whole => Delta::Call(call),
            Delivery::Streamed if is_next => Delta::CallStart(call),
            Delivery::Streamed => Delta::CallPart(call),
        });
    }
    deltas
}

/// Reads a list of calls.
pub(crate) fn read_calls(raw: Option<&RawValue>) -> Vec<CallDelta<'_>> {
    let calls = ToolCall::read_list(raw);
    calls.iter().map(ToolCall::read_delta).collect()
}

fn read_end(reason: &str, reply: &Reply<'_>, message: &Message<'_>) -> End {
    if reason == "content_filter" {
        return End::with_explanation(reason, "a content filter stopped the reply");
    }
    let content = text(message.content).filter(|text| !text.trim().is_empty());
    let error = non_null(reply.error).map(|error| Cow::Borrowed(error.get()));
    let explanation = content.or(error).map(Cow::into_owned);
    End::with_explanation(
        reason,
        explanation.unwrap_or_else(|| "the reply ended with an error".to_owned()),
    )
}

/// Reads token counts. The prompt includes cached tokens.
fn read_usage(tokens: &Tokens<'_>) -> Usage {
    let prompt = TokenDetails::from_raw(tokens.prompt_details).unwrap_or_default();
    let completion = TokenDetails::from_raw(tokens.completion_details).unwrap_or_default();
    let count = |raw: Option<&RawValue>| number(raw).unwrap_or(0);
    let cache_read = count(prompt.cached);
    let cache_write = number(prompt.cache_write).unwrap_or_else(|| count(prompt.cache_creation));
    Usage {
        input: count(tokens.prompt).saturating_sub(cache_read + cache_write),
        output: count(tokens.completion),
        cache_read,
        cache_write,
        thinking: count(completion.reasoning),
        cost: tokens.cost.and_then(|cost| cost.get().parse().ok()),
        ..Usage::default()
    }
}

/// Reads a tool message, with the name of the tool.
pub(super) fn read_result(record: &Envelope<'_>) -> (Block, String) {
    let parts = ContentPart::read_list(record.content).into_iter();
    let texts = parts.filter_map(|part| text(part.text)).collect::<Vec<_>>();
    let said = text(record.content).map_or_else(|| texts.join("\n"), Cow::into_owned);
    let result = ToolResult {
        id: text(record.tool_call_id).unwrap_or_default().into_owned(),
        parts: vec![ResultPart::Text(said)],
        failed: false,
        end: None,
    };
    let name = text(record.name.or(record.tool_name)).unwrap_or_default();
    (Block::Result(result), name.into_owned())
}

/// Takes the model's output out of a record, unchanged.
pub(super) fn take_output(mut record: Value) -> Option<Verbatim> {
    let is_message = record["role"] == "assistant";
    let mut take_object = |pointer: &str| match record.pointer_mut(pointer)?.take() {
        Value::Object(members) => Some(members),
        _ => None,
    };
    let whole = take_object(if is_message { "" } else { "/choices/0/message" });
    let (mut members, delivery) = match whole.or_else(|| take_object("/message")) {
        Some(members) => (members, Delivery::Whole),
        None => (take_object("/choices/0/delta")?, Delivery::Streamed),
    };
    // A call of the old form has no place for an id.
    if let Some(function @ Value::Object(_)) = members.shift_remove("function_call") {
        let call = json!([{"index": OLD_CALL, "type": "function", "function": function}]);
        members.entry(CALLS).or_insert(call);
    }
    Some(Verbatim::Members(members, delivery))
}

/// The calls of a message.
pub const CALLS: &str = "tool_calls";

/// Builds a message from its merged members and calls.
pub(super) fn to_message(mut members: Map<String, Value>, calls: Vec<Value>) -> Vec<Value> {
    if members.is_empty() && calls.is_empty() {
        return calls;
    }
    members.entry("role").or_insert("assistant".into());
    if !calls.is_empty() {
        members.insert(CALLS.to_owned(), calls.into());
    }
    vec![members.into()]
}
