//! Qwen Code: `~/.qwen/projects/<directory>/chats/<session>.jsonl`.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::agent::Agent;
use super::content::{
    is_in, is_true, new_reply, new_results, new_text, read_gemini_blocks, read_uuid_link,
    session_stem, sibling_path, split_user, string,
};
use super::counting::{IdScope, Repeats, SideCost, TokenCounting};
use super::entry::{Entry, Part};
use super::facts::{Facts, SubagentFacts};
use super::format::Format;
use super::gemini_edits::read_edits;
use super::layout::{Layout, SubagentFiles, Subagents, has_name_prefix, parse_subagent_id};
use super::own_record::{read_manual_title, read_side_cost, read_title_source};
use super::reading::{Detail, Reading, Shape};
use super::sign::Row as Marks;
use super::title::StoredTitle;
use super::title_format::{NewRecord, TitleFormat, TitleStore};
use crate::agent::hook_settings::{HookSettings, HookShell};
use crate::api::{GeminiTokens, Signed, read_gemini_usage, sum_gemini_usage};
use turnpipe_core::json::{has_text, object, text};
use turnpipe_core::message::{Block, Message, Origin, Role};

/// The format of Qwen Code.
pub(super) static QWEN: Format = Format {
    reading: Reading {
        shape: Shape::Tree,
        cost_words: &[
            "\"assistant\"",
            "\"qwen-code.api_response\"",
            "\"turnpipe\"",
        ],
        read_link: read_uuid_link,
        read_edits: |record, _| read_edits(record),
        ..Reading::SEQUENCE
    },
    counting: TokenCounting {
        ids: IdScope::Global,
        ..TokenCounting::REPLIES
    },
    layout: Layout {
        home_variables: HOME,
        home: ".qwen",
        session_dirs: &["projects"],
        subagents: Subagents::Files(SubagentFiles {
            directory: subagent_dir,
            is_file: |path| has_name_prefix(path, "agent-"),
            id: parse_subagent_id,
            is_reserved: true,
        }),
        belongings: |session, _| {
            let endings = [
                ".worktree.json",
                ".pr.json",
                ".ledger.jsonl",
                ".runtime.json",
            ];
            let files = endings.map(|ending| sibling_path(session, ending));
            let subagents = subagent_dir(session);
            files.into_iter().chain([subagents]).flatten().collect()
        },
        resume: |id, _| Some(format!("qwen --resume {id}")),
        ..Layout::NONE
    },
    titles: TitleFormat {
        words: &["\"custom_title\""],
        store: TitleStore::SessionFile,
        // The session picker reads only the end of a file.
        distance: Some(32 * 1024),
        new_title: Some(|at, title, _| {
            let payload = json!({"customTitle": title.text, "titleSource": title.source.name()});
            new_system_record(at, "custom_title", &payload)
        }),
        new_recap: Some(|at, recap| {
            let payload = json!({
                "phase": "result",
                "rawCommand": "/recap",
                "outputHistoryItems": [{"type": "away_recap", "text": recap}],
            });
            new_system_record(at, "slash_command", &payload)
        }),
        ..TitleFormat::NONE
    },
    hook_settings: Some(HookSettings {
        // PermissionRequest avoids the question that precedes PreToolUse.
        hooks: &[
            ("PreToolUse", "pre-tool-use"),
            ("PermissionRequest", "permission-request"),
        ],
        // Qwen Code documents seconds, and waits for milliseconds.
        timeout: 10_000,
        user: (&["QWEN_HOME"], ".qwen"),
        project: ".qwen/settings.json",
        takes_sandbox: true,
        activation: "new sessions use it; `/hooks` lists it",
        shell: HookShell::Bash,
        project_variables: &[
            "QWEN_PROJECT_DIR",
            "GEMINI_PROJECT_DIR",
            "CLAUDE_PROJECT_DIR",
        ],
        ..HookSettings::JSON
    }),
    ..Format::new(Agent::Qwen, read, has_marks)
};

fn subagent_dir(session: &Path) -> Option<PathBuf> {
    let dir = session.parent()?.parent()?.join("subagents");
    Some(dir.join(session_stem(session)?))
}

const HOME: &[&str] = &["QWEN_RUNTIME_DIR", "QWEN_HOME"];

object! {
    Row {
        kind = "type", subtype, uuid, parent = "parentUuid", session = "sessionId",
        time = "timestamp", cwd, branch = "gitBranch", model, message, usage = "usageMetadata",
        call_result = "toolCallResult", payload = "systemPayload", custom_title = "customTitle",
        title_source = "titleSource", forked_from = "forkedFrom", sidechain = "isSidechain",
        turnpipe, agent_name = "agentName",
    }
}

