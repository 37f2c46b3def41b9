//! Codex CLI: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`; the newer form with a `payload` and
//! the old bare one.

use serde_json::value::RawValue;

use super::claude::note;
use super::claude_content::string;
use super::codex_item::{Item, content, item_messages};
use super::format::{Format, Precedence, Shape, TitleSearch};
use super::title_rule::{Standing, TitleRecord};
use super::{Agent, Envelope, Facts, History, Title, TitleSource};
use crate::dialog::{Block, Message, Origin, Role, Usage};
use crate::wire::object::{non_null, number, object, text};

/// See the module.
#[derive(Debug)]
pub(super) struct Codex;

object! {
    Row {
        kind = "type",
        time = "timestamp",
        payload = "payload",
        id = "id",
        git = "git",
        record_type = "record_type",
        instructions = "instructions",
    }
}

object! {
    Payload {
        kind = "type",
        id = "id",
        cwd = "cwd",
        git = "git",
        model = "model",
        forked_from = "forked_from_id",
        parent_thread = "parent_thread_id",
        base = "history_base",
        message = "message",
        text = "text",
        error = "error",
        item = "item",
        info = "info",
        usage = "thread_token_usage",
        thread_name = "thread_name",
        summary = "summary",
        timestamp = "timestamp",
        settings = "thread_settings",
        name = "name",
    }
}

object! {
    Base {
        thread = "thread_id",
        end = "end_byte_offset",
    }
}

object! {
    Git {
        branch = "branch",
    }
}

object! {
    CompletedItem {
        kind = "type",
        content = "content",
    }
}

object! {
    Info {
        total = "total_token_usage",
    }
}

object! {
    Tokens {
        input = "input_tokens",
        cached = "cached_input_tokens",
        cache_write = "cache_write_input_tokens",
        output = "output_tokens",
        reasoning = "reasoning_output_tokens",
    }
}

/// Types of rows, and of the bare items of old files.
const KINDS: [&str; 19] = [
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
    "token_usage_record",
    "world_state",
    "inter_agent_communication_metadata",
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "local_shell_call_output",
    "web_search_call",
    "state",
    "header",
];

impl Format for Codex {
    fn agent(&self) -> Agent {
        Agent::Codex
    }

    fn shape(&self) -> Shape {
        Shape::Sequence
    }

