//! What the model said, put together from the reply of an API as the message that the next request
//! of that API takes. Nothing is left out: some APIs want the thoughts of their models back.

use serde_json::{Map, Value, json};

use super::{Answered, Dialect};

/// Puts messages for the next request of an API together. What is said in another dialect is passed
/// over.
#[derive(Debug)]
pub struct ApiMessages {
    pub(super) api: Dialect,
    /// The last reply was one of the Responses API.
    pub(super) replies_in_items: bool,
    /// Deltas of the message may still come.
    streaming: bool,
    /// The id of the message that came as deltas last.
    streamed: Value,
    /// Blocks, parts or items.
    parts: Vec<Part>,
    /// The message of a chat completion.
    message: Map<String, Value>,
    /// The results of the turn.
    pub(super) answered: Vec<Answered>,
}

#[derive(Debug)]
struct Part {
    /// Its number in the stream.
    index: Value,
    content: Value,
    /// Arguments that come in pieces.
    arguments: String,
}

impl ApiMessages {
    /// For this API.
    pub fn of(api: Dialect) -> Self {
        Self {
            api,
            replies_in_items: false,
            streaming: false,
            streamed: Value::Null,
            parts: Vec::new(),
            message: Map::new(),
            answered: Vec::new(),
        }
    }

    /// Takes the result of the next call.
    pub fn answer(&mut self, answered: Answered) {
        self.answered.push(answered);
    }

    /// Takes the next record. Returns whether it is an object.
    pub fn record(&mut self, record: &str) -> bool {
        let Ok(mut record) = serde_json::from_str::<Value>(record) else {
            return false;
        };
        if !record.is_object() {
            return false;
        }
        if record["parent_tool_use_id"].is_null() {
            match self.api {
                Dialect::Anthropic => self.anthropic(record),
                Dialect::Openai => self.openai(&mut record),
                Dialect::Gemini => self.gemini(&mut record),
            }
        }
        true
    }

    /// What the model said since the last time: a message, or items of the Responses API.
    pub fn take_reply(&mut self) -> Vec<Value> {
        self.streaming = false;
        let mut message = std::mem::take(&mut self.message);
        if !message.is_empty() {
            message.entry("role").or_insert(json!("assistant"));
            for call in message
                .get_mut("tool_calls")
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                call.as_object_mut().map(|call| call.remove("index"));
            }
            return vec![Value::Object(message)];
        }
        let parts = std::mem::take(&mut self.parts).into_iter().map(Part::whole);
        let parts: Vec<Value> = parts.collect();
        match self.api {
            _ if parts.is_empty() => parts,
            Dialect::Anthropic => vec![json!({"role": "assistant", "content": parts})],
            Dialect::Openai => parts,
            Dialect::Gemini => vec![json!({"role": "model", "parts": parts})],
        }
    }

    fn anthropic(&mut self, mut record: Value) {
        for wrapper in ["event", "message"] {
            if record["type"] != "message_start" && record[wrapper].is_object() {
                record = record[wrapper].take();
            }
        }
        if record["role"] != "assistant" {
            return self.anthropic_event(&record);
        }
        // Of what came as deltas, whole messages tell nothing new.
        let is_streamed = !self.streamed.is_null() && record["id"] == self.streamed;
        if !self.streaming && !is_streamed {
            match record["content"].take() {
                Value::String(text) => self.push(json!({"type": "text", "text": text})),
                content => self.extend(content),
            }
        }
    }

    fn anthropic_event(&mut self, event: &Value) {
        match event["type"].as_str() {
            Some("message_start") => {
                self.streaming = true;
                self.streamed = event["message"]["id"].clone();
            }
            Some("content_block_start") => self.parts.push(Part {
                index: event["index"].clone(),
                ..Part::new(event["content_block"].clone())
            }),
            Some("content_block_delta") => {
                let mut parts = self.parts.iter_mut().rev();
                let part = parts.find(|part| part.index == event["index"]);
                if let (Some(part), Value::Object(delta)) = (part, &event["delta"]) {
                    part.add(delta);
                }
            }
            _ => {}
        }
    }

    fn openai(&mut self, record: &mut Value) {
        let kind = record["type"].as_str().unwrap_or_default();
        self.replies_in_items = record["object"] == "response" || kind.starts_with("response.");
        match kind {
            "response.output_item.done" => self.push(taken(record, "/item")),
            // It repeats the items.
            "response.completed" if !self.parts.is_empty() => {}
            "response.completed" => self.extend(taken(record, "/response/output")),
            _ if self.replies_in_items => self.extend(taken(record, "/output")),
            _ if record["role"] == "assistant" => join(&mut self.message, record.take()),
            _ => {
                for said in ["/choices/0/message", "/choices/0/delta", "/message"] {
                    join(&mut self.message, taken(record, said));
                }
            }
        }
    }

    fn gemini(&mut self, record: &mut Value) {
        self.extend(taken(record, "/candidates/0/content/parts"));
        if record["role"] == "model" {
            self.extend(taken(record, "/parts"));
        }
    }

    fn extend(&mut self, parts: Value) {
        if let Value::Array(parts) = parts {
            for part in parts {
                self.push(part);
            }
        }
    }

    fn push(&mut self, part: Value) {
        self.parts.push(Part::new(part));
    }
}