object! { MessageFields { parts } }
object! { CallStatus { status } }

object! {
    Payload {
        custom_title = "customTitle", title_source = "titleSource", display = "displayText",
        items = "outputHistoryItems", parent_session = "parentSessionId", event: Event<'a> = "uiEvent",
    }
}

object! {
    Event {
        name = "event.name", response = "response_id", model, prompt = "prompt_id", input = "input_token_count",
        output = "output_token_count", cached = "cached_content_token_count",
        thoughts = "thoughts_token_count", total = "total_token_count", subagent = "subagent_id",
        subagent_type,
    }
}

object! { HistoryItem { kind = "type", text } }
object! { Fork { session = "sessionId" } }

/// Known record types.
const KINDS: &str = "user assistant tool_result system";

/// Subtypes of system records at which no branch ends.
const ASIDES: &str = "session_artifact_event session_artifact_snapshot session_sources_snapshot \
    managed_session_header_v1 managed_session_event_v1 managed_session_commit_v1";

/// Other known subtypes.
const SUBTYPES: &str = "agent_bootstrap agent_launch_prompt agent_retry agent_session_ready \
    at_command attribution_snapshot background_task_completed branch_checkpoint chat_compression \
    cron custom_title file_history_snapshot goal_runtime goal_state goal_turn_end \
    mid_turn_user_message notification omni_recall parent_session realtime_message rewind \
    session_model session_source slash_command turn_result ui_telemetry user_text_elements";

/// The prefix of text that hooks add to a prompt.
const HOOK_CONTEXT: &str = "<qwen:user-prompt-submit-context>";

fn has_marks(row: &Marks<'_>) -> bool {
    let has_parts = row.message.is_some_and(|message| message.parts.is_some());
    row.system_payload.is_some() || row.uuid.is_some() && (row.provenance.is_some() || has_parts)
}

/// Creates a system record.
fn new_system_record(at: &NewRecord<'_>, subtype: &str, payload: &Value) -> Value {
    json!({
        "uuid": at.uuid,
        "parentUuid": at.parent,
        "sessionId": at.session_id,
        "timestamp": at.timestamp,
        "type": "system",
        "subtype": subtype,
        "cwd": at.directory,
        "version": env!("CARGO_PKG_VERSION"),
        "systemPayload": payload,
    })
}

fn read(record: &str, detail: Detail) -> Option<Entry> {
    let row = Row::read(record)?;
    let payload = Payload::from_raw(row.payload).unwrap_or_default();
    let kind = string(row.kind).unwrap_or_default();
    let subtype = string(row.subtype);
    let is_aside = |subtype: &str| is_in(ASIDES, subtype);
    let is_known = |subtype: &str| is_aside(subtype) || is_in(SUBTYPES, subtype);
    let entry = Entry {
        is_known: is_in(KINDS, &kind) && subtype.as_deref().is_none_or(is_known),
        uuid: string(row.uuid),
        parent: string(row.parent),
        part: match (kind.as_str(), subtype.as_deref()) {
            _ if is_true(row.sidechain) => Part::Side,
            ("system", Some(subtype)) if is_aside(subtype) => Part::Aside,
            ("system", _) => Part::Step,
            ("user" | "assistant" | "tool_result", _) => Part::Turn,
            _ => Part::Aside,
        },
        time: string(row.time),
        facts: read_facts(&row, &kind, &payload),
        is_annotation: find_recap(&payload).is_some() || subtype.as_deref() == Some("custom_title"),
        title: read_title(&row, &kind, &payload),
        subagent: payload.event.and_then(|event| string(event.subagent)),
        kind,
        subtype,
        ..Entry::default()
    };
    if detail == Detail::Outline {
        return Some(entry);
    }
    let message = read_turn(&row, &entry, &payload, detail);
    let mut entry = entry.with_messages(message);
    entry.side_cost = read_side_cost(row.turnpipe, &entry.messages).or_else(|| read_cost(&payload));
    Some(entry)
}

/// Returns the tokens of a response. Replies repeat all of them but those of requests that the agent makes for itself.
fn read_cost(payload: &Payload<'_>) -> Option<SideCost> {
    let event = payload
        .event
        .filter(|event| has_text(event.name, "qwen-code.api_response"))?;
    Some(SideCost {
        id: string(event.response),
        repeats: Repeats::AnyReply,
        prompt_id: parse_purpose(&text(event.prompt)?),
        model: string(event.model),
        usage: sum_gemini_usage(GeminiTokens {
            prompt: event.input,
            candidates: event.output,
            cached: event.cached,
            thoughts: event.thoughts,
            total: event.total,
        }),
    })
}

