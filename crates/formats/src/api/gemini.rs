//! Gemini's `generateContent`, whose `Content` also occurs in files of agents.
//!
//! Calls and responses may lack ids.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::delta::{Arguments, CallDelta, Choice, Chunk, Delta, End, EndKind, Extent, ResultId};
use super::dialect::{Ask, AskedCalls, Dialect, JsonForm, set_temperature};
use super::envelope::Envelope;
use super::gemini_schema::convert_schema;
use super::request::{
    Attachment, MergedTurn, as_attachment, filter_attachments, format_result, map_call_names,
    merge_turns_from_user, parse_arguments,
};
use super::request::{CallResult, Delivery, Function, Request};
use turnpipe_core::json::{
    bytes, elements, is_true, non_empty, non_null, number, object, string, text,
};
use turnpipe_core::message::{
    Block, Call, Media, ResultPart, Role, ToolResult, Usage, input_of, result_parts,
};

/// Returns the path after the address.
pub(super) fn path(model: &str, delivery: Delivery) -> String {
    let model = model.strip_prefix("models/").unwrap_or(model);
    match delivery {
        Delivery::Whole => format!("v1beta/models/{model}:generateContent"),
        // Without the query, the response would be one array.
        Delivery::Streamed => format!("v1beta/models/{model}:streamGenerateContent?alt=sse"),
    }
}

/// Builds the body of a request.
pub(super) fn encode(dialect: &Dialect, request: &Request) -> Value {
    let ask = Ask::new(request, dialect);
    let mut body = json!({});
    let instructions = ask.instructions(request);
    if !instructions.is_empty() {
        body["systemInstruction"] = json!({"parts": [{"text": instructions}]});
    }
    body["contents"] = encode_contents(request).into();
    let declarations: Vec<Value> = ask.functions().iter().map(declare).collect();
    if !declarations.is_empty() {
        body["tools"] = encode_tools(&declarations);
    }
    if let AskedCalls::Named(function) | AskedCalls::Any(function) = ask.calls {
        let config = json!({"mode": "ANY", "allowedFunctionNames": [function.name]});
        body["toolConfig"] = json!({"functionCallingConfig": config});
    }
    let mut generation = json!({(dialect.budget_key.as_str()): request.max_output_tokens});
    set_temperature(&mut generation, dialect, request);
    if let Some((form, function)) = ask.json {
        if form != JsonForm::Instructions {
            generation["responseMimeType"] = "application/json".into();
        }
        match form {
            JsonForm::Schema => generation["responseJsonSchema"] = function.parameters.clone(),
            JsonForm::Lenient => {
                generation["responseSchema"] = convert_schema(&function.parameters);
            }
            JsonForm::Object | JsonForm::Instructions => {}
        }
    }
    body["generationConfig"] = generation;
    body
}

/// Returns the value that contains declarations.
pub(super) fn encode_tools(declarations: &[Value]) -> Value {
    json!([{"functionDeclarations": declarations}])
}

pub(super) fn declare(function: &Function) -> Value {
    let mut declared = json!({"name": function.name, "description": function.description});
    let parameters = convert_schema(&function.parameters);
    // An object without members is refused; without parameters it means the same.
    let has_members = parameters["properties"]
        .as_object()
        .is_some_and(|members| !members.is_empty());
    if has_members {
        declared["parameters"] = parameters;
    }
    declared
}

fn encode_contents(request: &Request) -> Vec<Value> {
    let conversation = merge_turns_from_user(request);
    let functions = map_call_names(&conversation);
    let mut contents = Vec::new();
    for turn in &conversation {
        let role = match turn.role {
            Role::User | Role::System => "user",
            Role::Assistant => "model",
        };
        let parts = parts(turn, &functions);
        if !parts.is_empty() {
            contents.push(json!({"role": role, "parts": parts}));
        }
    }
    contents
}

