//! pi: `~/.pi/agent/sessions/<directory>/<time>_<session>.jsonl`.

use serde_json::json;
use serde_json::value::RawValue;

use super::agent::Agent;
use super::content::{
    COMPRESSED, input_of, is_in, is_true, new_call, new_message, new_result, new_text, read_count,
    read_decimal, read_tokens, result_parts, string,
};
use super::counting::{IdScope, Repeats, SideCost, TokenCounting};
use super::edits::{FileEdit, PathOfCall, convert_numbered_diff, new_edit};
use super::entry::{Entry, Part};
use super::facts::Facts;
use super::format::Format;
use super::hook_settings::{HookSettings, SettingsSyntax};
use super::layout::Layout;
use super::own_record::{read_manual_title, read_side_cost, read_title_source, with_title_source};
use super::reading::{Detail, Reading, Shape};
use super::sign::Row as Marks;
use super::stream_conversation::StreamConversation;
use super::title::StoredTitle;
use super::title_format::{TitleFormat, TitleStore};
use turnpipe_core::json::{non_null, object, text};
use turnpipe_core::message::{Block, CallEnd, Media, Message, Origin, Role, ToolResult, Usage};

/// The format of pi.
pub(super) static PI: Format = Format {
    reading: Reading {
        shape: Shape::Tree,
        cost_words: &[
            "\"session\"",
            "\"assistant\"",
            "\"modelId\"",
            "\"usage\"",
            "\"turnpipe\"",
        ],
        read_link: |record| {
            let row = Row::read(record)?;
            row.parent.and_then(|_| string(row.id))
        },
        read_edits: |record, path_of| read_change(record, path_of).into_iter().collect(),
        read_whole_file,
        ..Reading::SEQUENCE
    },
    counting: TokenCounting {
        ids: IdScope::Timed,
        has_older_copies: true,
        ..TokenCounting::REPLIES
    },
    layout: Layout {
        home_variables: HOME,
        home: ".pi/agent",
        session_dirs: &["sessions"],
        roots: |format, environment| match environment.text("PI_CODING_AGENT_SESSION_DIR") {
            Some(dir) => vec![dir.into()],
            None => format.usual_roots(environment),
        },
        // Some versions only resume by path.
        resume: |_, path| {
            let is_compressed = path.extension().is_some_and(|end| end == COMPRESSED);
            let path = path
                .to_str()
                .filter(|path| path.starts_with('/') && !is_compressed)?;
            let path = shlex::try_quote(path).ok()?;
            Some(format!("pi --session {path}"))
        },
        ..Layout::NONE
    },
    titles: TitleFormat {
        words: &["\"session_info\""],
        store: TitleStore::SessionFile,
        new_title: Some(|at, title, _| {
            let record = json!({
                "type": "session_info",
                // The ids of pi have eight characters.
                "id": at.uuid.get(at.uuid.len().saturating_sub(8)..),
                "parentId": at.parent,
                "timestamp": at.timestamp,
                "name": title.text,
            });
            with_title_source(record, title.source)
        }),
        ..TitleFormat::NONE
    },
    hook_settings: Some(HookSettings {
        syntax: SettingsSyntax::Script(include_str!("hooks/pi.ts")),
        hooks: &[("tool_call", "pre-tool-use")],
        user: (HOME, ".pi/agent"),
        file: "extensions/turnpipe.ts",
        project: ".pi/extensions/turnpipe.ts",
        activation: "new sessions use it; in a project, the directory must be trusted",
        project_variables: &[],
        ..HookSettings::JSON
    }),
    ..Format::new(Agent::Pi, read, has_marks)
};

const HOME: &[&str] = &["PI_CODING_AGENT_DIR"];

object! {
    Row {
        kind = "type", id, parent = "parentId", time = "timestamp", message, cwd,
        branched_from = "branchedFrom", parent_session = "parentSession", name, summary,
        model = "modelId", title_source = "titleSource", usage, turnpipe,
    }
}

object! {
    MessageFields {
        role, content, model, usage, stop_reason = "stopReason", error = "errorMessage",
        call_id = "toolCallId", is_error = "isError", command, output, time = "timestamp",
    }
}

object! {
    Content { kind = "type", text, thinking, id, name, arguments, data, media_type = "mimeType" }
}

object! {
    Tokens {
        input, output, cache_read = "cacheRead", cache_write = "cacheWrite", for_an_hour = "cacheWrite1h",
        cost,
    }
}
object! { Cost { total } }