    fn envelope(&self, record: &str) -> Envelope {
        let row = Row::read(record).unwrap_or_default();
        let payload = Payload::of(row.payload).unwrap_or_default();
        let old_head = row.instructions.is_some().then(|| "header".to_owned());
        let kind = string(row.kind)
            .or_else(|| string(row.record_type))
            .or(old_head);
        let subtype = match CompletedItem::of(payload.item) {
            Some(item) => string(item.kind),
            None => string(payload.kind),
        };
        Envelope {
            kind: kind.unwrap_or_default(),
            subtype,
            uuid: None,
            parent: None,
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
        let message = match (text(row.kind).as_deref(), row.payload) {
            (Some("response_item"), payload) => {
                let item = Item::of(payload).unwrap_or_default();
                return stamped_all(item_messages(&item), &row);
            }
            (Some("compacted"), Some(payload)) => {
                let payload = Payload::of(Some(payload)).unwrap_or_default();
                let told = string(payload.message).unwrap_or_default();
                Some(note(Role::System, Origin::Compaction, told))
            }
            (Some("event_msg"), Some(payload)) => {
                Payload::of(Some(payload)).and_then(|payload| event(&payload))
            }
            (Some("token_usage_record"), Some(payload)) => {
                Payload::of(Some(payload)).and_then(|payload| meter(payload.usage))
            }
            (Some(_), None) => {
                let item = Item::read(record).unwrap_or_default();
                return stamped_all(item_messages(&item), &row);
            }
            _ => None,
        };
        message
            .map(|message| stamped(message, &row))
            .into_iter()
            .collect()
    }

    fn echoes(&self, record: &str) -> Vec<Message> {
        let Some(row) = Row::read(record) else {
            return Vec::new();
        };
        if text(row.kind).as_deref() != Some("event_msg") {
            return Vec::new();
        }
        let message = Payload::of(row.payload).and_then(|payload| echo(&payload));
        message
            .map(|message| stamped(message, &row))
            .into_iter()
            .collect()
    }

    fn facts(&self, record: &str, facts: &mut Facts) {
        let Some(row) = Row::read(record) else {
            return;
        };
        facts.note_time(row.time);
        let payload = Payload::of(row.payload).unwrap_or_default();
        match text(row.kind).as_deref() {
            Some("session_meta") => {
                // A resumed or forked file holds several; the first is its own.
                if facts.session_id.is_some() {
                    return;
                }
                facts.session_id = string(payload.id);
                facts.note_cwd(string(payload.cwd));
                facts.branch = branch(payload.git);
                facts.is_subagent = payload.parent_thread.is_some_and(|raw| raw.get() != "null");
                facts.forked_from =
                    string(payload.forked_from).or_else(|| string(payload.parent_thread));
                facts.history = Base::of(payload.base).and_then(|base| {
                    Some(History {
                        session_id: string(base.thread)?,
                        end: number(base.end)?,
                    })
                });
                facts.note_time(payload.timestamp);
            }
            Some("turn_context") => {
                facts.note_cwd(string(payload.cwd));
                facts.note_model(string(payload.model));
            }
            None if row.instructions.is_some() && facts.session_id.is_none() => {
                facts.session_id = string(row.id);
                facts.branch = branch(row.git);
            }
            _ => {}
        }
    }

    fn title_search(&self) -> TitleSearch {
        TitleSearch {
            needle: "\"thread_name_updated\"",
            precedence: Precedence::Later,
        }
    }

    fn title(&self, record: &str) -> Option<TitleRecord> {
        let row = Row::read(record)?;
        let payload = Payload::of(row.payload)?;
        if text(row.kind)? != "event_msg" || text(payload.kind)? != "thread_name_updated" {
            return None;
        }
        let name = text(payload.thread_name).or_else(|| text(payload.name))?;
        Some(TitleRecord {
            title: Title {
                text: name.into_owned(),
                source: TitleSource::Manual,
            },
            time: text(row.time).and_then(|time| time.parse().ok()),
            standing: Standing::Ordinary,
        })
    }
}

fn branch(git: Option<&RawValue>) -> Option<String> {
    Git::of(git).and_then(|git| string(git.branch))
}

fn stamped_all(messages: Vec<Message>, row: &Row<'_>) -> Vec<Message> {
    let messages = messages.into_iter();
    messages.map(|message| stamped(message, row)).collect()
}

fn stamped(message: Message, row: &Row<'_>) -> Message {
    Message {
        time: string(row.time),
        ..message
    }
}

fn event(payload: &Payload<'_>) -> Option<Message> {
    match text(payload.kind)?.as_ref() {
        "token_count" => meter(Info::of(payload.info)?.total),
        "error" | "stream_error" => {
            let told = string(payload.message).or_else(|| string(payload.error));
            Some(note(Role::System, Origin::Error, told.unwrap_or_default()))
        }
        _ => None,
    }
}

/// What is said again in `response_item` rows, as a rule.
fn echo(payload: &Payload<'_>) -> Option<Message> {
    let spoken = |role, origin, told: Option<&RawValue>| Some(note(role, origin, string(told)?));
    match text(payload.kind)?.as_ref() {
        "user_message" => spoken(Role::User, Origin::Prompt, payload.message),
        "agent_message" => spoken(Role::Assistant, Origin::Reply, payload.message),
        "context_compacted" => Some(note(Role::System, Origin::Compaction, String::new())),
        "item_completed" => {
            let item = CompletedItem::of(payload.item)?;
            let (role, origin) = match text(item.kind)?.as_ref() {
                "UserMessage" => (Role::User, Origin::Prompt),
                "AgentMessage" => (Role::Assistant, Origin::Reply),
                "ContextCompaction" => (Role::System, Origin::Compaction),
                _ => return None,
            };
            let blocks: Vec<Block> = content(item.content);
            Some(Message {
                blocks,
                ..Message::new(role, origin)
            })
        }
        _ => None,
    }
}

/// A reading of the token meter. What comes from a cache is a part of the input.
fn meter(raw: Option<&RawValue>) -> Option<Message> {
    let tokens = Tokens::of(non_null(raw))?;
    let count = |raw| number(raw).unwrap_or_default();
    let (cache_read, cache_write) = (count(tokens.cached), count(tokens.cache_write));
    Some(Message {
        usage: Some(Usage {
            input: count(tokens.input).saturating_sub(cache_read),
            output: count(tokens.output),
            cache_read,
            cache_write,
            thinking: count(tokens.reasoning),
            cost: None,
        }),
        ..Message::new(Role::System, Origin::Meter)
    })
}
