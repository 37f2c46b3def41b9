//! Codex CLI: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`. Newer files wrap each item in a
//! `payload`; older files have bare items.

use serde_json::json;
use serde_json::value::RawValue;

use super::Agent;
use super::codex_item::{Payload, read_content, read_edits, read_hosted_call, read_item};
use super::codex_names::{NAMES, SESSION_DIRS};
use super::content::{is_in, new_message, new_text, read_inclusive_tokens, split_user, string};
use super::counting::{IdScope, Meter, TokenCounting, TokenSource};
use super::entry::Entry;
use super::facts::{CopiedHistory, Facts, SubagentFacts};
use super::format::Format;
use super::hook_settings::{HookSettings, SettingsSyntax};
use super::layout::{Layout, Subagents};
use super::own_record::with_title_source;
use super::reading::{Detail, Reading};
use super::sign::Row as Marks;
use super::title::{ManualTitle, StoredTitle, TitleSource};
use super::title_format::{TitleFormat, TitleStore};
use turnpipe_core::json::{is_object, non_null, number, object, text};
use turnpipe_core::message::{Block, Message, Origin, Role, Tier, Usage};

/// The format of Codex CLI.
pub(super) static CODEX: Format = Format {
    reading: Reading {
        cost_words: &[
            "\"session_meta\"",
            "\"turn_context\"",
            "\"token_",
            "\"thread_settings\"",
        ],
        read_edits: |record, _| read_edits(record),
        ..Reading::SEQUENCE
    },
    counting: TokenCounting {
        ids: IdScope::Global,
        tokens: TokenSource::Records,
        has_split_replies: true,
        ..TokenCounting::REPLIES
    },
    layout: Layout {
        subagents: Subagents::Sessions,
        home_variables: HOME,
        home: ".codex",
        session_dirs: &SESSION_DIRS,
        resume: |id, _| Some(format!("codex resume {id}")),
        ..Layout::NONE
    },
    titles: TitleFormat {
        words: &["\"thread_name_updated\""],
        store: TitleStore::Index(&NAMES),
        new_title: Some(|at, title, _| {
            let record = json!({
                "id": at.session_id,
                "thread_name": title.text,
                "updated_at": at.timestamp,
            });
            with_title_source(record, title.source)
        }),
        ..TitleFormat::NONE
    },
    hook_settings: Some(HookSettings {
        syntax: SettingsSyntax::Toml,
        hooks: &[
            ("PreToolUse", "pre-tool-use"),
            ("PermissionRequest", "permission-request"),
        ],
        user: (HOME, ".codex"),
        file: "config.toml",
        project: ".codex/config.toml",
        needs_trust: true,
        activation: "start codex, enter `/hooks`, and trust the hook; until then it is skipped silently",
        project_variables: &[],
        ..HookSettings::JSON
    }),
    ..Format::new(Agent::Codex, read, has_marks)
};

/// The role of subagents without one.
const DEFAULT_ROLE: &str = "default";

const HOME: &[&str] = &["CODEX_HOME", "CODEX_SQLITE_HOME"];

/// Types of the bare items in old files.
const ITEMS: &str = "function_call function_call_output custom_tool_call local_shell_call";

fn has_marks(row: &Marks<'_>) -> bool {
    let has_kind = text(row.kind).is_some();
    has_kind && is_object(row.payload)
        || row.record_type.is_some()
        || !has_kind && row.instructions.is_some() && row.has_id()
        || row.is_one_of(ITEMS) && row.uuid.is_none()
}

object! { Row { kind = "type", time = "timestamp", payload, id, git, record_type, instructions } }
object! { Base { thread = "thread_id", end = "end_byte_offset" } }
object! { Git { branch, remote = "repository_url" } }
object! { Source { subagent } }
object! { Subagent { spawn = "thread_spawn" } }
object! { Spawn { parent = "parent_thread_id", role = "agent_role" } }
object! { Failure { message } }
object! { CompletedItem { kind = "type", content } }
object! { Settings { tier = "service_tier" } }
object! { Info { total = "total_token_usage", last = "last_token_usage" } }

object! {
    Tokens {
        input = "input_tokens", cached = "cached_input_tokens",
        cache_write = "cache_write_input_tokens", output = "output_tokens",
    }
}

