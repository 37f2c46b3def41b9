//! `OpenAI`'s chat completions, and compatible servers.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::ask::{Ask, is_strict};
use super::openai_messages::{mark, messages};
use super::temperature;
use crate::json::{elements, is_object, non_empty, non_null, number, object, text};
use crate::message::Usage;
use crate::model::dialect::Dialect;
use crate::model::draft::{Draft, End};
use crate::model::{Delivery, Function, Request, SharedPrefix};

/// The body of a request.
pub(super) fn encode(
    dialect: &Dialect,
    model: &str,
    request: &Request,
    delivery: Delivery,
) -> Value {
    let ask = Ask::of(request, dialect);
    let is_streamed = delivery == Delivery::Streamed;
    // `stream` is always sent: some gateways stream by default.
    let mut body = json!({"model": model, "stream": is_streamed});
    if is_streamed {
        body["stream_options"] = json!({"include_usage": true});
    }
    body[&dialect.budget_key] = request.max_output_tokens.into();
    if let Some(temperature) = temperature(dialect, request) {
        body["temperature"] = temperature;
    }
    let functions: Vec<Value> = ask.functions().iter().map(function).collect();
    let mut messages = messages(&ask.instructions(request), request, dialect.thoughts);
    let instructions = messages
        .first_mut()
        .filter(|first| first["role"] == "system");
    if let Some(first) = instructions
        && dialect
            .cache_marks
            .is_worthwhile(functions.iter().chain([&*first]))
    {
        mark(first);
    }
    if request.shared == SharedPrefix::Conversation
        && messages.len() > 1
        && dialect
            .cache_marks
            .is_worthwhile(functions.iter().chain(&messages))
        && let Some(last) = messages.last_mut()
    {
        mark(last);
    }
    body["messages"] = messages.into();
    if !functions.is_empty() {
        body["tools"] = functions.into();
    }
    match ask {
        Ask::Call(function) => {
            body["tool_choice"] = json!({"type": "function", "function": {"name": function.name}});
            body["parallel_tool_calls"] = false.into();
        }
        Ask::AnyCall(_) => body["tool_choice"] = "required".into(),
        Ask::Schema(function) => {
            let schema = json!({
                "name": function.name,
                "strict": is_strict(function),
                "schema": function.parameters,
            });
            body["response_format"] = json!({"type": "json_schema", "json_schema": schema});
        }
        Ask::Object(_) => body["response_format"] = json!({"type": "json_object"}),
        Ask::Text | Ask::Instructions(_) | Ask::Tools(_) => {}
    }
    body
}

/// The declaration of a function.
pub(super) fn function(function: &Function) -> Value {
    let mut declared = json!({
        "name": function.name,
        "description": function.description,
        "parameters": function.parameters,
    });
    if is_strict(function) {
        declared["strict"] = true.into();
    }
    json!({"type": "function", "function": declared})
}

object! {
    /// A completion, or a chunk of one.
    Completion { choices, usage }
}
object! {
    /// One of several alternative replies.
    Choice { index, message, delta, finish_reason, error }
}
object! {
    /// A message, or more of one.
    Message { content, refusal, reasoning_content, reasoning, tool_calls, function_call }
}
object! {
    /// A part of a message's content.
    ContentPart { kind = "type", text }
}
object! {
    /// A call, or more of one.
    Call { index, id, function }
}
object! {
    /// The called function.
    Called { name, arguments }
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

/// Reads a completion. `None` if it is not one.
pub(super) fn read_whole(json: &str, draft: &mut Draft) -> Option<()> {
    let completion = Completion::read(json)?;
    let choice = first_choice(&completion)?;
    Message::of(choice.message).or_else(|| Message::of(choice.delta))?;
    read(&completion, draft);
    Some(())
}

/// Reads a chunk of a completion. `None` if it is not one.
pub(super) fn read_part(json: &str, draft: &mut Draft) -> Option<()> {
    read(&Completion::read(json)?, draft);
    Some(())
}

fn first_choice<'a>(completion: &Completion<'a>) -> Option<Choice<'a>> {
    let mut choices = Choice::list(completion.choices).into_iter();
    choices.find(|choice| number(choice.index).unwrap_or(0) == 0)
}

