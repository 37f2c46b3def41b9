//! pi: `~/.pi/agent/sessions/<directory>/<time>_<session>.jsonl`.

use serde_json::value::RawValue;

use super::claude::{is_true, note};
use super::claude_content::{input_of, string};
use super::format::{Format, Precedence, Shape, TitleSearch};
use super::node::{Key, Node, Part as NodePart};
use super::title_rule::{Standing, TitleRecord};
use super::{Agent, Envelope, Facts, Title, TitleSource};
use crate::dialog::{Block, Call, CallResult, Media, Message, Origin, Part, Role, Usage};
use crate::wire::object::{non_empty, number, object, text};

/// See the module.
#[derive(Debug)]
pub(super) struct Pi;

object! {
    Row {
        kind = "type",
        id = "id",
        parent = "parentId",
        time = "timestamp",
        message = "message",
        cwd = "cwd",
        branched_from = "branchedFrom",
        parent_session = "parentSession",
        name = "name",
        summary = "summary",
        model = "modelId",
    }
}

object! {
    Said {
        role = "role",
        content = "content",
        model = "model",
        usage = "usage",
        stop_reason = "stopReason",
        error = "errorMessage",
        call_id = "toolCallId",
        is_error = "isError",
        command = "command",
        output = "output",
    }
}

object! {
    Content {
        kind = "type",
        text = "text",
        thinking = "thinking",
        id = "id",
        name = "name",
        arguments = "arguments",
        data = "data",
        media_type = "mimeType",
    }
}

object! {
    Tokens {
        input = "input",
        output = "output",
        cache_read = "cacheRead",
        cache_write = "cacheWrite",
        cost = "cost",
    }
}

object! {
    Cost {
        total = "total",
    }
}

const KINDS: [&str; 10] = [
    "session",
    "message",
    "model_change",
    "thinking_level_change",
    "compaction",
    "session_info",
    "branch_summary",
    "custom",
    "custom_message",
    "label",
];

impl Format for Pi {
    fn agent(&self) -> Agent {
        Agent::Pi
    }

    fn shape(&self) -> Shape {
        Shape::Tree
    }

    fn envelope(&self, record: &str) -> Envelope {
        let row = Row::read(record).unwrap_or_default();
        let said = Said::of(row.message).unwrap_or_default();
        let kind = string(row.kind).unwrap_or_default();
        Envelope {
            uuid: string(row.id).filter(|_| kind != "session"),
            kind,
            subtype: string(said.role),
            parent: string(row.parent),
            time: string(row.time),
        }
    }

    fn knows(&self, envelope: &Envelope) -> bool {
        KINDS.contains(&envelope.kind.as_str())
    }

    fn messages(&self, record: &str) -> Vec<Message> {
        let Some(row) = Row::read(record) else {
            return Vec::new();
        };
        let message = match text(row.kind).as_deref() {
            Some("message") => said(row.message),
            Some("compaction") => {
                let summary = string(row.summary).unwrap_or_default();
                Some(note(Role::System, Origin::Compaction, summary))
            }
            _ => None,
        };
        let Some(mut message) = message else {
            return Vec::new();
        };
        message.uuid = string(row.id);
        message.time = string(row.time);
        vec![message]
    }

    fn facts(&self, record: &str, facts: &mut Facts) {
        let Some(row) = Row::read(record) else {
            return;
        };
        facts.note_time(row.time);
        match text(row.kind).as_deref() {
            Some("message") => {
                let said = Said::of(row.message).unwrap_or_default();
                facts.note_model(string(said.model));
            }
            Some("session") => {
                if facts.session_id.is_none() {
                    facts.session_id = string(row.id);
                }
                facts.note_cwd(string(row.cwd));
                let parent = string(row.branched_from).or_else(|| string(row.parent_session));
                facts.forked_from = parent.map(|path| session_of_path(&path));
            }
            Some("model_change") => {
                facts.note_model(string(row.model));
            }
            _ => {}
        }
    }

    fn title_search(&self) -> TitleSearch {
        TitleSearch {
            needle: "\"session_info\"",
            precedence: Precedence::Later,
        }
    }

