//! Conversion of a server's result to a tool result, and limits on its output: the length of a line, and the
//! output between requests.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde::{Deserialize as _, Serialize};
use serde_json::Value;
use tokio::io::{AsyncRead, ReadBuf};

use crate::run::tools::{Block, CallStatus, Content, Image, ToolReply};
use crate::text::{truncate_utf16, utf16_length};

/// Media types of images that model APIs accept.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Maximum size of an image that model APIs accept, in base64 characters.
const MAX_IMAGE_SIZE: usize = 5 * 1024 * 1024;

/// Maximum length of all text next to images, and of a string in the structured output, in UTF-16 units. Text without
/// images is saved to a file when it is too long.
pub(super) const MAX_TEXT_LENGTH: usize = 50_000;

/// Converts the result of a call.
pub(super) fn convert_result(result: CallToolResult) -> ToolReply {
    // Content that was parsed from JSON serializes again.
    let mut structured = serde_json::to_value(&result.content).unwrap_or_default();
    shorten(&mut structured);
    let mut blocks: Vec<Block> = result.content.into_iter().map(convert_block).collect();
    if let Some(value) = result.structured_content
        && !value.is_null()
        && !is_in_text(&blocks, &value)
    {
        let text = value.to_string();
        blocks.push(Block::Text { text });
    }
    ToolReply {
        status: if result.is_error == Some(true) {
            CallStatus::Error
        } else {
            CallStatus::Ok
        },
        content: join_blocks(blocks),
        ..ToolReply::text("", structured)
    }
}

/// Converts the content of a result that a hook changed. Hooks get shortened images; the whole ones are in the
/// content `before`.
pub(super) fn content_after_hook(output: &Value, before: &Content) -> Option<Content> {
    let blocks = Vec::<ContentBlock>::deserialize(output).ok()?;
    let mut blocks: Vec<Block> = blocks.into_iter().map(convert_block).collect();
    if let Content::Blocks(before) = before {
        for block in &mut blocks {
            let is_whole = |whole: &&Block| match (whole, &block) {
                (Block::Image { source: whole }, Block::Image { source }) => {
                    let start = source.data.strip_suffix(TRUNCATED);
                    start.is_some_and(|start| whole.data.starts_with(start))
                }
                _ => false,
            };
            if let Some(whole) = before.iter().find(is_whole) {
                *block = whole.clone();
            }
        }
    }
    Some(join_blocks(blocks))
}

/// Joins blocks to one text if there are no images.
fn join_blocks(mut blocks: Vec<Block>) -> Content {
    let is_text = |block: &Block| matches!(block, Block::Text { .. });
    if blocks.iter().all(is_text) {
        let texts = blocks.into_iter().filter_map(|block| match block {
            Block::Text { text } => Some(text),
            Block::Image { .. } => None,
        });
        return Content::Text(texts.collect::<Vec<_>>().join("\n"));
    }
    limit_texts(&mut blocks);
    Content::Blocks(blocks)
}

/// Whether text blocks contain this value, as the specification recommends for clients that only read text. Many servers
/// wrap a value that is not an object in an object, and write each item of a list to its own block.
fn is_in_text(blocks: &[Block], value: &Value) -> bool {
    let is_text = |block: &Block| match block {
        Block::Text { text } => {
            value.as_str() == Some(text)
                || serde_json::from_str::<Value>(text).is_ok_and(|parsed| parsed == *value)
        }
        Block::Image { .. } => false,
    };
    blocks.iter().any(is_text)
        || match value {
            Value::Array(items) => items.iter().all(|item| is_in_text(blocks, item)),
            Value::Object(members) if members.len() == 1 => {
                members.values().all(|member| is_in_text(blocks, member))
            }
            _ => false,
        }
}

/// Truncates texts to [`MAX_TEXT_LENGTH`] in total, and removes empty ones, which model APIs reject.
fn limit_texts(blocks: &mut Vec<Block>) {
    let (mut remaining, mut is_full) = (MAX_TEXT_LENGTH, false);
    blocks.retain_mut(|block| {
        let Block::Text { text } = block else {
            return true;
        };
        if text.is_empty() || is_full {
            return false;
        }
        let length = utf16_length(text);
        is_full = length > remaining;
        truncate_text(text, remaining);
        remaining = remaining.saturating_sub(length);
        true
    });
}