fn parts(turn: &MergedTurn<'_>, functions: &HashMap<&str, &str>) -> Vec<Value> {
    let parts = |block: &&Block| match block {
        Block::Text(text) => vec![json!({"text": text})],
        Block::Call(call) => {
            let function = json!({"name": call.name, "args": parse_arguments(&call.input)});
            let mut part = json!({"functionCall": function});
            if let Some(signature) = &call.signature {
                part["thoughtSignature"] = signature.as_str().into();
            }
            vec![part]
        }
        Block::Result(result) => {
            // The API identifies calls by the function's name.
            let name = functions.get(&*result.id).copied();
            encode_response(name.unwrap_or(&result.id), None, result)
        }
        Block::Media(media) => as_attachment(media).map(encode_media).into_iter().collect(),
        Block::Thinking(_) => Vec::new(),
    };
    turn.blocks.iter().flat_map(parts).collect()
}

/// Returns a response, and its images: not all models accept images inside it.
fn encode_response(name: &str, id: Option<&str>, result: &ToolResult) -> Vec<Value> {
    let key = if result.failed { "error" } else { "output" };
    let mut response = json!({"name": name, "response": {key: format_result(&result.parts)}});
    if let Some(id) = id {
        response["id"] = id.into();
    }
    let response = json!({"functionResponse": response});
    let images = filter_attachments(&result.parts).map(encode_media);
    std::iter::once(response).chain(images).collect()
}

fn encode_media(attachment: Attachment<'_>) -> Value {
    json!({"inlineData": {"mimeType": attachment.media_type, "data": attachment.data}})
}

/// Builds the content with the results of calls.
pub(super) fn encode_results(results: &[CallResult]) -> Vec<Value> {
    let parts = results.iter().flat_map(|call| {
        let id = call.has_id.then_some(&*call.result.id);
        encode_response(&call.name, id, &call.result)
    });
    vec![json!({"role": "user", "parts": parts.collect::<Vec<_>>()})]
}

/// The member of a part that is a call.
pub(super) const CALL: &str = "functionCall";

object! {
    /// A reply, or a part of one.
    Generated {
        response_id = "responseId", model = "modelVersion", candidates,
        feedback = "promptFeedback", usage = "usageMetadata",
    }
}
object! {
    /// Feedback on the prompt.
    Feedback { block_reason = "blockReason" }
}
object! {
    /// One of several alternative replies.
    Candidate { index, content, finish_reason = "finishReason", finish_message = "finishMessage" }
}
object! {
    /// The content of a candidate.
    Content { parts }
}
object! {
    /// A part of content.
    Part {
        text, thought, call = "functionCall", response = "functionResponse",
        signature = "thoughtSignature", data = "inlineData", file = "fileData",
    }
}
object! {
    /// A call or a response.
    Called {
        id, name, args, partial_args = "partialArgs", will_continue = "willContinue", response, parts,
    }
}
object! {
    /// The value of a response.
    Output { output, error, result, content }
}
object! {
    /// The bytes of an attachment.
    InlineData { media_type = "mimeType", data }
}
object! {
    /// Token counts.
    Tokens {
        prompt = "promptTokenCount", cached = "cachedContentTokenCount",
        candidates = "candidatesTokenCount", thoughts = "thoughtsTokenCount",
        total = "totalTokenCount",
    }
}

/// Replacement for partial arguments, which only Vertex sends: incomplete, and therefore never run.
const PARTIAL: &[u8] = b"{";

/// Reads a reply, a part of one, or an array of parts. `None` for anything else.
pub(super) fn parse(json: &str) -> Option<Chunk<'_>> {
    if !json.starts_with('[') {
        return parse_object(json);
    }
    let raw: &RawValue = serde_json::from_str(json).ok()?;
    let parts = elements(Some(raw)).into_iter();
    let parts: Option<Vec<Chunk<'_>>> = parts.map(|part| parse_object(part.get())).collect();
    let whole = parts?.into_iter().reduce(|mut whole, part| {
        whole.choices.extend(part.choices);
        whole
    });
    whole.or_else(|| Some(to_chunk(&Generated::default())))
}

fn parse_object(json: &str) -> Option<Chunk<'_>> {
    let generated = Generated::read(json)?;
    if let (None, None, None) = (generated.candidates, generated.feedback, generated.usage) {
        return None;
    }
    Some(to_chunk(&generated))
}

