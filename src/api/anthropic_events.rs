//! Writes the streaming events of Anthropic's Messages API.

use serde_json::{Value, json};

/// A block that starts.
pub(crate) enum BlockStart<'a> {
    Text,
    Thinking,
    RedactedThinking(&'a str),
    Call { id: &'a str, name: &'a str },
}

/// More of a block.
pub(crate) enum BlockDelta<'a> {
    Text(&'a str),
    Thinking(&'a str),
    Signature(&'a str),
    Input(&'a str),
}

/// The event at the start of the block at this position.
pub(crate) fn block_start(index: usize, block: &BlockStart<'_>) -> Value {
    let block = match block {
        BlockStart::Text => json!({"type": "text", "text": ""}),
        BlockStart::Thinking => json!({"type": "thinking", "thinking": "", "signature": ""}),
        BlockStart::RedactedThinking(data) => json!({"type": "redacted_thinking", "data": data}),
        BlockStart::Call { id, name } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": {}})
        }
    };
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

/// The event with more of a block.
pub(crate) fn block_delta(index: usize, delta: &BlockDelta<'_>) -> Value {
    let delta = match delta {
        BlockDelta::Text(text) => json!({"type": "text_delta", "text": text}),
        BlockDelta::Thinking(text) => json!({"type": "thinking_delta", "thinking": text}),
        BlockDelta::Signature(proof) => json!({"type": "signature_delta", "signature": proof}),
        BlockDelta::Input(json) => json!({"type": "input_json_delta", "partial_json": json}),
    };
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

/// The event at the end of a block.
pub(crate) fn block_stop(index: usize) -> Value {
    json!({"type": "content_block_stop", "index": index})
}
