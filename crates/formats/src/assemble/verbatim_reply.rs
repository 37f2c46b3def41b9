//! Merges the JSON of a reply into the message for the next request of the same API. Lossless: some APIs
//! require the thinking of their models.
//!
//! It does not know blocks, or whether they are complete. It merges JSON objects, and the message goes back to
//! the server that wrote it. The joiner decides which call a delta belongs to, as it does for calls that run;
//! a call has the id of its event, so that the reply and its results have the same ids.

use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};

use super::joiner::Joiner;
use crate::api::{
    Api, CALLS, CallResult, Delivery, PARTIAL_INPUT, Verbatim, is_response, merge_members,
    read_chat_calls, read_custom_call_id, to_call_deltas,
};
use turnpipe_core::message::{ToolResult, ToolUseId};

/// Collects messages for the next request of an API. Records of other APIs are skipped.
#[derive(Debug)]
pub struct VerbatimReply {
    api: Api,
    /// The API of the last reply: chat completions and responses are both of `OpenAI`.
    form: Api,
    /// Whether more deltas of the message may follow.
    is_streaming: bool,
    /// The id of the last streamed message.
    streamed: Value,
    /// The blocks, parts, items, or calls of a message.
    parts: Vec<NumberedPart>,
    /// The other members of a message.
    members: Map<String, Value>,
    /// Joins its calls.
    joiner: Joiner,
    /// The ids of the calls in the reply.
    ids: Vec<ToolUseId>,
    /// The ids of calls of tools that take free text.
    custom_calls: Vec<String>,
    /// The results of the turn.
    results: Vec<CallResult>,
}

#[derive(Debug)]
struct NumberedPart {
    /// Its number in the stream.
    index: Value,
    content: Value,
}

impl VerbatimReply {
    /// Creates a collector for this API.
    pub fn new(api: Api) -> Self {
        Self {
            api,
            form: api,
            is_streaming: false,
            streamed: Value::Null,
            parts: Vec::new(),
            members: Map::new(),
            joiner: Joiner::default(),
            ids: Vec::new(),
            custom_calls: Vec::new(),
            results: Vec::new(),
        }
    }

    /// Takes the id of the next call.
    pub fn push_call_id(&mut self, id: ToolUseId) {
        self.ids.push(id);
    }

    /// Takes the result of the next call of a tool. `has_id` is true if the model gave the call an id.
    pub fn push_result(&mut self, name: String, has_id: bool, result: ToolResult) {
        let is_custom = self.custom_calls.contains(&result.id);
        self.results.push(CallResult {
            name,
            has_id,
            is_custom,
            result,
        });
    }

    /// Takes the next record. Returns whether it is an object.
    pub fn push_record(&mut self, record: &str) -> bool {
        let Ok(record) = serde_json::from_str::<Value>(record) else {
            return false;
        };
        if !record.is_object() {
            return false;
        }
        if !record["parent_tool_use_id"].is_null() {
            return true;
        }
        if self.api == Api::OpenaiChat {
            self.form = if is_response(&record) {
                Api::Responses
            } else {
                Api::OpenaiChat
            };
        }
        self.apply(self.form.take_output(record));
        true
    }

    fn apply(&mut self, delta: Verbatim) {
        match delta {
            Verbatim::Nothing => {}
            Verbatim::Start(id) => {
                self.is_streaming = true;
                self.streamed = id;
            }
            // Whole messages repeat earlier deltas.
            Verbatim::Message { id, parts } => {
                let is_streamed = !self.streamed.is_null() && id == self.streamed;
                if !self.is_streaming && !is_streamed {
                    self.add_parts(parts);
                }
            }
            Verbatim::Block { index, part } => self.parts.push(NumberedPart {
                index,
                content: part,
            }),
            Verbatim::MoreOfBlock { index, delta } => {
                let mut parts = self.parts.iter_mut().rev();
                let part = parts.find(|part| part.index == index);
                if let (Some(Value::Object(block)), Value::Object(mut delta)) =
                    (part.map(|part| &mut part.content), delta)
                {
                    delta.remove("type");
                    merge_members(block, delta);
                }
            }
            Verbatim::Parts(parts) => self.add_parts(parts),
            Verbatim::Repeated(parts) => {
                if self.parts.is_empty() {
                    self.add_parts(parts);
                }
            }
            Verbatim::Members(mut members, delivery) => {
                let calls = members.shift_remove(CALLS).unwrap_or_default();
                self.apply_calls(calls, delivery);
                merge_members(&mut self.members, members);
            }
        }
    }

    fn apply_calls(&mut self, calls: Value, delivery: Delivery) {
        let raw = to_raw_value(&calls).ok();
        let deltas = to_call_deltas(read_chat_calls(raw.as_deref()), delivery);
        let Value::Array(calls) = calls else { return };
        for (delta, mut part) in deltas.into_iter().zip(calls) {
            // Only streams number calls.
            part.as_object_mut().map(|part| part.shift_remove("index"));
            let position = self.joiner.push(0, delta).unwrap_or_default();
            if let Some(joined) = self.joiner.call_mut(position)
                && part["function"].is_object()
            {
                part["function"]["name"] = joined.name.as_str().into();
            }
            let index = position.into();
            self.apply(match self.parts.get(position) {
                Some(_) => Verbatim::MoreOfBlock { index, delta: part },
                None => Verbatim::Block { index, part },
            });
        }
    }

    fn add_parts(&mut self, parts: Vec<Value>) {
        let ids = parts.iter().filter_map(read_custom_call_id);
        self.custom_calls.extend(ids.map(str::to_owned));
        self.parts.extend(parts.into_iter().map(NumberedPart::new));
    }

    /// Returns the reply since the last call: a message, or items.
    pub fn take_reply(&mut self) -> Vec<Value> {
        self.is_streaming = false;
        self.joiner = Joiner::default();
        let parts = std::mem::take(&mut self.parts).into_iter();
        let mut parts: Vec<Value> = parts.map(NumberedPart::into_part).collect();
        self.form
            .set_call_ids(&mut parts, std::mem::take(&mut self.ids));
        self.form
            .to_message(std::mem::take(&mut self.members), parts)
    }

    /// Returns the messages with the results since the last call, in the order of the calls.
    pub fn take_results(&mut self) -> Vec<Value> {
        self.custom_calls.clear();
        self.form.encode_results(&std::mem::take(&mut self.results))
    }
}

impl NumberedPart {
    fn new(content: Value) -> Self {
        Self {
            index: Value::Null,
            content,
        }
    }

    fn into_part(mut self) -> Value {
        // Without deltas the block has its input; an unfinished one is of no use.
        if let Value::Object(block) = &mut self.content
            && let Some(Value::String(input)) = block.remove(PARTIAL_INPUT)
            && !input.is_empty()
        {
            let input = serde_json::from_str(&input);
            block.insert("input".to_owned(), input.unwrap_or_else(|_| json!({})));
        }
        self.content
    }
}
