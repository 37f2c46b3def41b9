//! Claude Code: `~/.claude/projects/<directory>/<session>.jsonl`, and files of turnpipe itself.

use serde_json::value::RawValue;

use super::claude_content::{blocks, string, usage};
use super::format::{Format, Precedence, Shape, TitleSearch};
use super::node::{Key, Node, Part};
use super::title_rule::{Standing, TitleRecord};
use super::{Agent, Envelope, Facts, Title, TitleSource};
use crate::dialog::{Block, Message, Origin, Role, Thread, split_typed};
use crate::wire::object::{non_empty, non_null, object, text};

/// See the module.
#[derive(Debug)]
pub(super) struct Claude;

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
        sidechain = "isSidechain",
        meta = "isMeta",
        compact_summary = "isCompactSummary",
        api_error = "isApiErrorMessage",
        message = "message",
        content = "content",
        summary = "summary",
        custom_title = "customTitle",
        ai_title = "aiTitle",
        title_source = "titleSource",
        forked_from = "forkedFrom",
        attachment = "attachment",
        origin = "origin",
        error = "error",
        relocated = "relocatedCwd",
        turnpipe = "turnpipe",
    }
}

object! {
    Said {
        id = "id",
        model = "model",
        content = "content",
        usage = "usage",
    }
}

object! {
    Fork {
        session = "sessionId",
    }
}

object! {
    Attachment {
        kind = "type",
        prompt = "prompt",
        origin = "origin",
    }
}

object! {
    ApiError {
        message = "message",
        error = "error",
        status = "status",
    }
}

object! {
    Kinded {
        kind = "kind",
    }
}

object! {
    Extension {
        supersedes_manual = "supersedes_manual",
        prompt_id = "prompt_id",
        usage = "usage",
    }
}

/// Kinds of records that are known not to be said by anybody.
const SILENT_KINDS: [&str; 38] = [
    "agent-color",
    "agent-name",
    "agent-setting",
    "ai-title",
    "artifact-autoreact-ledger",
    "artifact-comment-monitor",
    "atis-latch",
    "attribution-snapshot",
    "bridge-session",
    "content-replacement",
    "custom-title",
    "file-history-delta",
    "file-history-snapshot",
    "fork-context-ref",
    "frame-link",
    "last-prompt",
    "marble-origami-commit",
    "marble-origami-snapshot",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "relocated",
    "result",
    "speculation-accept",
    "started",
    "summary",
    "tag",
    "task-summary",
    "worktree-state",
    "user",
    "assistant",
    "system",
    "attachment",
    "tool_use_summary",
    "title",
    "recap",
];

impl Format for Claude {
    fn agent(&self) -> Agent {
        Agent::Claude
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
        SILENT_KINDS.contains(&envelope.kind.as_str())
    }

    fn messages(&self, record: &str) -> Vec<Message> {
        let Some(row) = Row::read(record) else {
            return Vec::new();
        };
        let mut messages = match text(row.kind).as_deref() {
            Some("user") => user(&row),
            Some("assistant") => assistant(&row).into_iter().collect(),
            Some("system") => system(&row).into_iter().collect(),
            Some("attachment") => attachment(&row),
            Some("tool_use_summary") => non_empty(row.summary)
                .map(|label| note(Role::System, Origin::Label, label.into_owned()))
                .into_iter()
                .collect(),
            _ => Vec::new(),
        };
        for message in &mut messages {
            message.uuid = string(row.uuid);
            message.time = string(row.time);
            if let Some(extension) = Extension::of(row.turnpipe) {
                message.prompt_id = string(extension.prompt_id);
                // What a label or a recap cost.
                message.usage = message.usage.or_else(|| usage(extension.usage));
            }
            if is_true(row.sidechain) {
                message.thread = Thread::Subagent;
            }
        }
        messages
    }

    fn facts(&self, record: &str, facts: &mut Facts) {
        let Some(row) = Row::read(record) else {
            return;
        };
        if facts.session_id.is_none() {
            facts.session_id = string(row.session);
            facts.is_subagent = is_true(row.sidechain) && row.uuid.is_some();
        }
        facts.note_time(row.time);
        if !is_true(row.sidechain) && text(row.kind).as_deref() == Some("assistant") {
            facts.note_model(Said::of(row.message).and_then(|said| model(&said)));
        }
        facts.note_cwd(string(row.relocated).or_else(|| string(row.cwd)));
        if let Some(branch) = string(row.branch) {
            facts.branch = Some(branch);
        }
        if facts.forked_from.is_none() {
            facts.forked_from = Fork::of(row.forked_from)
                .and_then(|fork| string(fork.session))
                .filter(|parent| Some(parent) != facts.session_id.as_ref());
        }
    }

    fn title_search(&self) -> TitleSearch {
        TitleSearch {
            needle: "-title\"",
            precedence: Precedence::Manual,
        }
    }