/// Known record types.
const KINDS: &str = "session message model_change thinking_level_change compaction session_info \
    branch_summary custom custom_message label";

fn has_marks(row: &Marks<'_>) -> bool {
    row.is_kind("session") && non_null(row.cwd).is_some()
        || row.parent_id.is_some() && row.has_id() && row.uuid.is_none() && row.is_one_of(KINDS)
}

fn read(record: &str, detail: Detail) -> Option<Entry> {
    let row = Row::read(record)?;
    let kind = string(row.kind).unwrap_or_default();
    let fields = MessageFields::from_raw(row.message).unwrap_or_default();
    let entry = Entry {
        is_known: is_in(KINDS, &kind),
        subtype: string(fields.role),
        // The id of the first record is the session id.
        uuid: string(row.id).filter(|_| kind != "session"),
        parent: string(row.parent),
        part: match kind.as_str() {
            "message" => Part::Turn,
            _ => Part::Step,
        },
        time: string(row.time),
        facts: read_facts(&row, &kind, &fields),
        title: read_title(&row, &kind),
        is_annotation: kind == "session_info",
        kind,
        ..Entry::default()
    };
    if detail == Detail::Outline {
        return Some(entry);
    }
    let message = match entry.kind.as_str() {
        "message" => read_message(&fields),
        "compaction" => {
            let summary = string(row.summary).unwrap_or_default();
            Some(new_text(Role::System, Origin::Compaction, summary))
        }
        _ => None,
    };
    let mut entry = entry.with_messages(message);
    entry.side_cost = read_side_cost(row.turnpipe, &entry.messages).or_else(|| read_cost(&row));
    Some(entry)
}

/// Returns the cost of a summary of the conversation or of a branch.
fn read_cost(row: &Row<'_>) -> Option<SideCost> {
    Some(SideCost {
        id: Some(format!("{} {}", text(row.id)?, text(row.time)?)),
        repeats: Repeats::Nothing,
        prompt_id: string(row.kind),
        model: None,
        usage: read_usage(row.usage)?,
    })
}

fn read_facts(row: &Row<'_>, kind: &str, fields: &MessageFields<'_>) -> Facts {
    let facts = Facts::from_time(row.time);
    match kind {
        "message" => Facts {
            model: string(fields.model),
            ..facts
        },
        "model_change" => Facts {
            model: string(row.model),
            ..facts
        },
        "session" => {
            let parent = string(row.branched_from).or_else(|| string(row.parent_session));
            Facts {
                is_head: true,
                session_id: string(row.id),
                forked_from: parent.map(|path| parse_session_id(&path)),
                ..facts
            }
            .with_directory(string(row.cwd))
        }
        _ => facts,
    }
}

fn read_title(row: &Row<'_>, kind: &str) -> Option<StoredTitle> {
    let name = text(row.name).filter(|_| kind == "session_info")?;
    Some(StoredTitle::new(
        name,
        read_title_source(row.title_source),
        row.time,
        read_manual_title(row.turnpipe),
    ))
}

/// Returns the id in a path `…/<time>_<id>.jsonl`.
fn parse_session_id(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = name.strip_suffix(".jsonl").unwrap_or(name);
    stem.rsplit_once('_').map_or(stem, |(_, id)| id).to_owned()
}

fn read_result(fields: &MessageFields<'_>) -> Option<ToolResult> {
    let mut result = ToolResult {
        id: string(fields.call_id)?,
        parts: result_parts(read_blocks(fields.content)),
        failed: is_true(fields.is_error),
        end: None,
    };
    let is_aborted = result.failed && result.text().ends_with("Command aborted");
    result.end = is_aborted.then_some(CallEnd::Interrupted);
    Some(result)
}

fn read_message(fields: &MessageFields<'_>) -> Option<Message> {
    match text(fields.role)?.as_ref() {
        "user" => Some(new_message(
            Role::User,
            Origin::Prompt,
            read_blocks(fields.content),
        )),
        "assistant" => read_reply_message(fields),
        "toolResult" => Some(new_result(read_result(fields)?)),
        "bashExecution" => {
            let command = text(fields.command).unwrap_or_default();
            let output = text(fields.output).unwrap_or_default();
            let text = format!("$ {command}\n{output}");
            Some(new_text(Role::User, Origin::Injected, text))
        }
        _ => None,
    }
}

