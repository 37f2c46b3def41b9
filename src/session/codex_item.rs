//! The items of the Responses API, of which Codex files consist.

use serde_json::value::RawValue;

use super::claude::user_messages;
use super::claude_content::string;
use crate::dialog::{Block, Call, CallResult, Media, Message, Origin, Part, Role, exit_code};
use crate::wire::object::{object, text};

object! {
    Item {
        kind = "type",
        id = "id",
        role = "role",
        content = "content",
        summary = "summary",
        name = "name",
        arguments = "arguments",
        input = "input",
        action = "action",
        call_id = "call_id",
        output = "output",
    }
}

object! {
    Content {
        kind = "type",
        text = "text",
        image = "image_url",
    }
}

object! {
    Output {
        content = "content",
        output = "output",
        success = "success",
        metadata = "metadata",
    }
}

object! {
    Metadata {
        exit_code = "exit_code",
    }
}

/// What an item says.
pub(super) fn item_messages(item: &Item<'_>) -> Vec<Message> {
    if text(item.kind).as_deref() == Some("message") {
        return message(item);
    }
    other_item(item).into_iter().collect()
}

fn other_item(item: &Item<'_>) -> Option<Message> {
    match text(item.kind)?.as_ref() {
        "reasoning" => {
            let mut thoughts = content(item.summary);
            thoughts.extend(content(item.content));
            let blocks: Vec<Block> = thoughts
                .into_iter()
                .filter_map(|block| match block {
                    Block::Text(text) => Some(Block::Thinking(text)),
                    _ => None,
                })
                .collect();
            (!blocks.is_empty()).then(|| reply(blocks))
        }
        "function_call" => Some(reply(vec![Block::Call(Call {
            id: string(item.call_id)?,
            name: string(item.name).unwrap_or_default(),
            input: arguments(item.arguments),
        })])),
        "custom_tool_call" => Some(reply(vec![Block::Call(Call {
            id: string(item.call_id)?,
            name: string(item.name).unwrap_or_default(),
            input: wrapped("input", item.input),
        })])),
        "local_shell_call" => Some(reply(vec![Block::Call(Call {
            id: string(item.call_id).or_else(|| string(item.id))?,
            name: "local_shell".to_owned(),
            input: wrapped("action", item.action),
        })])),
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
            let mut result = output(item.output);
            result.id = string(item.call_id)?;
            Some(Message {
                blocks: vec![Block::Result(result)],
                ..Message::new(Role::User, Origin::Results)
            })
        }
        _ => None,
    }
}

fn reply(blocks: Vec<Block>) -> Message {
    Message {
        blocks,
        ..Message::new(Role::Assistant, Origin::Reply)
    }
}

fn message(item: &Item<'_>) -> Vec<Message> {
    let blocks = content(item.content);
    match text(item.role).as_deref() {
        Some("assistant") => vec![reply(blocks)],
        Some("user") => user_messages(Origin::Prompt, blocks),
        Some("developer" | "system") => user_messages(Origin::Injected, blocks),
        _ => Vec::new(),
    }
}

/// The blocks of a content: a string or a list.
pub(super) fn content(raw: Option<&RawValue>) -> Vec<Block> {
    if let Some(content) = text(raw) {
        return vec![Block::Text(content.into_owned())];
    }
    let list = Content::list(raw).into_iter();
    list.filter_map(|part| {
        if let Some(said) = text(part.text) {
            return Some(Block::Text(said.into_owned()));
        }
        match text(part.kind)?.as_ref() {
            "input_image" | "image" | "local_image" => Some(Block::Media(image(part.image))),
            _ => None,
        }
    })
    .collect()
}

/// An image in a `data:` address, or elsewhere.
fn image(raw: Option<&RawValue>) -> Media {
    let address = string(raw).unwrap_or_default();
    match address
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"))
    {
        Some((media_type, data)) => Media {
            media_type: media_type.to_owned(),
            data: Some(data.to_owned()),
        },
        None => Media {
            media_type: String::new(),
            data: None,
        },
    }
}

/// Arguments are JSON in a string; what is none stays a string.
fn arguments(raw: Option<&RawValue>) -> Box<RawValue> {
    let parsed = text(raw).and_then(|json| RawValue::from_string(json.into_owned()).ok());
    parsed
        .or_else(|| raw.map(ToOwned::to_owned))
        .unwrap_or_default()
}

/// An object with one member.
fn wrapped(name: &str, raw: Option<&RawValue>) -> Box<RawValue> {
    let value = raw.map_or("null", RawValue::get);
    RawValue::from_string(format!("{{\"{name}\":{value}}}")).unwrap_or_default()
}

/// An output: a string (which may be JSON itself), an object, or a list.
fn output(raw: Option<&RawValue>) -> CallResult {
    let told = text(raw).map(std::borrow::Cow::into_owned);
    let as_object = match &told {
        Some(json) if json.starts_with('{') => Output::read(json),
        Some(_) => None,
        None => Output::of(raw),
    };
    let mut failed = false;
    let mut parts = Vec::new();
    if let Some(object) = as_object {
        let code = Metadata::of(object.metadata).and_then(|metadata| metadata.exit_code);
        failed = code.is_some_and(|code| code.get() != "0")
            || object.success.is_some_and(|raw| raw.get() == "false");
        let inner = object.output.or(object.content);
        parts.extend(text(inner).map(|text| Part::Text(text.into_owned())));
    }
    if parts.is_empty() {
        parts = match &told {
            Some(told) => vec![Part::Text(told.clone())],
            None => content(raw)
                .into_iter()
                .filter_map(|block| match block {
                    Block::Text(text) => Some(Part::Text(text)),
                    Block::Media(media) => Some(Part::Media(media)),
                    _ => None,
                })
                .collect(),
        };
    }
    let code = parts.iter().find_map(|part| match part {
        Part::Text(text) => exit_code(text),
        Part::Media(_) => None,
    });
    CallResult {
        id: String::new(),
        failed: failed || code.is_some_and(|code| code != 0),
        parts,
    }
}