    fn title(&self, record: &str) -> Option<TitleRecord> {
        let row = Row::read(record)?;
        if text(row.kind)? != "session_info" {
            return None;
        }
        Some(TitleRecord {
            title: Title {
                text: text(row.name)?.into_owned(),
                source: TitleSource::Manual,
            },
            time: text(row.time).and_then(|time| time.parse().ok()),
            standing: Standing::Ordinary,
        })
    }

    fn node(&self, record: &str) -> Option<Node> {
        let row = Row::read(record)?;
        // Older files have no ids but that of the session.
        let part = match text(row.kind)?.as_ref() {
            "session" => return None,
            "message" => NodePart::Turn,
            _ => NodePart::Step,
        };
        Some(Node {
            id: Key::of(&non_empty(row.id)?),
            parent: non_empty(row.parent).map(|parent| Key::of(&parent)),
            part,
            message: None,
            calls: Vec::new(),
            answers: Vec::new(),
        })
    }
}

/// The id in a path `…/<time>_<id>.jsonl`.
fn session_of_path(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = name.strip_suffix(".jsonl").unwrap_or(name);
    stem.rsplit_once('_').map_or(stem, |(_, id)| id).to_owned()
}

fn said(raw: Option<&RawValue>) -> Option<Message> {
    let said = Said::of(raw)?;
    match text(said.role)?.as_ref() {
        "user" => Some(Message {
            blocks: blocks(said.content),
            ..Message::new(Role::User, Origin::Prompt)
        }),
        "assistant" => assistant(&said),
        "toolResult" => {
            let parts = blocks(said.content).into_iter();
            let result = CallResult {
                id: string(said.call_id)?,
                parts: parts
                    .filter_map(|block| match block {
                        Block::Text(text) => Some(Part::Text(text)),
                        Block::Media(media) => Some(Part::Media(media)),
                        Block::Thinking(_) | Block::Call(_) | Block::Result(_) => None,
                    })
                    .collect(),
                failed: is_true(said.is_error),
            };
            Some(Message {
                blocks: vec![Block::Result(result)],
                ..Message::new(Role::User, Origin::Results)
            })
        }
        "bashExecution" => {
            let command = text(said.command).unwrap_or_default();
            let output = text(said.output).unwrap_or_default();
            let told = format!("$ {command}\n{output}");
            Some(note(Role::User, Origin::Injected, told))
        }
        _ => None,
    }
}

fn assistant(said: &Said<'_>) -> Option<Message> {
    let mut content = blocks(said.content);
    let error = string(said.error);
    let has_failed = text(said.stop_reason).as_deref() == Some("error");
    let origin = if has_failed {
        content.extend(error.map(Block::Text));
        Origin::Error
    } else {
        Origin::Reply
    };
    let usage = usage(said.usage);
    if content.is_empty() && usage.is_none_or(|usage| usage.is_empty()) {
        return None;
    }
    Some(Message {
        model: string(said.model),
        usage,
        blocks: content,
        ..Message::new(Role::Assistant, origin)
    })
}

fn blocks(raw: Option<&RawValue>) -> Vec<Block> {
    if let Some(content) = text(raw) {
        return vec![Block::Text(content.into_owned())];
    }
    let list = Content::list(raw).into_iter();
    list.filter_map(|block| match text(block.kind)?.as_ref() {
        "text" => Some(Block::Text(text(block.text)?.into_owned())),
        "thinking" => Some(Block::Thinking(text(block.thinking)?.into_owned())),
        "toolCall" => Some(Block::Call(Call {
            id: string(block.id)?,
            name: string(block.name).unwrap_or_default(),
            input: input_of(block.arguments),
        })),
        "image" => Some(Block::Media(Media {
            media_type: string(block.media_type).unwrap_or_default(),
            data: string(block.data),
        })),
        _ => None,
    })
    .collect()
}

fn usage(raw: Option<&RawValue>) -> Option<Usage> {
    let tokens = Tokens::of(raw)?;
    let count = |raw| number(raw).unwrap_or_default();
    let cost = Cost::of(tokens.cost).and_then(|cost| cost.total?.get().parse().ok());
    Some(Usage {
        input: count(tokens.input),
        output: count(tokens.output),
        cache_read: count(tokens.cache_read),
        cache_write: count(tokens.cache_write),
        cost,
        ..Usage::default()
    })
}