/// Returns the purpose of a request, which its prompt id states unless it continues the conversation:
/// `SESSION#AGENT-ID#NUMBER` or `compress-TIME`.
fn parse_purpose(prompt: &str) -> Option<String> {
    let (name, _) = match prompt.split_once('#') {
        Some((_, name)) => name.split_once('#')?,
        None => (prompt, ""),
    };
    let (name, _) = name.rsplit_once('-')?;
    Some(name.to_owned())
}

fn read_facts(row: &Row<'_>, kind: &str, payload: &Payload<'_>) -> Facts {
    let is_subagent = is_true(row.sidechain);
    let is_reply = !is_subagent && kind == "assistant";
    let fork = Fork::from_raw(row.forked_from).and_then(|fork| string(fork.session));
    Facts {
        session_id: string(row.session),
        is_subagent,
        subagent: SubagentFacts::from_type(
            string(row.agent_name)
                .filter(|_| is_subagent)
                .or_else(|| string(payload.event?.subagent_type)),
        ),
        branch: string(row.branch),
        model: string(row.model).filter(|_| is_reply),
        forked_from: fork.or_else(|| string(payload.parent_session)),
        ..Facts::from_time(row.time)
    }
    .with_directory(string(row.cwd))
}

fn read_title(row: &Row<'_>, kind: &str, payload: &Payload<'_>) -> Option<StoredTitle> {
    if !matches!(kind, "system" | "") || text(row.subtype)? != "custom_title" {
        return None;
    }
    let (title, source) = match text(payload.custom_title) {
        Some(title) => (title, payload.title_source),
        None => (text(row.custom_title)?, row.title_source),
    };
    Some(StoredTitle::new(
        title,
        read_title_source(source),
        row.time,
        read_manual_title(row.turnpipe),
    ))
}

fn read_turn(row: &Row<'_>, entry: &Entry, payload: &Payload<'_>, detail: Detail) -> Vec<Message> {
    let subtype = entry.subtype.as_deref();
    if entry.kind == "system" {
        return read_system(subtype, payload).into_iter().collect();
    }
    if row.message.is_none() {
        return Vec::new();
    }
    let fields = MessageFields::from_raw(row.message).unwrap_or_default();
    let parts = fields.parts.filter(|_| detail != Detail::Costs);
    let content = read_gemini_blocks(parts, Signed::Thoughts);
    match entry.kind.as_str() {
        "user" => read_user(subtype, payload, content),
        "assistant" => vec![Message {
            // A streamed reply may be recorded again with the same id.
            id: string(row.uuid),
            model: string(row.model),
            usage: read_gemini_usage(row.usage),
            ..new_reply(content)
        }],
        "tool_result" => vec![read_results(row, content)],
        _ => Vec::new(),
    }
}

fn read_user(
    subtype: Option<&str>,
    payload: &Payload<'_>,
    mut content: Vec<Block>,
) -> Vec<Message> {
    // The agent also hides text that hooks add to a prompt.
    content.retain(|block| !matches!(block, Block::Text(text) if text.starts_with(HOOK_CONTEXT)));
    let mut origin = match subtype {
        None | Some("mid_turn_user_message" | "realtime_message") => Origin::Prompt,
        Some(_) => Origin::Injected,
    };
    match text(payload.display) {
        // A hidden notice for the model.
        Some(display) if display.is_empty() => origin = Origin::Injected,
        Some(display) if origin == Origin::Prompt => {
            content.retain(|block| !matches!(block, Block::Text(_)));
            content.insert(0, Block::Text(display.into_owned()));
        }
        _ => {}
    }
    split_user(origin, content)
}

fn read_results(row: &Row<'_>, mut content: Vec<Block>) -> Message {
    let status = CallStatus::from_raw(row.call_result).and_then(|result| string(result.status));
    for block in &mut content {
        if let Block::Result(result) = block {
            result.failed |= status.as_deref().is_some_and(|status| status != "success");
        }
    }
    new_results(content)
}

fn read_system(subtype: Option<&str>, payload: &Payload<'_>) -> Option<Message> {
    match subtype? {
        "chat_compression" => Some(new_text(Role::System, Origin::Compaction, String::new())),
        "slash_command" => Some(new_text(Role::System, Origin::Recap, find_recap(payload)?)),
        _ => None,
    }
}

/// Returns the recap in the output of a command.
fn find_recap(payload: &Payload<'_>) -> Option<String> {
    let mut items = HistoryItem::read_list(payload.items).into_iter();
    items.find_map(|item| {
        let is_recap = text(item.kind).as_deref() == Some("away_recap");
        string(item.text).filter(|_| is_recap)
    })
}