impl Part {
    fn new(content: Value) -> Self {
        Self {
            index: Value::Null,
            content,
            arguments: String::new(),
        }
    }

    /// Goes on with this delta of Anthropic.
    fn add(&mut self, delta: &Map<String, Value>) {
        let Value::Object(block) = &mut self.content else {
            return;
        };
        for (key, more) in delta.iter().filter(|(key, _)| *key != "type") {
            match more.as_str().filter(|_| key == "partial_json") {
                Some(more) => self.arguments.push_str(more),
                None => add(block, key, more.clone()),
            }
        }
    }

    fn whole(mut self) -> Value {
        // Without a part the input stands in the block itself; an unfinished one is of no use.
        if let (Value::Object(block), false) = (&mut self.content, self.arguments.is_empty()) {
            let input = serde_json::from_str(&self.arguments);
            block.insert("input".to_owned(), input.unwrap_or_else(|_| json!({})));
        }
        self.content
    }
}

fn taken(record: &mut Value, pointer: &str) -> Value {
    record
        .pointer_mut(pointer)
        .map(Value::take)
        .unwrap_or_default()
}

/// Goes on with a delta of a chat completion, or takes a message.
fn join(message: &mut Map<String, Value>, delta: Value) {
    let Value::Object(delta) = delta else {
        return;
    };
    for (key, more) in delta {
        match more {
            Value::Array(calls) if key == "tool_calls" => {
                let known = message.entry(key).or_insert_with(|| json!([]));
                for call in calls {
                    join_call(known, call);
                }
            }
            more => add(message, &key, more),
        }
    }
}

/// Some servers leave the index out, give every call the same one, or repeat the id with every delta.
fn join_call(calls: &mut Value, delta: Value) {
    let (Value::Array(calls), Value::Object(delta)) = (calls, delta) else {
        return;
    };
    let told = |call: &Map<String, Value>, key: &str| {
        let value = call.get(key).cloned();
        value.filter(|value| !value.is_null() && value != "")
    };
    let name = |call: &Map<String, Value>| call.get("function")?.get("name").cloned();
    let (index, id) = (told(&delta, "index"), told(&delta, "id"));
    let goes_on = |call: &&mut Value| {
        let Value::Object(call) = &**call else {
            return false;
        };
        let known = told(call, "id");
        match (&index, &id) {
            (Some(_), None) => told(call, "index") == index,
            (Some(_), Some(_)) => told(call, "index") == index && (known.is_none() || known == id),
            (None, Some(_)) => known == id,
            (None, None) => name(call).is_none() || name(&delta).is_none(),
        }
    };
    match calls.iter_mut().rev().find(goes_on) {
        Some(Value::Object(call)) => join(call, Value::Object(delta)),
        _ => calls.push(Value::Object(delta)),
    }
}

/// Members that come in pieces; all others come whole, some of them with each delta.
const IN_PIECES: [&str; 8] = [
    "content",
    "reasoning",
    "reasoning_content",
    "refusal",
    "arguments",
    "text",
    "thinking",
    "signature",
];

fn add(members: &mut Map<String, Value>, key: &str, more: Value) {
    match (members.get_mut(key), more) {
        (Some(_), Value::Null) => {}
        (Some(Value::String(_)), Value::String(more)) if more.is_empty() => {}
        (Some(Value::String(known)), Value::String(more)) if IN_PIECES.contains(&key) => {
            known.push_str(&more);
        }
        (Some(Value::Object(known)), Value::Object(more)) => {
            for (key, more) in more {
                add(known, &key, more);
            }
        }
        (_, more) => {
            members.insert(key.to_owned(), more);
        }
    }
}
