//! What a server answers, as a result of ours.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde::Serialize;
use serde_json::Value;

use crate::text::{truncate_utf16, utf16_length};
use crate::tools::{Block, CallStatus, Content, Image, ToolReply};

/// The images that the APIs of models take.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The largest image that they take, as base64.
const LARGEST_IMAGE: usize = 5 * 1024 * 1024;

/// The most text beside images, and of a text in the structured output, in UTF-16 units. Text alone
/// is saved to a file when it is too long.
pub(super) const LONGEST_TEXT: usize = 50_000;

/// The reply of a call that the server answered.
pub(super) fn reply(result: CallToolResult) -> ToolReply {
    let mut structured = serde_json::to_value(&result.content).unwrap_or_default();
    shorten(&mut structured);
    let mut blocks: Vec<Block> = result.content.into_iter().map(block).collect();
    if let Some(value) = result.structured_content
        && !value.is_null()
        && !is_said(&blocks, &value)
    {
        let text = value.to_string();
        blocks.push(Block::Text { text });
    }
    let content = if blocks
        .iter()
        .all(|block| matches!(block, Block::Text { .. }))
    {
        let texts = blocks.into_iter().filter_map(|block| match block {
            Block::Text { text } => Some(text),
            Block::Image { .. } => None,
        });
        Content::Text(texts.collect::<Vec<_>>().join("\n"))
    } else {
        bound(&mut blocks);
        Content::Blocks(blocks)
    };
    ToolReply {
        status: if result.is_error == Some(true) {
            CallStatus::Error
        } else {
            CallStatus::Ok
        },
        content,
        ..ToolReply::text("", structured)
    }
}

/// Whether the texts say this value, as they should for programs that only know texts. Many servers
/// wrap what is no object as the only member of one, and give each item of a list its own text.
fn is_said(blocks: &[Block], value: &Value) -> bool {
    let is_text = |block: &Block| match block {
        Block::Text { text } => {
            value.as_str() == Some(text)
                || serde_json::from_str::<Value>(text).is_ok_and(|said| said == *value)
        }
        Block::Image { .. } => false,
    };
    blocks.iter().any(is_text)
        || match value {
            Value::Array(items) => items.iter().all(|item| is_said(blocks, item)),
            Value::Object(members) if members.len() == 1 => {
                members.values().all(|member| is_said(blocks, member))
            }
            _ => false,
        }
}

/// Cuts texts that are too long in all, and leaves out those that are empty, which the APIs of models
/// refuse.
fn bound(blocks: &mut Vec<Block>) {
    let (mut room, mut is_full) = (LONGEST_TEXT, false);
    blocks.retain_mut(|block| {
        let Block::Text { text } = block else {
            return true;
        };
        if text.is_empty() || is_full {
            return false;
        }
        let length = utf16_length(text);
        is_full = length > room;
        cut(text, room);
        room = room.saturating_sub(length);
        true
    });
}

fn block(content: ContentBlock) -> Block {
    match content {
        ContentBlock::Text(text) => said(text.text),
        ContentBlock::Image(image) => binary("image", None, Some(image.mime_type), image.data),
        ContentBlock::Audio(audio) => binary("audio", None, Some(audio.mime_type), audio.data),
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                said(format!("[resource {uri}]\n{text}"))
            }
            ResourceContents::BlobResourceContents {
                uri,
                mime_type,
                blob,
                ..
            } => binary("resource", Some(uri), mime_type, blob),
            other => unknown(&other),
        },
        ContentBlock::ResourceLink(link) => {
            let description = link.description.map(|text| format!(": {text}"));
            let (name, uri) = (link.name, link.uri);
            let description = description.unwrap_or_default();
            said(format!("[link to resource {name}, {uri}{description}]"))
        }
        other => unknown(&other),
    }
}

fn said(text: String) -> Block {
    Block::Text { text }
}

/// Content of a kind that this program does not know yet.
fn unknown(content: &impl Serialize) -> Block {
    said(serde_json::to_string(content).unwrap_or_default())
}

/// An image that models can see; of anything else, only what it is.
fn binary(kind: &str, uri: Option<String>, media_type: Option<String>, data: String) -> Block {
    let media_type = media_type.unwrap_or_else(|| "unknown type".to_owned());
    if IMAGES.contains(&media_type.as_str()) && data.len() <= LARGEST_IMAGE {
        return Block::Image {
            source: Image { media_type, data },
        };
    }
    let uri = uri.map_or_else(String::new, |uri| format!(" {uri}"));
    let bytes = data.len() / 4 * 3;
    said(format!(
        "[{kind}{uri} not shown: {media_type}, {bytes} bytes]"
    ))
}

/// Cuts what is long in a structured output. Images are whole in the content.
fn shorten(structured: &mut Value) {
    match structured {
        Value::String(text) => cut(text, LONGEST_TEXT),
        Value::Array(values) => values.iter_mut().for_each(shorten),
        Value::Object(members) => members.values_mut().for_each(shorten),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Cuts a text that has more UTF-16 units than this.
pub(super) fn cut(text: &mut String, longest: usize) {
    if utf16_length(text) > longest {
        let kept = truncate_utf16(text, longest).len();
        text.truncate(kept);
        text.push_str("\n[the rest was cut]");
    }
}