    fn title(&self, record: &str) -> Option<TitleRecord> {
        let row = Row::read(record)?;
        let (title, source) = match text(row.kind)?.as_ref() {
            "custom-title" => {
                let source = match text(row.title_source).as_deref() {
                    Some("auto") => TitleSource::Auto,
                    _ => TitleSource::Manual,
                };
                (text(row.custom_title)?, source)
            }
            "ai-title" => (text(row.ai_title)?, TitleSource::Auto),
            _ => return None,
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
        let mut part = match text(row.kind)?.as_ref() {
            "user" | "assistant" => Part::Turn,
            // A recap is the last thing in a file until somebody goes on.
            "system"
                if matches!(
                    text(row.subtype).as_deref(),
                    Some("compact_boundary" | "away_summary")
                ) =>
            {
                Part::Step
            }
            _ => Part::Aside,
        };
        if is_true(row.sidechain) {
            part = Part::Side;
        }
        let id = Key::of(&non_empty(row.uuid)?);
        let said = Said::of(row.message).unwrap_or_default();
        let content = match part {
            Part::Turn => blocks(said.content),
            Part::Step | Part::Aside | Part::Side => Vec::new(),
        };
        let calls = content.iter().filter_map(|block| match block {
            Block::Call(call) => Some(Key::of(&call.id)),
            _ => None,
        });
        let answers = content.iter().filter_map(|block| match block {
            Block::Result(result) => Some(Key::of(&result.id)),
            _ => None,
        });
        Some(Node {
            id,
            parent: non_empty(row.parent).map(|parent| Key::of(&parent)),
            part,
            message: non_empty(said.id).map(|id| Key::of(&id)),
            calls: calls.collect(),
            answers: answers.collect(),
        })
    }
}

/// Whether a title record says that a person asked for it.
pub(super) fn standing(turnpipe: Option<&RawValue>) -> Standing {
    let extension = Extension::of(turnpipe).unwrap_or_default();
    if is_true(extension.supersedes_manual) {
        Standing::OnRequest
    } else {
        Standing::Ordinary
    }
}

pub(super) fn is_true(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| raw.get() == "true")
}

/// A message of one text.
pub(super) fn note(role: Role, origin: Origin, text: String) -> Message {
    Message {
        blocks: vec![Block::Text(text)],
        ..Message::new(role, origin)
    }
}

fn user(row: &Row<'_>) -> Vec<Message> {
    let Some(said) = Said::of(row.message) else {
        return Vec::new();
    };
    let origin = if is_true(row.compact_summary) {
        Origin::Summary
    } else if is_true(row.meta) || !is_by_a_person(row.origin) {
        Origin::Injected
    } else {
        Origin::Prompt
    };
    user_messages(origin, blocks(said.content))
}

/// Whether an origin is missing, or a person.
fn is_by_a_person(origin: Option<&RawValue>) -> bool {
    let kind = Kinded::of(origin).and_then(|origin| string(origin.kind));
    kind.is_none_or(|kind| kind == "human")
}

/// The messages in a row of a user, each with blocks of one origin: results, what the agent put in,
/// and what a person typed.
pub(super) fn user_messages(origin: Origin, content: Vec<Block>) -> Vec<Message> {
    let message = |origin, blocks| Message {
        blocks,
        ..Message::new(Role::User, origin)
    };
    if content.is_empty() {
        return vec![message(origin, content)];
    }
    let is_result = |block: &Block| matches!(block, Block::Result(_));
    let is_text = |block: &Block| matches!(block, Block::Text(_));
    let (mut results, mut rest): (Vec<_>, Vec<_>) = content.into_iter().partition(is_result);
    if !results.is_empty() && !rest.iter().any(is_text) {
        results.append(&mut rest);
    }
    let (injected, own) = match origin {
        Origin::Prompt => split_typed(rest),
        _ => (Vec::new(), rest),
    };
    let parts = [
        (Origin::Results, results),
        (Origin::Injected, injected),
        (origin, own),
    ];
    let messages = parts.into_iter().filter(|(_, blocks)| !blocks.is_empty());
    messages
        .map(|(origin, blocks)| message(origin, blocks))
        .collect()
}

/// The model that speaks, if it is one.
fn model(said: &Said<'_>) -> Option<String> {
    string(said.model).filter(|model| model != "<synthetic>")
}

fn assistant(row: &Row<'_>) -> Option<Message> {
    let said = Said::of(row.message)?;
    let origin = if is_true(row.api_error) {
        Origin::Error
    } else {
        Origin::Reply
    };
    let model = model(&said);
    Some(Message {
        id: string(said.id),
        usage: model.is_some().then(|| usage(said.usage)).flatten(),
        model,
        blocks: blocks(said.content),
        ..Message::new(Role::Assistant, origin)
    })
}

fn system(row: &Row<'_>) -> Option<Message> {
    let content = string(row.content).unwrap_or_default();
    let (origin, content) = match text(row.subtype)?.as_ref() {
        "compact_boundary" => (Origin::Compaction, content),
        "away_summary" => (Origin::Recap, content),
        "api_error" | "error" | "api_refusal" => {
            let told = (!content.is_empty()).then_some(content);
            (Origin::Error, told.unwrap_or_else(|| api_error(row.error)))
        }
        _ => return None,
    };
    Some(note(Role::System, origin, content))
}

/// What an error of the API says, in whichever of its layers.
fn api_error(raw: Option<&RawValue>) -> String {
    if let Some(told) = string(raw) {
        return told;
    }
    let Some(error) = ApiError::of(raw) else {
        return String::new();
    };
    if let Some(told) = string(error.message) {
        return told;
    }
    match non_null(error.error) {
        Some(inner) => api_error(Some(inner)),
        None => non_null(error.status).map_or_else(String::new, |status| status.get().to_owned()),
    }
}

/// What was typed while the model was at work.
fn attachment(row: &Row<'_>) -> Vec<Message> {
    let attachment = Attachment::of(row.attachment).unwrap_or_default();
    let content = blocks(attachment.prompt);
    if content.is_empty() || text(attachment.kind).as_deref() != Some("queued_command") {
        return Vec::new();
    }
    let origin = if is_by_a_person(attachment.origin) {
        Origin::Prompt
    } else {
        Origin::Injected
    };
    user_messages(origin, content)
}
