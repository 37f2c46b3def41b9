//! What the model said, put together from the reply of an API as the message that the next request
//! of that API takes. Nothing that the model said is left out: some APIs want their thoughts back.

use serde_json::{Map, Value, json};

use super::{Dialect, OpenaiForm};

/// Puts the messages of one API together. What is said in another dialect is passed over.
#[derive(Debug)]
pub struct ModelMessage {
    api: Dialect,
    /// How the last reply of `OpenAI` holds its calls.
    pub form: OpenaiForm,
    /// Deltas of the message may still come.
    streaming: bool,
    /// The blocks, parts or items, with the index of each in the stream.
    parts: Vec<(Value, Value)>,
    /// The message of a chat completion.
    message: Map<String, Value>,
}

impl ModelMessage {
    /// Reads replies of this API.
    pub fn of(api: Dialect) -> Self {
        Self {
            api,
            form: OpenaiForm::default(),
            streaming: false,
            parts: Vec::new(),
            message: Map::new(),
        }
    }

    /// Takes the next record.
    pub fn record(&mut self, record: &str) {
        // One that is nested too deeply to be a value has no message of a model.
        let Ok(mut record) = serde_json::from_str::<Value>(record) else {
            return;
        };
        if !record["parent_tool_use_id"].is_null() {
            return;
        }
        match self.api {
            Dialect::Anthropic => self.anthropic(&mut record),
            Dialect::Openai => self.openai(&mut record),
            Dialect::Gemini => self.gemini(&mut record),
        }
    }

    /// The message that ends here: one line, or one for each item of the Responses API.
    pub fn take(&mut self) -> Vec<Value> {
        self.streaming = false;
        let message = std::mem::take(&mut self.message);
        let parts: Vec<Value> = self.parts.drain(..).map(|(_, part)| part).collect();
        if !message.is_empty() {
            return vec![Value::Object(message)];
        }
        match (self.api, self.form) {
            _ if parts.is_empty() => Vec::new(),
            (Dialect::Anthropic, _) => vec![json!({"role": "assistant", "content": parts})],
            (Dialect::Openai, _) => parts,
            (Dialect::Gemini, _) => vec![json!({"role": "model", "parts": parts})],
        }
    }

    fn anthropic(&mut self, record: &mut Value) {
        if record["type"] == "stream_event" {
            return self.anthropic_event(&mut record["event"].take());
        }
        let message = if record["message"].is_object() && record["type"] == "assistant" {
            &mut record["message"]
        } else {
            record
        };
        if message["role"] != "assistant" {
            return self.anthropic_event(message);
        }
        // Of what came as deltas, whole messages tell nothing new.
        if !self.streaming {
            match message["content"].take() {
                Value::String(text) => self.push(json!({"type": "text", "text": text})),
                Value::Array(blocks) => blocks.into_iter().for_each(|block| self.push(block)),
                _ => {}
            }
        }
    }

    fn anthropic_event(&mut self, event: &mut Value) {
        let index = event["index"].take();
        match event["type"].as_str() {
            Some("message_start") => self.streaming = true,
            Some("content_block_start") => {
                self.parts.push((index, event["content_block"].take()));
            }
            Some("content_block_delta") => {
                let part = self.parts.iter_mut().rev().find(|(known, _)| *known == index);
                if let (Some((_, block)), Value::Object(delta)) = (part, event["delta"].take()) {
                    add_delta(block, delta);
                }
            }
            Some("content_block_stop") => {
                let part = self.parts.iter_mut().rev().find(|(known, _)| *known == index);
                if let Some((_, block)) = part {
                    whole_input(block);
                }
            }
            _ => {}
        }
    }

    fn openai(&mut self, record: &mut Value) {
        let choice = &mut record["choices"][0];
        ...
    }
}