/// Known row types, and the types of bare items in old files.
const KINDS: &str = "session_meta turn_context response_item event_msg compacted \
    token_usage_record world_state inter_agent_communication_metadata message reasoning \
    function_call function_call_output custom_tool_call custom_tool_call_output local_shell_call \
    local_shell_call_output web_search_call image_generation_call tool_search_call tool_search_output state header";

pub(super) fn read(record: &str, detail: Detail) -> Option<Entry> {
    let row = Row::read(record)?;
    let payload = Payload::from_raw(row.payload).unwrap_or_default();
    let old_head = row.instructions.is_some().then(|| "header".to_owned());
    let kind = string(row.kind)
        .or_else(|| string(row.record_type))
        .or(old_head)
        .unwrap_or_default();
    let completed = CompletedItem::from_raw(payload.item);
    let entry = Entry {
        is_known: is_in(KINDS, &kind),
        subtype: string(completed.map_or(payload.kind, |item| item.kind)),
        time: string(row.time),
        facts: read_facts(&row, &kind, &payload),
        is_annotation: text(payload.kind).as_deref() == Some("thread_name_updated"),
        title: read_title(&row, &kind, &payload),
        uuid: (kind == "response_item")
            .then(|| string(payload.id))
            .flatten(),
        kind,
        ..Entry::default()
    };
    if detail == Detail::Outline {
        return Some(entry);
    }
    let kind = entry.kind.clone();
    if row.payload.is_none() {
        let item = Payload::read(record).unwrap_or_default();
        let messages = read_item(&item, entry.time.as_deref());
        return Some(entry.with_messages(messages));
    }
    Some(match kind.as_str() {
        "response_item" => {
            let messages = read_item(&payload, entry.time.as_deref());
            entry.with_messages(messages)
        }
        "compacted" => {
            let summary = string(payload.message).unwrap_or_default();
            entry.with_messages([new_text(Role::System, Origin::Compaction, summary)])
        }
        "token_usage_record" => Entry {
            meters: read_request(&payload).into_iter().collect(),
            ..entry.with_messages(read_meter_message(payload.thread_usage))
        },
        "event_msg" => {
            let entry = entry.with_messages(read_repeats(&payload, completed));
            Entry {
                tier: read_tier(&payload),
                repeats: entry.messages.clone(),
                meters: read_meter(&payload).into_iter().collect(),
                ..entry.with_messages(read_event(&payload))
            }
        }
        _ => entry,
    })
}

fn read_facts(row: &Row<'_>, kind: &str, payload: &Payload<'_>) -> Facts {
    let facts = Facts::from_time(row.time);
    match kind {
        "session_meta" => {
            let parent = read_parent(payload);
            let base = Base::from_raw(payload.base).unwrap_or_default();
            let history = string(base.thread).zip(number(base.end));
            Facts {
                is_head: true,
                session_id: string(payload.id),
                branch: Git::from_raw(payload.git).and_then(|git| string(git.branch)),
                remote: Git::from_raw(payload.git).and_then(|git| string(git.remote)),
                is_subagent: parent.is_some(),
                subagent: SubagentFacts::from_type(read_agent_type(payload)),
                forked_from: string(payload.forked_from),
                parent,
                history: history.map(|(session_id, end)| CopiedHistory { session_id, end }),
                ..facts.merge_later(Facts::from_time(payload.timestamp))
            }
            .with_directory(string(payload.cwd))
        }
        "turn_context" => Facts {
            model: string(payload.model),
            ..facts
        }
        .with_directory(string(payload.cwd)),
        "header" => Facts {
            is_head: true,
            session_id: string(row.id),
            branch: Git::from_raw(row.git).and_then(|git| string(git.branch)),
            remote: Git::from_raw(row.git).and_then(|git| string(git.remote)),
            ..facts
        },
        _ => facts,
    }
}

fn read_title(row: &Row<'_>, kind: &str, payload: &Payload<'_>) -> Option<StoredTitle> {
    if kind != "event_msg" || text(payload.kind)? != "thread_name_updated" {
        return None;
    }
    let name = text(payload.thread_name).or_else(|| text(payload.name))?;
    Some(StoredTitle::new(
        name,
        TitleSource::Manual,
        row.time,
        ManualTitle::Keep,
    ))
}

