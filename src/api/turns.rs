//! A conversation in the form that APIs accept: alternating turns without empty parts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;
use serde_json::value::RawValue;

use super::request::Request;
use crate::jsonl::replace_lone_surrogates;
use crate::message::{Block, Call, Media, ResultPart, Role, Thought, ToolResult};

/// A turn of one side.
#[derive(Debug)]
pub(super) struct MergedTurn<'a> {
    pub(super) role: Role,
    pub(super) blocks: Vec<&'a Block>,
}

/// Replaces omitted turns where the first turn must be the user's.
static EARLIER: LazyLock<Block> =
    LazyLock::new(|| Block::Text("[earlier messages are left out]".to_owned()));

/// Replaces an attachment that cannot be sent.
const ATTACHMENT: &str = "[attachment]";

/// The turns of a request. Neighbours with the same role are merged; blank text is omitted, and so are
/// turns with nothing but thinking without a signature.
pub(super) fn merged_turns(request: &Request) -> Vec<MergedTurn<'_>> {
    let mut merged: Vec<MergedTurn<'_>> = Vec::new();
    for turn in &request.turns {
        let says_something = |block: &&Block| match block {
            Block::Text(text) | Block::Thinking(Thought::Plain(text)) => !text.trim().is_empty(),
            Block::Thinking(_) | Block::Call(_) | Block::Result(_) | Block::Media(_) => true,
        };
        let mut blocks: Vec<&Block> = turn.blocks.iter().filter(says_something).collect();
        let is_plain_thought = |block: &&Block| matches!(block, Block::Thinking(Thought::Plain(_)));
        if blocks.iter().all(is_plain_thought) {
            continue;
        }
        match merged.last_mut() {
            Some(last) if last.role == turn.role => last.blocks.append(&mut blocks),
            _ => merged.push(MergedTurn {
                role: turn.role,
                blocks,
            }),
        }
    }
    merged
}

/// The turns of a request, with one of the user before them if the first is the model's.
pub(super) fn turns_from_user(request: &Request) -> Vec<MergedTurn<'_>> {
    let mut turns = merged_turns(request);
    if turns
        .first()
        .is_some_and(|first| first.role == Role::Assistant)
    {
        let earlier = MergedTurn {
            role: Role::User,
            blocks: vec![&*EARLIER],
        };
        turns.insert(0, earlier);
    }
    turns
}

impl<'a> MergedTurn<'a> {
    /// The text, its blocks joined by blank lines.
    pub(super) fn text(&self) -> String {
        let texts: Vec<&str> = self
            .blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text(text) => Some(text.as_str()),
                Block::Thinking(_) | Block::Call(_) | Block::Result(_) | Block::Media(_) => None,
            })
            .collect();
        texts.join("\n\n")
    }

    /// The unsigned thinking of the model; empty if there is none.
    pub(super) fn thoughts(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            Block::Thinking(Thought::Plain(text)) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The calls.
    pub(super) fn calls(&self) -> impl Iterator<Item = &'a Call> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            Block::Text(_) | Block::Thinking(_) | Block::Result(_) | Block::Media(_) => None,
        })
    }

    /// The results of calls.
    pub(super) fn results(&self) -> impl Iterator<Item = &'a ToolResult> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Result(result) => Some(result),
            Block::Text(_) | Block::Thinking(_) | Block::Call(_) | Block::Media(_) => None,
        })
    }

    /// The attachments in results.
    pub(super) fn result_attachments(&self) -> impl Iterator<Item = Attachment<'a>> {
        self.results().flat_map(|result| attachments(&result.parts))
    }

    /// The other attachments.
    pub(super) fn attachments(&self) -> impl Iterator<Item = Attachment<'a>> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Media(media) => attachment(media),
            Block::Text(_) | Block::Thinking(_) | Block::Call(_) | Block::Result(_) => None,
        })
    }
}

/// The media type of an attachment, and its bytes in base64.
pub(super) type Attachment<'a> = (&'a str, &'a str);

/// Returns the attachment if both parts are known.
pub(super) fn attachment(media: &Media) -> Option<Attachment<'_>> {
    let data = media.data.as_deref()?;
    (!media.media_type.is_empty()).then_some((media.media_type.as_str(), data))
}

/// The attachments in a result.
pub(super) fn attachments(parts: &[ResultPart]) -> impl Iterator<Item = Attachment<'_>> {
    parts.iter().filter_map(|part| match part {
        ResultPart::Text(_) => None,
        ResultPart::Media(media) => attachment(media),
    })
}

/// An attachment as a `data:` URL.
pub(super) fn data_url((kind, data): Attachment<'_>) -> String {
    format!("data:{kind};base64,{data}")
}

/// The names of the functions that are called, by the ids of the calls.
pub(super) fn functions_called<'a>(conversation: &[MergedTurn<'a>]) -> HashMap<&'a str, &'a str> {
    let calls = conversation.iter().flat_map(MergedTurn::calls);
    calls.map(|call| (&*call.id, &*call.name)).collect()
}

/// The text of a result. Attachments are mentioned.
pub(super) fn result_text(parts: &[ResultPart]) -> String {
    let texts = parts.iter().map(|part| match part {
        ResultPart::Text(text) => Cow::from(text),
        ResultPart::Media(media) if attachment(media).is_some() => {
            format!("[image: {}]", media.media_type).into()
        }
        ResultPart::Media(_) => ATTACHMENT.into(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The arguments of a call; an empty object if they are unusable.
pub(super) fn arguments(input: &RawValue) -> Value {
    let json = input.get();
    let repaired = replace_lone_surrogates(json);
    serde_json::from_str(repaired.as_deref().unwrap_or(json))
        .ok()
        .filter(Value::is_object)
        .unwrap_or_else(|| Value::Object(serde_json::Map::new()))
}
