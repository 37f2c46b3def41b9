//! Merges the JSON of a reply into the message for the next request of the same API. Lossless: some APIs
//! require the thinking of their models.
//!
//! This is not a joiner: it does not know blocks or calls, or whether they are complete. It
//! merges JSON objects, and the message goes back to the server that wrote it.

use serde_json::{Map, Value, json};

use crate::api::{
    Api, CallResult, PARTIAL_INPUT, Verbatim, custom_call_id, is_response, merge_members,
    merged_message,
};
use crate::message::ToolResult;

/// Collects messages for the next request of an API. Records of other APIs are skipped.
#[derive(Debug)]
pub struct VerbatimReply {
    api: Api,
    /// The API of the last reply: chat completions and responses are both of `OpenAI`.
    form: Api,
    /// Whether more deltas of the message may follow.
    streaming: bool,
    /// The id of the last streamed message.
    streamed: Value,
    /// The blocks, parts or items.
    parts: Vec<NumberedPart>,
    /// The members of a message.
    members: Map<String, Value>,
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
    pub fn of(api: Api) -> Self {
        Self {
            api,
            form: api,
            streaming: false,
            streamed: Value::Null,
            parts: Vec::new(),
            members: Map::new(),
            custom_calls: Vec::new(),
            results: Vec::new(),
        }
    }

    /// Takes the result of the next call of a tool. `has_id` is true if the model gave the call an id.
    pub fn result(&mut self, name: String, has_id: bool, result: ToolResult) {
        let is_custom = self.custom_calls.contains(&result.id);
        self.results.push(CallResult {
            name,
            has_id,
            is_custom,
            result,
        });
    }

    /// Takes the next record. Returns whether it is an object.
    pub fn record(&mut self, record: &str) -> bool {
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
        for delta in self.form.raw(record) {
            self.delta(delta);
        }
        true
    }

    fn delta(&mut self, delta: Verbatim) {
        match delta {
            Verbatim::Nothing => {}
            Verbatim::Start(id) => {
                self.streaming = true;
                self.streamed = id;
            }
            // Whole messages repeat earlier deltas.
            Verbatim::Message { id, parts } => {
                let is_streamed = !self.streamed.is_null() && id == self.streamed;
                if !self.streaming && !is_streamed {
                    self.extend(parts);
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
                    merge_members(block, delta.into());
                }
            }
            Verbatim::Parts(parts) => self.extend(parts),
            Verbatim::Repeated(parts) => {
                if self.parts.is_empty() {
                    self.extend(parts);
                }
            }
            Verbatim::Members(members) => merge_members(&mut self.members, members),
        }
    }

    fn extend(&mut self, parts: Vec<Value>) {
        let ids = parts.iter().filter_map(custom_call_id);
        self.custom_calls.extend(ids.map(str::to_owned));
        self.parts.extend(parts.into_iter().map(NumberedPart::new));
    }

    /// Returns the reply since the last call: a message, or items.
    pub fn take_reply(&mut self) -> Vec<Value> {
        self.streaming = false;
        let members = std::mem::take(&mut self.members);
        if !members.is_empty() {
            return vec![merged_message(members)];
        }
        let parts = std::mem::take(&mut self.parts).into_iter();
        self.form
            .raw_message(parts.map(NumberedPart::whole).collect())
    }

    /// Returns the messages with the results since the last call, in the order of the calls.
    pub fn take_results(&mut self) -> Vec<Value> {
        self.custom_calls.clear();
        self.form.results(&std::mem::take(&mut self.results))
    }
}

impl NumberedPart {
    fn new(content: Value) -> Self {
        Self {
            index: Value::Null,
            content,
        }
    }

    fn whole(mut self) -> Value {
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
