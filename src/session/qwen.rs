//! Qwen Code: `~/.qwen/projects/<directory>/chats/<session>.jsonl`.

use serde_json::value::RawValue;

use super::claude::{note, standing};
use super::claude_content::string;
use super::format::{Format, Precedence, Shape, TitleSearch};
use super::gemini_parts::{blocks, usage};
use super::node::{Key, Node, Part};
use super::title_rule::TitleRecord;
use super::{Agent, Envelope, Facts, Title, TitleSource};
use crate::dialog::{Block, Message, Origin, Role, Thread};
use crate::wire::object::{non_empty, object, text};

/// See the module.
#[derive(Debug)]
pub(super) struct Qwen;

object! {
    Row {
        kind = "type",
        subtype = "subtype",
        uuid = "uuid",
        parent = "parentUuid",
        session = "sessionId",
        time = "timestamp",
        cwd = "cwd",
        branch = "gitBranch",
        model = "model",
        message = "message",
        usage = "usageMetadata",
        call_result = "toolCallResult",
        payload = "systemPayload",
        custom_title = "customTitle",
        title_source = "titleSource",
        forked_from = "forkedFrom",
        sidechain = "isSidechain",
        turnpipe = "turnpipe",
    }
}

object! {
    Said {
        parts = "parts",
    }
}

object! {
    CallStatus {
        status = "status",
    }
}

object! {
    Payload {
        custom_title = "customTitle",
        title_source = "titleSource",
        display = "displayText",
        items = "outputHistoryItems",
        parent_session = "parentSessionId",
    }
}

object! {
    HistoryItem {
        kind = "type",
        text = "text",
    }
}

object! {
    Fork {
        session = "sessionId",
    }
}

/// Subtypes of system records that never are the end of a branch.
const ASIDES: [&str; 6] = [
    "session_artifact_event",
    "session_artifact_snapshot",
    "session_sources_snapshot",
    "managed_session_header_v1",
    "managed_session_event_v1",
    "managed_session_commit_v1",
];

/// Other subtypes that are known.
const SUBTYPES: [&str; 32] = [
    "agent_bootstrap",
    "agent_launch_prompt",
    "agent_retry",
    "agent_session_ready",
    "at_command",
    "attribution_snapshot",
    "background_task_completed",
    "branch_checkpoint",
    "chat_compression",
    "cron",
    "custom_title",
    "file_history_snapshot",
    "goal_runtime",
    "goal_state",
    "goal_turn_end",
    "mid_turn_user_message",
    "notification",
    "omni_recall",
    "parent_session",
    "realtime_message",
    "rewind",
    "session_model",
    "session_source",
    "slash_command",
    "turn_result",
    "ui_telemetry",
    "user_text_elements",
    "managed_session_header_v1",
    "managed_session_event_v1",
    "managed_session_commit_v1",
    "session_artifact_event",
    "session_artifact_snapshot",
];

/// What hooks put into a prompt.
const HOOK_CONTEXT: &str = "<qwen:user-prompt-submit-context>";

impl Format for Qwen {
    fn agent(&self) -> Agent {
        Agent::Qwen
    }

    fn shape(&self) -> Shape {
        Shape::Tree
    }

    fn envelope(&self, record: &str) -> Envelope {
        let row = Row::read(record).unwrap_or_default();
        Envelope {
            kind: string(row.kind).unwrap_or_default(),
            subtype: string(row.subtype),
            uuid: string(row.uuid),
            parent: string(row.parent),
            time: string(row.time),
        }
    }

    fn knows(&self, envelope: &Envelope) -> bool {
        let kinds = ["user", "assistant", "tool_result", "system"];
        let known = |subtype: &str| SUBTYPES.contains(&subtype) || ASIDES.contains(&subtype);
        kinds.contains(&envelope.kind.as_str()) && envelope.subtype.as_deref().is_none_or(known)
    }

    fn messages(&self, record: &str) -> Vec<Message> {
        let Some(row) = Row::read(record) else {
            return Vec::new();
        };
        let message = match text(row.kind).as_deref() {
            Some("user") => user(&row),
            Some("assistant") => assistant(&row),
            Some("tool_result") => tool_result(&row),
            Some("system") => system(&row),
            _ => None,
        };
        let Some(mut message) = message else {
            return Vec::new();
        };
        message.uuid = string(row.uuid);
        message.time = string(row.time);
        if super::claude::is_true(row.sidechain) {
            message.thread = Thread::Subagent;
        }
        vec![message]
    }

