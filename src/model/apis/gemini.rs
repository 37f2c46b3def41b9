//! Gemini's `generateContent`.

use std::collections::HashMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::ask::Ask;
use super::spoken::{Spoken, arguments, attachment, functions_called, result_text, spoken_to_user};
use super::temperature;
use crate::json::{elements, number, object, text};
use crate::message::{Block, Role, Usage};
use crate::model::dialect::Dialect;
use crate::model::draft::{Draft, End};
use crate::model::{Delivery, Function, Request};
use crate::tools::gemini_schema;

/// The path after the address.
pub(super) fn path(model: &str, delivery: Delivery) -> String {
    let model = model.strip_prefix("models/").unwrap_or(model);
    match delivery {
        Delivery::Whole => format!("v1beta/models/{model}:generateContent"),
        // Without the query, the answer would be one array.
        Delivery::Streamed => format!("v1beta/models/{model}:streamGenerateContent?alt=sse"),
    }
}

/// The body of a request.
pub(super) fn encode(dialect: &Dialect, request: &Request) -> Value {
    let ask = Ask::of(request, dialect);
    let mut body = json!({});
    let instructions = ask.instructions(request);
    if !instructions.is_empty() {
        body["systemInstruction"] = json!({"parts": [{"text": instructions}]});
    }
    body["contents"] = contents(request).into();
    let declarations: Vec<Value> = ask.functions().iter().map(declaration).collect();
    if !declarations.is_empty() {
        body["tools"] = json!([{"functionDeclarations": declarations}]);
    }
    if let Ask::Call(function) | Ask::AnyCall(function) = ask {
        let config = json!({"mode": "ANY", "allowedFunctionNames": [function.name]});
        body["toolConfig"] = json!({"functionCallingConfig": config});
    }
    let mut generation = json!({(dialect.budget_key.as_str()): request.max_output_tokens});
    if let Some(temperature) = temperature(dialect, request) {
        generation["temperature"] = temperature;
    }
    if let Ask::Schema(_) | Ask::Object(_) = ask {
        generation["responseMimeType"] = "application/json".into();
    }
    if let Ask::Schema(function) = ask {
        generation["responseSchema"] = gemini_schema(&function.parameters);
    }
    body["generationConfig"] = generation;
    body
}

fn declaration(function: &Function) -> Value {
    let mut declared = json!({"name": function.name, "description": function.description});
    let parameters = gemini_schema(&function.parameters);
    // An object without members is refused; without parameters it means the same.
    let has_members = parameters["properties"]
        .as_object()
        .is_some_and(|members| !members.is_empty());
    if has_members {
        declared["parameters"] = parameters;
    }
    declared
}

fn contents(request: &Request) -> Vec<Value> {
    let conversation = spoken_to_user(request);
    let functions = functions_called(&conversation);
    let mut contents = Vec::new();
    for spoken in &conversation {
        let role = match spoken.role {
            Role::User | Role::System => "user",
            Role::Assistant => "model",
        };
        let parts = parts(spoken, &functions);
        if !parts.is_empty() {
            contents.push(json!({"role": role, "parts": parts}));
        }
    }
    contents
}

fn parts(spoken: &Spoken<'_>, functions: &HashMap<&str, &str>) -> Vec<Value> {
    let part = |block: &&Block| match block {
        Block::Text(text) => Some(json!({"text": text})),
        Block::Call(call) => {
            let function = json!({"name": call.name, "args": arguments(&call.input)});
            let mut part = json!({"functionCall": function});
            if let Some(signature) = &call.signature {
                part["thoughtSignature"] = signature.as_str().into();
            }
            Some(part)
        }
        Block::Result(result) => {
            let key = if result.failed { "error" } else { "output" };
            let response = json!({key: result_text(result)});
            // The API knows calls by the function's name.
            let name = functions.get(&*result.id).copied().unwrap_or(&result.id);
            Some(json!({"functionResponse": {"name": name, "response": response}}))
        }
        Block::Media(media) => attachment(media)
            .map(|(kind, data)| json!({"inlineData": {"mimeType": kind, "data": data}})),
        Block::Thinking(_) => None,
    };
    spoken.blocks.iter().filter_map(part).collect()
}

