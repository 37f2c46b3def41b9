//! Content in the form of the Anthropic API.

use serde_json::value::RawValue;

use crate::dialog::{Block, Call, CallResult, Media, Part, Usage};
use crate::wire::object::{non_empty, number, object, text};

object! {
    Content {
        kind = "type",
        text = "text",
        thinking = "thinking",
        id = "id",
        name = "name",
        input = "input",
        tool_use_id = "tool_use_id",
        content = "content",
        is_error = "is_error",
        source = "source",
    }
}

object! {
    Source {
        media_type = "media_type",
        data = "data",
    }
}

object! {
    Tokens {
        input = "input_tokens",
        output = "output_tokens",
        cache_write = "cache_creation_input_tokens",
        cache_read = "cache_read_input_tokens",
    }
}

/// A string that is there and not empty.
pub(super) fn string(raw: Option<&RawValue>) -> Option<String> {
    non_empty(raw).map(std::borrow::Cow::into_owned)
}

/// The empty object, as the input of a call that has none.
pub(super) fn input_of(raw: Option<&RawValue>) -> Box<RawValue> {
    match raw {
        Some(raw) => raw.to_owned(),
        None => RawValue::from_string("{}".to_owned()).unwrap_or_default(),
    }
}

/// The blocks of a content: a string or a list.
pub(super) fn blocks(raw: Option<&RawValue>) -> Vec<Block> {
    if let Some(content) = text(raw) {
        return vec![Block::Text(content.into_owned())];
    }
    let list = Content::list(raw).into_iter();
    list.filter_map(|block| match text(block.kind)?.as_ref() {
        "text" => Some(Block::Text(text(block.text)?.into_owned())),
        "thinking" => Some(Block::Thinking(text(block.thinking)?.into_owned())),
        "redacted_thinking" => Some(Block::Thinking(String::new())),
        "tool_use" | "server_tool_use" => Some(Block::Call(Call {
            id: string(block.id)?,
            name: string(block.name).unwrap_or_default(),
            input: input_of(block.input),
        })),
        "tool_result" => Some(Block::Result(CallResult {
            id: string(block.tool_use_id)?,
            parts: parts(block.content),
            failed: block.is_error.is_some_and(|raw| raw.get() == "true"),
        })),
        "image" | "document" => Some(Block::Media(media(block.source))),
        _ => None,
    })
    .collect()
}

fn parts(raw: Option<&RawValue>) -> Vec<Part> {
    blocks(raw)
        .into_iter()
        .filter_map(|block| match block {
            Block::Text(text) => Some(Part::Text(text)),
            Block::Media(media) => Some(Part::Media(media)),
            Block::Thinking(_) | Block::Call(_) | Block::Result(_) => None,
        })
        .collect()
}

fn media(raw: Option<&RawValue>) -> Media {
    let source = Source::of(raw).unwrap_or_default();
    Media {
        media_type: string(source.media_type).unwrap_or_default(),
        data: string(source.data),
    }
}

/// Token counts.
pub(super) fn usage(raw: Option<&RawValue>) -> Option<Usage> {
    let tokens = Tokens::of(raw)?;
    let count = |raw| number(raw).unwrap_or_default();
    Some(Usage {
        input: count(tokens.input),
        output: count(tokens.output),
        cache_read: count(tokens.cache_read),
        cache_write: count(tokens.cache_write),
        ..Usage::default()
    })
}