/// Reads a record with candidates.
pub(super) fn read_candidates<'a>(record: &Envelope<'a>) -> Chunk<'a> {
    to_chunk(&Generated {
        response_id: record.response_id,
        candidates: record.candidates,
        ..Generated::default()
    })
}

fn to_chunk<'a>(generated: &Generated<'a>) -> Chunk<'a> {
    let mut choices = Vec::new();
    choices.extend(read_usage(generated.usage).map(|usage| Choice {
        index: 0,
        deltas: vec![Delta::Usage(usage)],
    }));
    let feedback = Feedback::from_raw(generated.feedback).unwrap_or_default();
    if let Some(reason) = text(feedback.block_reason) {
        let kind = EndKind::Declined(format!("the prompt was blocked: {reason}"));
        let reason = reason.into_owned();
        let deltas = vec![Delta::End(End { reason, kind })];
        choices.push(Choice { index: 0, deltas });
    }
    let (mut has_content, mut has_end) = (false, false);
    for candidate in Candidate::read_list(generated.candidates) {
        let content = Content::from_raw(candidate.content).unwrap_or_default();
        let parts = Part::read_list(content.parts);
        has_content |= !parts.is_empty();
        let mut deltas = read_deltas(&parts, Signed::Anything);
        if let Some(reason) = non_empty(candidate.finish_reason) {
            has_end = true;
            let explanation = match text(candidate.finish_message) {
                Some(message) => format!("{reason}: {message}"),
                None => reason.to_string(),
            };
            deltas.push(Delta::End(End::with_explanation(&reason, explanation)));
        }
        let index = number(candidate.index).unwrap_or_default();
        choices.push(Choice { index, deltas });
    }
    Chunk {
        id: non_empty(generated.response_id),
        model: non_empty(generated.model),
        extent: Extent::ById {
            has_content,
            has_end,
        },
        choices,
    }
}

/// Reads content of the model, as in Qwen Code's sessions.
pub(super) fn read_content<'a>(parts: Option<&'a RawValue>, id: Option<Cow<'a, str>>) -> Chunk<'a> {
    Chunk::single(
        id,
        Extent::Whole,
        read_deltas(&Part::read_list(parts), Signed::Thoughts),
    )
}

impl Part<'_> {
    fn is_thought(&self, signed: Signed) -> bool {
        is_true(self.thought) || signed == Signed::Thoughts && self.signature.is_some()
    }
}

fn read_deltas<'a>(parts: &[Part<'a>], signed: Signed) -> Vec<Delta<'a>> {
    let mut deltas = Vec::new();
    for part in parts {
        if let Some(raw) = non_null(part.call) {
            let Some(call) = read_call(raw) else {
                continue;
            };
            deltas.push(Delta::Call(call));
            deltas.extend(text(part.signature).map(Delta::Signature));
            continue;
        }
        // An empty text is not a block: some replies end with such a part.
        if part.text.is_none() || non_empty(part.text).is_some() {
            deltas.push(Delta::Block);
        }
        let delta = if part.is_thought(signed) {
            Delta::Thinking
        } else {
            Delta::Text
        };
        deltas.extend(bytes(part.text).map(delta));
    }
    deltas
}

/// Reads a call. `None` if it only continues a call that arrived in parts.
fn read_call(raw: &RawValue) -> Option<CallDelta<'_>> {
    let function = Called::from_raw(Some(raw)).unwrap_or_default();
    let name = non_empty(function.name);
    let args = non_null(function.args);
    let is_partial = is_true(function.will_continue) || non_null(function.partial_args).is_some();
    if name.is_none() && (is_partial || args.is_none()) {
        return None;
    }
    Some(CallDelta {
        index: None,
        id: text(function.id),
        name,
        arguments: match args {
            _ if is_partial => Arguments::Text(PARTIAL.into()),
            Some(args) => Arguments::Json(args),
            None => Arguments::None,
        },
    })
}

/// Returns the ids and names of the responses in content of the user.
pub(super) fn read_result_ids(parts: Option<&RawValue>) -> Vec<ResultId<'_>> {
    let parts = Part::read_list(parts).into_iter();
    let functions = parts.filter_map(|part| {
        let response = non_null(part.response)?;
        Some(Called::from_raw(Some(response)).unwrap_or_default())
    });
    functions
        .map(|function| ResultId {
            id: text(function.id),
            name: text(function.name),
        })
        .collect()
}