object! {
    /// A reply, or a part of one.
    Generated { candidates, feedback = "promptFeedback", usage = "usageMetadata" }
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
    /// A part of it.
    ContentPart { text, thought, call = "functionCall", signature = "thoughtSignature" }
}
object! {
    /// A call.
    Call { id, name, args }
}
object! {
    /// Token counts.
    Tokens {
        prompt = "promptTokenCount", cached = "cachedContentTokenCount",
        candidates = "candidatesTokenCount", thoughts = "thoughtsTokenCount",
    }
}

/// Reads a reply, a part of one, or an array of parts. `None` if it is none of them.
pub(super) fn read(json: &str, draft: &mut Draft) -> Option<()> {
    if json.starts_with('[') {
        let raw: &RawValue = serde_json::from_str(json).ok()?;
        let parts = elements(Some(raw)).into_iter();
        return parts.map(|part| read_object(part.get(), draft)).collect();
    }
    read_object(json, draft)
}

fn read_object(json: &str, draft: &mut Draft) -> Option<()> {
    let generated = Generated::read(json)?;
    if let (None, None, None) = (generated.candidates, generated.feedback, generated.usage) {
        return None;
    }
    if let Some(tokens) = Tokens::of(generated.usage) {
        draft.usage = usage(&tokens);
    }
    let feedback = Feedback::of(generated.feedback).unwrap_or_default();
    if let Some(reason) = text(feedback.block_reason) {
        draft.end = Some(End::Declined(format!("the prompt was blocked: {reason}")));
    }
    let mut candidates = Candidate::list(generated.candidates).into_iter();
    let Some(candidate) = candidates.find(|candidate| number(candidate.index).unwrap_or(0) == 0)
    else {
        return Some(());
    };
    for part in ContentPart::list(Content::of(candidate.content).unwrap_or_default().parts) {
        read_content(&part, draft);
    }
    if let Some(reason) = text(candidate.finish_reason) {
        draft.end = Some(end_of(&reason, candidate.finish_message));
    }
    Some(())
}

fn read_content(part: &ContentPart<'_>, draft: &mut Draft) {
    if let Some(call) = Call::of(part.call) {
        draft.whole_call(call.id, call.name, call.args);
        draft.signature(part.signature);
    } else if part.thought.is_some_and(|thought| thought.get() == "true") {
        draft.thinking(part.text);
    } else {
        draft.text(part.text);
    }
}

/// Reasons to end a reply early because of its content.
const DECLINED: &str = "SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY";

/// Reasons that may not occur in another attempt.
const FAILED: &str = "OTHER MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS";

fn end_of(reason: &str, message: Option<&RawValue>) -> End {
    let explanation = || match text(message) {
        Some(message) => format!("{reason}: {message}"),
        None => reason.to_owned(),
    };
    let is_one_of = |reasons: &str| reasons.split(' ').any(|known| known == reason);
    match reason {
        "MAX_TOKENS" => End::Budget,
        _ if is_one_of(DECLINED) => End::Declined(explanation()),
        _ if is_one_of(FAILED) => End::Failed(explanation()),
        // `STOP` ends calls as well.
        _ => End::Regular,
    }
}

/// Thinking is counted apart from the reply, cached tokens within the prompt.
fn usage(tokens: &Tokens<'_>) -> Usage {
    let count = |raw: Option<&RawValue>| number(raw).unwrap_or(0);
    let (cached, thoughts) = (count(tokens.cached), count(tokens.thoughts));
    Usage {
        input: count(tokens.prompt).saturating_sub(cached),
        output: count(tokens.candidates) + thoughts,
        cache_read: cached,
        thinking: thoughts,
        ..Usage::default()
    }
}
