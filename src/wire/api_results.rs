//! Results of calls as the messages that the next request of an API takes.

use serde_json::{Value, json};

use super::{ApiMessages, Dialect};
use crate::message::ToolUseId;
use crate::records::{ResultBlock, ResultContent, ToolResultBlock};

/// A result that is to be sent back.
#[derive(Debug)]
pub struct Answered {
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The call's id, if its model gave it one.
    pub id: Option<ToolUseId>,
    /// What the model gets to see.
    pub result: ToolResultBlock,
}

impl ApiMessages {
    /// The messages with the results since the last time, in the order of the calls.
    pub fn take_results(&mut self) -> Vec<Value> {
        let results = std::mem::take(&mut self.answered);
        match self.api {
            _ if results.is_empty() => Vec::new(),
            Dialect::Anthropic => {
                let blocks = results.into_iter().map(|answered| answered.result);
                let blocks: Vec<ToolResultBlock> = blocks.collect();
                vec![json!({"role": "user", "content": blocks})]
            }
            Dialect::Openai if self.replies_in_items => {
                results.into_iter().map(openai_item).collect()
            }
            Dialect::Openai => results.into_iter().map(openai_message).collect(),
            Dialect::Gemini => {
                let parts: Vec<Value> = results.into_iter().flat_map(gemini_parts).collect();
                vec![json!({"role": "user", "parts": parts})]
            }
        }
    }
}

/// A tool message holds text only. Where calls have no ids, as in Ollama's own API, it names the
/// tool.
fn openai_message(answered: Answered) -> Value {
    let content = text(&answered.result.content);
    match answered.id {
        Some(id) => json!({"role": "tool", "tool_call_id": id, "content": content}),
        None => json!({"role": "tool", "tool_name": answered.name, "content": content}),
    }
}

fn openai_item(answered: Answered) -> Value {
    let output = match answered.result.content {
        ResultContent::Text(text) => json!(text),
        ResultContent::Blocks(blocks) => {
            let parts = blocks.into_iter().map(|block| match block {
                ResultBlock::Text { text } => json!({"type": "input_text", "text": text}),
                ResultBlock::Image { source } => {
                    let address = format!("data:{};base64,{}", source.media_type, source.data);
                    json!({"type": "input_image", "image_url": address})
                }
            });
            parts.collect()
        }
    };
    let id = answered.result.tool_use_id;
    json!({"type": "function_call_output", "call_id": id, "output": output})
}

/// The response to a call, and its images, for which not all models have room in the response.
fn gemini_parts(answered: Answered) -> Vec<Value> {
    let key = if answered.result.is_error {
        "error"
    } else {
        "output"
    };
    let mut response = json!({
        "name": answered.name,
        "response": {key: text(&answered.result.content)},
    });
    if let Some(id) = answered.id {
        response["id"] = json!(id);
    }
    let mut parts = vec![json!({"functionResponse": response})];
    if let ResultContent::Blocks(blocks) = answered.result.content {
        parts.extend(blocks.into_iter().filter_map(|block| match block {
            ResultBlock::Text { .. } => None,
            ResultBlock::Image { source } => Some(json!({
                "inlineData": {"mimeType": source.media_type, "data": source.data},
            })),
        }));
    }
    parts
}

/// The texts of a result; an image is mentioned.
fn text(content: &ResultContent) -> String {
    match content {
        ResultContent::Text(text) => text.clone(),
        ResultContent::Blocks(blocks) => {
            let texts = blocks.iter().map(|block| match block {
                ResultBlock::Text { text } => text.clone(),
                ResultBlock::Image { source } => format!("[image: {}]", source.media_type),
            });
            texts.collect::<Vec<String>>().join("\n")
        }
    }
}