    fn facts(&self, record: &str, facts: &mut Facts) {
        let Some(row) = Row::read(record) else {
            return;
        };
        if facts.session_id.is_none() {
            facts.session_id = string(row.session);
            facts.is_subagent = super::claude::is_true(row.sidechain);
        }
        facts.note_time(row.time);
        facts.note_cwd(string(row.cwd));
        let is_side = super::claude::is_true(row.sidechain);
        if !is_side && text(row.kind).as_deref() == Some("assistant") {
            facts.note_model(string(row.model));
        }
        if let Some(branch) = string(row.branch) {
            facts.branch = Some(branch);
        }
        if facts.forked_from.is_none() {
            let payload = Payload::of(row.payload).unwrap_or_default();
            facts.forked_from = Fork::of(row.forked_from)
                .and_then(|fork| string(fork.session))
                .or_else(|| string(payload.parent_session));
        }
    }

    fn title_search(&self) -> TitleSearch {
        TitleSearch {
            needle: "\"custom_title\"",
            precedence: Precedence::Later,
        }
    }

    fn title(&self, record: &str) -> Option<TitleRecord> {
        let row = Row::read(record)?;
        let is_system = text(row.kind).is_none_or(|kind| kind == "system");
        if !is_system || text(row.subtype)? != "custom_title" {
            return None;
        }
        let payload = Payload::of(row.payload).unwrap_or_default();
        let (title, source) = match text(payload.custom_title) {
            Some(title) => (title, payload.title_source),
            None => (text(row.custom_title)?, row.title_source),
        };
        let source = match text(source).as_deref() {
            Some("auto") => TitleSource::Auto,
            _ => TitleSource::Manual,
        };
        Some(TitleRecord {
            title: Title {
                text: title.into_owned(),
                source,
            },
            time: text(row.time).and_then(|time| time.parse().ok()),
            standing: standing(row.turnpipe),
        })
    }

    fn node(&self, record: &str) -> Option<Node> {
        let row = Row::read(record)?;
        let subtype = text(row.subtype);
        let part = match (text(row.kind)?.as_ref(), subtype.as_deref()) {
            ("system", Some(subtype)) if ASIDES.contains(&subtype) => Part::Aside,
            ("system", _) => Part::Step,
            ("user" | "assistant" | "tool_result", _) => Part::Turn,
            _ => Part::Aside,
        };
        let id = Key::of(&non_empty(row.uuid)?);
        Some(Node {
            id,
            parent: non_empty(row.parent).map(|parent| Key::of(&parent)),
            part,
            message: None,
            calls: Vec::new(),
            answers: Vec::new(),
        })
    }
}

fn parts(raw: Option<&RawValue>) -> Vec<Block> {
    let said = Said::of(raw).unwrap_or_default();
    blocks(said.parts)
}

fn user(row: &Row<'_>) -> Option<Message> {
    row.message?;
    let payload = Payload::of(row.payload).unwrap_or_default();
    let mut origin = match text(row.subtype).as_deref() {
        None | Some("mid_turn_user_message" | "realtime_message") => Origin::Prompt,
        Some(_) => Origin::Injected,
    };
    let mut content = parts(row.message);
    content.retain(|block| match block {
        Block::Text(text) => !text.starts_with(HOOK_CONTEXT),
        _ => true,
    });
    match text(payload.display) {
        // Nothing is displayed: the agent speaks.
        Some(display) if display.is_empty() => origin = Origin::Injected,
        Some(display) if origin == Origin::Prompt => {
            content.retain(|block| !matches!(block, Block::Text(_)));
            content.insert(0, Block::Text(display.into_owned()));
        }
        _ => {}
    }
    Some(Message {
        blocks: content,
        ..Message::new(Role::User, origin)
    })
}

fn assistant(row: &Row<'_>) -> Option<Message> {
    row.message?;
    Some(Message {
        // A streamed reply may be recorded again under the same id.
        id: string(row.uuid),
        model: string(row.model),
        usage: usage(row.usage),
        blocks: parts(row.message),
        ..Message::new(Role::Assistant, Origin::Reply)
    })
}

fn tool_result(row: &Row<'_>) -> Option<Message> {
    row.message?;
    let mut content = parts(row.message);
    let status = CallStatus::of(row.call_result).and_then(|result| string(result.status));
    for block in &mut content {
        if let Block::Result(result) = block {
            result.failed |= status.as_deref().is_some_and(|status| status != "success");
        }
    }
    Some(Message {
        blocks: content,
        ..Message::new(Role::User, Origin::Results)
    })
}

fn system(row: &Row<'_>) -> Option<Message> {
    match text(row.subtype)?.as_ref() {
        "chat_compression" => Some(note(Role::System, Origin::Compaction, String::new())),
        "slash_command" => {
            let payload = Payload::of(row.payload)?;
            let items = HistoryItem::list(payload.items).into_iter();
            let recap = items
                .filter(|item| text(item.kind).as_deref() == Some("away_recap"))
                .find_map(|item| string(item.text))?;
            Some(note(Role::System, Origin::Recap, recap))
        }
        _ => None,
    }
}