/// Returns the thread that started this one as a subagent.
fn read_parent(payload: &Payload<'_>) -> Option<String> {
    string(payload.parent_thread).or_else(|| {
        let subagent = Source::from_raw(payload.source)?.subagent;
        string(Spawn::from_raw(Subagent::from_raw(subagent)?.spawn)?.parent)
    })
}

/// Returns the role of a subagent, or the purpose for which Codex itself started it.
fn read_agent_type(payload: &Payload<'_>) -> Option<String> {
    let subagent = Source::from_raw(payload.source)?.subagent;
    let Some(spawn) =
        Subagent::from_raw(subagent).and_then(|subagent| Spawn::from_raw(subagent.spawn))
    else {
        return string(subagent);
    };
    Some(string(spawn.role).unwrap_or_else(|| DEFAULT_ROLE.to_owned()))
}

fn read_event(payload: &Payload<'_>) -> Option<Message> {
    match text(payload.kind)?.as_ref() {
        "token_count" => read_meter_message(Info::from_raw(payload.info)?.total),
        // The turn failed.
        "task_complete" => {
            let reason = string(Failure::from_raw(payload.error)?.message)?;
            Some(new_text(Role::System, Origin::Error, reason))
        }
        "error" | "stream_error" => {
            let reason = string(payload.message).or_else(|| string(payload.error));
            Some(new_text(
                Role::System,
                Origin::Error,
                reason.unwrap_or_default(),
            ))
        }
        _ => None,
    }
}

/// Returns event messages that most files repeat as `response_item` rows.
fn read_repeats(payload: &Payload<'_>, completed: Option<CompletedItem<'_>>) -> Vec<Message> {
    let (kind, content) = if let Some(item) = completed {
        (text(item.kind), read_content(item.content))
    } else {
        let said = string(payload.message).map(Block::Text);
        (text(payload.kind), said.into_iter().collect())
    };
    match kind.as_deref() {
        Some("context_compacted" | "ContextCompaction") => {
            vec![new_message(Role::System, Origin::Compaction, content)]
        }
        Some("user_message" | "UserMessage") if !content.is_empty() => {
            split_user(Origin::Prompt, content)
        }
        Some("agent_message" | "AgentMessage") if !content.is_empty() => {
            vec![new_message(Role::Assistant, Origin::Reply, content)]
        }
        Some("WebSearch") => Payload::from_raw(payload.item)
            .map_or_else(Vec::new, |item| read_hosted_call(&item, None)),
        _ => Vec::new(),
    }
}

/// Returns a message with a reading of the token meter.
fn read_meter_message(raw: Option<&RawValue>) -> Option<Message> {
    Some(Message {
        usage: Some(read_usage(raw)?),
        ..Message::new(Role::System, Origin::Meter)
    })
}

/// Returns the tokens of one request. Newer versions record them apart from the meter.
fn read_request(payload: &Payload<'_>) -> Option<Meter> {
    let usage = read_usage(payload.usage)?;
    let all = self::read_usage(payload.thread_usage);
    Some(Meter::Request {
        id: string(payload.response_id)?,
        is_first: all.is_none_or(|all| all == usage),
        session: string(payload.thread),
        usage,
    })
}

/// Returns the service tier in a snapshot of the settings.
fn read_tier(payload: &Payload<'_>) -> Option<Tier> {
    let settings = Settings::from_raw(payload.settings)?;
    Some(match text(settings.tier).as_deref() {
        Some("fast") => Tier::Priority,
        tier => Tier::by_name(tier.unwrap_or_default()).unwrap_or_default(),
    })
}

/// Returns a reading of the token meter.
fn read_meter(payload: &Payload<'_>) -> Option<Meter> {
    if text(payload.kind)? != "token_count" {
        return None;
    }
    let info = Info::from_raw(payload.info)?;
    Some(Meter::Reading {
        last: read_usage(info.last),
        total: read_usage(info.total)?,
    })
}

/// Reads token counts. The input includes tokens read from the cache or written to it.
pub(super) fn read_usage(raw: Option<&RawValue>) -> Option<Usage> {
    let tokens = Tokens::from_raw(non_null(raw))?;
    Some(read_inclusive_tokens([
        tokens.input,
        tokens.output,
        tokens.cached,
        tokens.cache_write,
    ]))
}