fn read(completion: &Completion<'_>, draft: &mut Draft) {
    if let Some(tokens) = Tokens::of(completion.usage) {
        draft.usage = usage(&tokens);
    }
    // The last chunk, with the usage, has none.
    let Some(choice) = first_choice(completion) else {
        return;
    };
    let message = Message::of(choice.delta)
        .or_else(|| Message::of(choice.message))
        .unwrap_or_default();
    let end = non_empty(choice.finish_reason);
    let end = end.map(|reason| end_of(&reason, &choice, &message));
    if !matches!(end, Some(End::Failed(_))) {
        read_message(&message, draft);
    }
    if draft.end.is_none() {
        draft.end = end;
    }
}

/// Why a reply ends.
fn end_of(reason: &str, choice: &Choice<'_>, message: &Message<'_>) -> End {
    match reason {
        "length" | "max_tokens" | "model_length" => End::Budget,
        "content_filter" => End::Declined("a content filter stopped the answer".to_owned()),
        "error" | "error_finish" => {
            // The text of the error is in the place of the answer.
            let content = text(message.content).filter(|text| !text.trim().is_empty());
            let error = non_null(choice.error).map(|error| error.get().to_owned());
            let text = content.map(std::borrow::Cow::into_owned).or(error);
            End::Failed(text.unwrap_or_else(|| "the answer ended with an error".to_owned()))
        }
        // A call may end with `stop` as well as `tool_calls`.
        _ => End::Regular,
    }
}

fn read_message(message: &Message<'_>, draft: &mut Draft) {
    draft.thinking(non_null(message.reasoning_content).or(message.reasoning));
    draft.text(message.content);
    for part in ContentPart::list(message.content) {
        if text(part.kind).is_none_or(|kind| kind == "text" || kind == "output_text") {
            draft.text(part.text);
        }
    }
    draft.refusal(message.refusal);
    for call in Call::list(message.tool_calls) {
        read_call(&call, draft);
    }
    if is_object(message.function_call) && elements(message.tool_calls).is_empty() {
        let only = Call {
            function: message.function_call,
            ..Call::default()
        };
        read_call(&only, draft);
    }
}

/// Only the index is required in a delta, and some servers omit even that.
fn read_call(call: &Call<'_>, draft: &mut Draft) {
    let called = Called::of(call.function).unwrap_or_default();
    let id = non_empty(call.id);
    let name = non_empty(called.name);
    let slot = number(call.index);
    let position = match slot {
        Some(slot) => draft.call_in(slot),
        // Without an index, a name begins a call and anything else continues the last one.
        None if name.is_some() => None,
        None => draft.last_call(),
    };
    let another = |position: &usize| {
        let known = draft.id_of(*position);
        known.is_some() && id.is_some() && known != id.as_deref()
    };
    let position = match position {
        Some(position) if !another(&position) => position,
        _ => draft.begin_call(slot.unwrap_or(u64::MAX)),
    };
    draft.name_call(position, id.as_deref(), name.as_deref());
    draft.call_input(position, called.arguments);
}

/// Cached tokens are part of the prompt's tokens.
fn usage(tokens: &Tokens<'_>) -> Usage {
    let prompt = TokenDetails::of(tokens.prompt_details).unwrap_or_default();
    let completion = TokenDetails::of(tokens.completion_details).unwrap_or_default();
    let count = |raw: Option<&RawValue>| number(raw).unwrap_or(0);
    let cache_read = count(prompt.cached);
    let cache_write = number(prompt.cache_write).unwrap_or_else(|| count(prompt.cache_creation));
    Usage {
        input: count(tokens.prompt).saturating_sub(cache_read + cache_write),
        output: count(tokens.completion),
        cache_read,
        cache_write,
        cache_write_1h: 0,
        thinking: count(completion.reasoning),
        cost: tokens.cost.and_then(|cost| cost.get().parse().ok()),
    }
}