fn read_reply_message(fields: &MessageFields<'_>) -> Option<Message> {
    let (content, origin) = read_reply(fields);
    let usage = read_usage(fields.usage);
    if content.is_empty() && usage.is_none_or(|usage| usage.is_empty()) {
        return None;
    }
    Some(Message {
        model: string(fields.model),
        usage,
        ..new_message(Role::Assistant, origin, content)
    })
}

fn read_reply(fields: &MessageFields<'_>) -> (Vec<Block>, Origin) {
    let mut content = read_blocks(fields.content);
    if text(fields.stop_reason).as_deref() != Some("error") {
        return (content, Origin::Reply);
    }
    content.extend(string(fields.error).map(Block::Text));
    (content, Origin::Error)
}

fn read_blocks(raw: Option<&RawValue>) -> Vec<Block> {
    if let Some(content) = text(raw) {
        return vec![Block::Text(content.into_owned())];
    }
    let list = Content::read_list(raw).into_iter();
    list.filter_map(|block| match text(block.kind)?.as_ref() {
        "text" => Some(Block::Text(text(block.text)?.into_owned())),
        "thinking" => Some(Block::thinking(text(block.thinking)?)),
        "toolCall" => Some(new_call(
            string(block.id).unwrap_or_default(),
            string(block.name).unwrap_or_default(),
            input_of(block.arguments),
        )),
        "image" => Some(Block::Media(Media {
            media_type: string(block.media_type).unwrap_or_default(),
            data: string(block.data),
        })),
        _ => None,
    })
    .collect()
}

fn read_usage(raw: Option<&RawValue>) -> Option<Usage> {
    let spent = Tokens::from_raw(raw)?;
    Some(Usage {
        cost: Cost::from_raw(spent.cost).and_then(|cost| read_decimal(cost.total)),
        cache_write_1h: read_count(spent.for_an_hour).min(read_count(spent.cache_write)),
        ..read_tokens([
            spent.input,
            spent.output,
            spent.cache_read,
            spent.cache_write,
        ])
    })
}

/// Reads a row of `pi --mode json`: every message is repeated when it is complete, and only that is
/// read. Rows with the output of tools and the message so far precede it.
pub(super) fn read_stream_row(
    kind: &str,
    row: &str,
    conversation: &mut StreamConversation,
) -> Option<()> {
    if kind == "agent_end" {
        conversation.end_run(None);
    }
    // Most rows repeat the whole message so far.
    if !matches!(kind, "message_start" | "message_end") {
        return None;
    }
    let fields = MessageFields::from_raw(Row::read(row)?.message)?;
    conversation.set_time(fields.time);
    match (kind, &*text(fields.role)?) {
        ("message_start", "assistant") => {
            conversation.begin_message();
            conversation.push_start();
        }
        ("message_end", "assistant") => {
            let (content, origin) = read_reply(&fields);
            conversation.model = string(fields.model);
            let stop_reason = text(fields.stop_reason);
            let usage = read_usage(fields.usage);
            conversation.push_message(content, usage, stop_reason.as_deref(), origin);
        }
        ("message_end", "user") => conversation.push_prompt(read_blocks(fields.content)),
        ("message_end", "toolResult") => {
            conversation.push_result(read_result(&fields)?);
        }
        _ => return None,
    }
    Some(())
}

object! { ResultRow { message: ToolMessage<'a> } }
object! {
    ToolMessage {
        content, details: Details<'a>, call = "toolCallId", tool = "toolName", is_error = "isError",
    }
}
object! { Details { diff } }
object! { Text { text } }

/// Returns the diff that pi shows for an edit, in which the path is missing.
fn read_change(record: &str, path_of: &PathOfCall<'_>) -> Option<FileEdit> {
    let fields = ResultRow::read(record)?.message?;
    let hunks = convert_numbered_diff(&text(fields.details?.diff)?);
    let call = string(fields.call).filter(|_| !is_true(fields.is_error))?;
    let path = path_of(&call)?;
    new_edit(Some(call), path, hunks)
}

/// Returns the call and the whole text of a file that was read.
fn read_whole_file(record: &str) -> Option<(String, String)> {
    let fields = ResultRow::read(record)?.message?;
    let is_read = text(fields.tool).as_deref() == Some("read") && !is_true(fields.is_error);
    let blocks = Text::read_list(
        fields
            .content
            .filter(|_| is_read && fields.details.is_none()),
    );
    let [block] = blocks.as_slice() else {
        return None;
    };
    let is_whole = |text: &str| !text.ends_with(" to continue.]");
    let text = text(block.text)?.into_owned();
    Some((string(fields.call)?, text)).filter(|(_, text)| is_whole(text))
}