/// Returns the values of the responses in content of the user.
pub(super) fn read_result_bodies(parts: Option<&RawValue>) -> Vec<Option<&RawValue>> {
    let functions = Part::read_list(parts)
        .into_iter()
        .filter_map(|part| Called::from_raw(part.response));
    functions.map(|function| function.response).collect()
}

/// The parts that are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signed {
    /// Any part.
    Anything,
    /// Only thoughts: in Qwen Code nothing else marks thoughts.
    Thoughts,
}

/// Reads content, which is a string or a list of parts, with the names of the functions that
/// responses belong to.
pub(crate) fn read_blocks(parts: Option<&RawValue>, signed: Signed) -> Vec<(Block, String)> {
    if let Some(text) = text(parts) {
        return vec![(Block::Text(text.into_owned()), String::new())];
    }
    let blocks = Part::read_list(parts).into_iter().filter_map(|part| {
        let mut name = String::new();
        let block = if let Some(text) = text(part.text) {
            if part.is_thought(signed) {
                Block::thinking(text)
            } else {
                Block::Text(text.into_owned())
            }
        } else if let Some(call) = Called::from_raw(part.call) {
            Block::Call(Call {
                id: string(call.id).unwrap_or_default(),
                name: string(call.name).unwrap_or_default(),
                input: input_of(call.args),
                signature: string(part.signature),
            })
        } else if let Some(function) = Called::from_raw(part.response) {
            name = string(function.name).unwrap_or_default();
            Block::Result(read_result(&function))
        } else {
            let data =
                InlineData::from_raw(part.data).or_else(|| InlineData::from_raw(part.file))?;
            Block::Media(Media {
                media_type: string(data.media_type).unwrap_or_default(),
                data: string(data.data),
            })
        };
        Some((block, name))
    });
    blocks.collect()
}

fn read_result(function: &Called<'_>) -> ToolResult {
    let response = Output::from_raw(function.response).unwrap_or_default();
    let output = response.output.or(response.result).or(response.content);
    let failed =
        non_empty(response.error).is_some() || output.is_none() && response.error.is_some();
    let error = if failed { response.error } else { None };
    let content = error.or(output).or(function.response);
    let shown = text(content).or_else(|| content.map(|json| json.get().into()));
    let blocks = read_blocks(function.parts, Signed::Anything).into_iter();
    let mut parts = result_parts(blocks.map(|(block, _)| block).collect());
    parts.insert(0, ResultPart::Text(shown.unwrap_or_default().into_owned()));
    ToolResult {
        id: string(function.id).unwrap_or_default(),
        parts,
        failed,
        end: None,
    }
}

/// Reads token counts. The prompt includes cached tokens.
pub(crate) fn read_usage(raw: Option<&RawValue>) -> Option<Usage> {
    Tokens::from_raw(raw).map(sum_usage)
}

/// Returns the usage that these counts state.
pub(crate) fn sum_usage(tokens: Tokens<'_>) -> Usage {
    let count = |raw: Option<&RawValue>| number(raw).unwrap_or(0);
    let (prompt, cached) = (count(tokens.prompt), count(tokens.cached));
    let (candidates, thoughts) = (count(tokens.candidates), count(tokens.thoughts));
    // The candidates may or may not include thinking. The total shows which.
    let output = match number(tokens.total) {
        Some(total) if total >= prompt + candidates => total - prompt,
        _ => candidates + thoughts,
    };
    Usage {
        input: prompt.saturating_sub(cached),
        output,
        cache_read: cached,
        thinking: thoughts,
        ..Usage::default()
    }
}

/// Takes the parts of the model's output out of a record, unchanged.
pub(super) fn take_output(mut record: Value) -> Vec<Value> {
    let mut parts = Vec::new();
    let said = record
        .pointer_mut("/candidates/0/content/parts")
        .map(Value::take);
    let bare = (record["role"] == "model").then(|| record["parts"].take());
    for said in said.into_iter().chain(bare) {
        if let Value::Array(said) = said {
            parts.extend(said);
        }
    }
    parts
}