fn convert_block(content: ContentBlock) -> Block {
    match content {
        ContentBlock::Text(text) => text_block(text.text),
        ContentBlock::Image(image) => {
            binary_block("image", None, Some(image.mime_type), image.data)
        }
        ContentBlock::Audio(audio) => {
            binary_block("audio", None, Some(audio.mime_type), audio.data)
        }
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                text_block(format!("[resource {uri}]\n{text}"))
            }
            ResourceContents::BlobResourceContents {
                uri,
                mime_type,
                blob,
                ..
            } => binary_block("resource", Some(uri), mime_type, blob),
            other => unknown_block(&other),
        },
        ContentBlock::ResourceLink(link) => {
            let description = link
                .description
                .map_or_else(String::new, |text| format!(": {text}"));
            let (name, uri) = (link.name, link.uri);
            text_block(format!("[link to resource {name}, {uri}{description}]"))
        }
        other => unknown_block(&other),
    }
}

fn text_block(text: String) -> Block {
    Block::Text { text }
}

/// Returns a block for content of an unknown kind.
fn unknown_block(content: &impl Serialize) -> Block {
    // Content that was parsed from JSON serializes again.
    text_block(serde_json::to_string(content).unwrap_or_default())
}

/// Returns an image that models can read, or a description of anything else.
fn binary_block(
    kind: &str,
    uri: Option<String>,
    media_type: Option<String>,
    data: String,
) -> Block {
    let media_type = media_type.unwrap_or_else(|| "unknown type".to_owned());
    if IMAGE_TYPES.contains(&media_type.as_str()) && data.len() <= MAX_IMAGE_SIZE {
        return Block::Image {
            source: Image { media_type, data },
        };
    }
    let uri = uri.map_or_else(String::new, |uri| format!(" {uri}"));
    let bytes = data.len() / 4 * 3;
    text_block(format!(
        "[{kind}{uri} not shown: {media_type}, {bytes} bytes]"
    ))
}

/// Truncates long strings in a structured output. The content has complete images.
fn shorten(structured: &mut Value) {
    match structured {
        Value::String(text) => truncate_text(text, MAX_TEXT_LENGTH),
        Value::Array(values) => values.iter_mut().for_each(shorten),
        Value::Object(members) => members.values_mut().for_each(shorten),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The end of a truncated text.
const TRUNCATED: &str = "\n[truncated]";

/// Truncates a text to `limit` UTF-16 units.
pub(super) fn truncate_text(text: &mut String, limit: usize) {
    if utf16_length(text) > limit {
        let kept = truncate_utf16(text, limit).len();
        text.truncate(kept);
        text.push_str(TRUNCATED);
    }
}

/// Maximum length of a line, in bytes.
pub(super) const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Maximum output after a request, in bytes.
const MAX_OUTPUT_BYTES: usize = 4 * MAX_LINE_BYTES;

/// The output of a server.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// The number of bytes since the last request.
    byte_count: AtomicUsize,
    violation: OnceLock<&'static str>,
}

impl Output {
    /// Resets the count for a new request.
    pub(super) fn reset(&self) {
        self.byte_count.store(0, Ordering::Relaxed);
    }

    /// Returns the limit that was violated, if any.
    pub(super) fn violation(&self) -> Option<&'static str> {
        self.violation.get().copied()
    }
}

/// A reader that fails as soon as a limit is violated. The transport itself would drop a long line and wait.
pub(super) struct LimitedOutput<Source> {
    source: Source,
    /// The length of the current line so far, in bytes.
    length: usize,
    output: Arc<Output>,
}

impl<Source> LimitedOutput<Source> {
    pub(super) fn new(source: Source, output: Arc<Output>) -> Self {
        Self {
            source,
            length: 0,
            output,
        }
    }
}

impl<Source: AsyncRead + Unpin> AsyncRead for LimitedOutput<Source> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let old_length = buffer.filled().len();
        ready!(Pin::new(&mut self.source).poll_read(context, buffer))?;
        let new_bytes = &buffer.filled()[old_length..];
        self.length = match memchr::memrchr(b'\n', new_bytes) {
            Some(end) => new_bytes.len() - end - 1,
            None => self.length + new_bytes.len(),
        };
        let byte_count = self
            .output
            .byte_count
            .fetch_add(new_bytes.len(), Ordering::Relaxed);
        let violation = if self.length > MAX_LINE_BYTES {
            "its output has a line that is too long"
        } else if byte_count > MAX_OUTPUT_BYTES {
            "it wrote too much unsolicited output"
        } else {
            return Poll::Ready(Ok(()));
        };
        // The first violation is kept.
        let _ = self.output.violation.set(violation);
        Poll::Ready(Err(io::ErrorKind::FileTooLarge.into()))
    }
}
