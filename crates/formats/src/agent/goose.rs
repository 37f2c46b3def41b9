//! goose: the database `~/.local/share/goose/sessions/sessions.db`, documents of `goose session export --format json`,
//! and the lines `<session>.jsonl` that versions before 1.10 wrote.
//!
//! All three are read as the same rows: a row of the session, a row of each message, and in newer databases a row of each
//! request. Input tokens include cached tokens, for all providers.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use serde_json::json;
use serde_json::value::RawValue;

use super::Agent;
use super::content::{
    input_of, is_in, is_true, new_call, new_message, new_text, read_decimal, read_exit,
    read_inclusive_tokens, session_stem, split_user, string, timestamp,
};
use super::counting::{IdScope, Meter, TokenCounting, TokenSource};
use super::entry::{Entry, Part};
use super::facts::Facts;
use super::format::Format;
use super::goose_database::DATABASE;
use super::layout::{Layout, Subagents};
use super::reading::{Detail, Reading};
use super::title::{ManualTitle, StoredTitle, TitleSource};
use super::title_format::TitleFormat;
use turnpipe_core::json::{
    elements, has_text, is_array, non_empty, non_null, number, object, text,
};
use turnpipe_core::message::{
    Block, CallEnd, Media, Message, Origin, Role, ToolResult, Usage, result_parts,
};

/// The format of goose.
pub(super) static GOOSE: Format = Format {
    reading: Reading {
        document: Some(read_document),
        database: Some(&DATABASE),
        ..Reading::SEQUENCE
    },
    counting: TokenCounting {
        // A fork copies messages with their ids and times. The ids of replies come from the server.
        ids: IdScope::Timed,
        tokens: TokenSource::Records,
        ..TokenCounting::REPLIES
    },
    layout: Layout {
        home_variables: &["GOOSE_PATH_ROOT"],
        home: ".local/share",
        session_dirs: &["data/sessions/sessions.db"],
        roots: |layout, environment| {
            let named = environment.text(layout.home_variables[0]).is_some();
            let usual = Layout {
                home_variables: &["XDG_DATA_HOME"],
                session_dirs: &["goose/sessions/sessions.db"],
                ..*layout
            };
            if named { layout } else { &usual }.usual_roots(environment)
        },
        side_rows,
        subagents: Subagents::Sessions,
        resume: |id, _| Some(format!("goose session --resume --session-id {id}")),
        ..Layout::NONE
    },
    titles: TitleFormat {
        words: &["\"working_dir\""],
        ..TitleFormat::NONE
    },
    ..Format::new(Agent::Goose, read, |row| {
        let is_session = row.created.is_some() || row.message_count.is_some();
        row.working_dir.is_some() && is_session || row.content_json.is_some()
    })
};

object! {
    Row {
        id, session = "session_id", uuid, role,
        working_dir, name, description, is_named = "user_set_name", form = "session_type", created_at,
        parent = "parent_session_id", model: Model<'a> = "model_config", stored_model: Model<'a> = "model_config_json",
        sum: Tokens<'a> = "accumulated_usage", sum_input = "accumulated_input_tokens",
        sum_output = "accumulated_output_tokens", sum_cache_read = "accumulated_cache_read_tokens",
        sum_cache_write = "accumulated_cache_write_tokens", sum_cost = "accumulated_cost",
        content, stored_content = "content_json", metadata: Metadata<'a>, stored_metadata: Metadata<'a> = "metadata_json",
        created, stored_created = "created_timestamp", of_file = "goose_file",
        requested = "model", input = "input_tokens", output = "output_tokens", cache_read = "cache_read_tokens",
        cache_write = "cache_write_tokens", cost, cost_source,
    }
}

object! { Model { name = "model_name" } }

object! {
    Tokens {
        input = "input_tokens", output = "output_tokens", cache_read = "cache_read_input_tokens",
        cache_write = "cache_write_input_tokens",
    }
}

object! { Metadata { is_visible = "userVisible", inference: Inference<'a> } }
object! { Inference { model = "requestedModel" } }

object! {
    Piece {
        kind = "type", id, text, thinking, message = "msg", data, media_type = "mimeType",
        call: Outcome<'a> = "toolCall", result: Outcome<'a> = "toolResult",
    }
}

object! {
    /// The value of a call or a result, or an error. In older versions the value of a result is an array of content.
    Outcome { status, value, error }
}
object! { Call { name, arguments } }
object! { Returned { content, is_error = "isError", shell: Shell<'a> = "structuredContent" } }
object! { Shell { status = "exit_code" } }

/// The name of a call that goose could not parse. Newer versions record it.
const UNPARSEABLE: &str = "unparseable_tool_call";

/// The kinds of rows.
const KINDS: &str = "session user assistant request file";

/// Names of sessions that have no title yet.
const PLACEHOLDERS: [&str; 3] = ["CLI Session", "New Chat", "New session"];

/// Returns the rows of an export: the session, then its messages. `None` for other documents.
fn read_document(json: &str) -> Option<Vec<String>> {
    let mut session: BTreeMap<String, Box<RawValue>> = serde_json::from_str(json).ok()?;
    let conversation = session.remove("conversation")?;
    if !session.contains_key("working_dir") || !is_array(Some(&conversation)) {
        return None;
    }
    let messages = elements(Some(&conversation)).into_iter();
    let rows = std::iter::once(serde_json::to_string(&session).ok()?);
    Some(
        rows.chain(messages.map(|row| row.get().to_owned()))
            .collect(),
    )
}

/// Returns a row with the id of a session in lines, which are without an id.
fn side_rows(session: &Path) -> Vec<String> {
    let is_lines = session.extension().is_some_and(|end| end == "jsonl");
    let stem = session_stem(session).filter(|_| is_lines);
    let row = stem.map(|stem| json!({"goose_file": stem.to_string_lossy()}).to_string());
    row.into_iter().collect()
}

fn read(record: &str, detail: Detail) -> Option<Entry> {
    let row = Row::read(record)?;
    let is_session = row.working_dir.is_some();
    let kind = match string(row.role) {
        Some(role) => role,
        None if is_session => "session".to_owned(),
        None if row.of_file.is_some() => "file".to_owned(),
        None if row.input.is_some() => "request".to_owned(),
        None => String::new(),
    };
    let times = [row.stored_created, row.created, row.created_at];
    let time = times.into_iter().flatten().find_map(parse_time);
    let is_message = row.role.is_some();
    let mut entry = Entry {
        is_known: is_in(KINDS, &kind),
        uuid: string(row.uuid.or(row.id)).filter(|_| is_message),
        part: if is_message { Part::Turn } else { Part::Step },
        time: time.map(|time| time.to_string()),
        facts: read_facts(&row, &kind, time),
        title: read_title(&row).filter(|_| is_session),
        meters: read_tokens(&row, &kind).into_iter().collect(),
        kind,
        ..Entry::default()
    };
    if detail != Detail::Outline && is_message {
        let messages = read_messages(&row, &entry.kind, entry.uuid.as_ref());
        entry = entry.with_messages(messages);
    }
    Some(entry)
}

/// Parses a time: seconds since 1970, or text, by default in UTC.
fn parse_time(raw: &RawValue) -> Option<Timestamp> {
    if let Some(seconds) = number(Some(raw)) {
        return Timestamp::from_second(i64::try_from(seconds).ok()?).ok();
    }
    let time = text(Some(raw))?;
    timestamp(Some(&time)).or_else(|| timestamp(Some(&format!("{time}Z"))))
}

fn read_facts(row: &Row<'_>, kind: &str, time: Option<Timestamp>) -> Facts {
    let is_session = kind == "session";
    let model = row.model.or(row.stored_model).unwrap_or_default();
    let time = time.filter(|_| kind != "request");
    Facts {
        session_id: string(row.of_file.or(row.id.filter(|_| is_session))),
        is_subagent: has_text(row.form, "sub_agent") || non_null(row.parent).is_some(),
        parent: string(row.parent),
        is_head: is_session,
        model: string(model.name.or(row.requested)),
        started: time,
        last_activity: time,
        ..Facts::default()
    }
    .with_directory(string(row.working_dir))
}

fn read_title(row: &Row<'_>) -> Option<StoredTitle> {
    let title = non_empty(row.name).or_else(|| non_empty(row.description))?;
    let is_placeholder = PLACEHOLDERS.iter().any(|start| title.starts_with(start));
    let is_named = row.is_named.is_some_and(|raw| is_in("1 true", raw.get()));
    let source = if is_named {
        TitleSource::Manual
    } else {
        TitleSource::Auto
    };
    (!is_placeholder).then(|| StoredTitle::new(title, source, None, ManualTitle::Keep))
}

/// Returns the tokens of a request, or the sum of the session.
fn read_tokens(row: &Row<'_>, kind: &str) -> Option<Meter> {
    let with_cost = |counts, cost| Usage {
        cost: read_decimal(cost),
        ..read_inclusive_tokens(counts)
    };
    let sum = row.sum.unwrap_or_default();
    let sums = [
        sum.input.or(row.sum_input),
        sum.output.or(row.sum_output),
        sum.cache_read.or(row.sum_cache_read),
        sum.cache_write.or(row.sum_cache_write),
    ];
    match kind {
        "request" => {
            let counts = [row.input, row.output, row.cache_read, row.cache_write];
            let parts = [row.session, row.id, row.stored_created];
            let id: Vec<&str> = parts.into_iter().flatten().map(RawValue::get).collect();
            Some(Meter::Request {
                id: id.join(" "),
                usage: Usage {
                    is_sum: has_text(row.cost_source, "carried_forward"),
                    ..with_cost(counts, row.cost)
                },
                is_first: false,
                session: None,
            })
        }
        "session" => Some(Meter::Total {
            model: None,
            usage: with_cost(sums, row.sum_cost),
        })
        .filter(|_| non_null(sums[0]).is_some()),
        _ => None,
    }
}

fn read_messages(row: &Row<'_>, role: &str, id: Option<&String>) -> Vec<Message> {
    let pieces = Piece::read_list(row.stored_content.or(row.content));
    let metadata = row.metadata.or(row.stored_metadata).unwrap_or_default();
    let is_hidden = metadata.is_visible.is_some_and(|raw| raw.get() == "false");
    let blocks: Vec<Block> = pieces.iter().filter_map(read_block).collect();
    let mut messages = match role {
        "assistant" if is_hidden => vec![new_message(Role::System, Origin::Compaction, blocks)],
        "assistant" => vec![Message {
            model: metadata
                .inference
                .and_then(|inference| string(inference.model)),
            ..new_message(Role::Assistant, Origin::Reply, blocks)
        }],
        "user" if is_hidden => split_user(Origin::Injected, blocks),
        "user" => split_user(Origin::Prompt, blocks),
        _ => Vec::new(),
    };
    for message in &mut messages {
        message.id = id.cloned();
    }
    // Older versions note a compaction in a message.
    let compactions = pieces
        .iter()
        .filter(|piece| has_text(piece.kind, "conversationCompacted"));
    messages.extend(compactions.map(|piece| {
        let note = string(piece.message).unwrap_or_default();
        new_text(Role::System, Origin::Compaction, note)
    }));
    messages
}

fn read_block(piece: &Piece<'_>) -> Option<Block> {
    match text(piece.kind)?.as_ref() {
        "text" => string(piece.text).map(Block::Text),
        "thinking" => string(piece.thinking).map(Block::thinking),
        "image" => Some(Block::Media(Media {
            media_type: string(piece.media_type).unwrap_or_default(),
            data: string(piece.data),
        })),
        "toolRequest" | "frontendToolRequest" => {
            let call_fields = piece
                .call
                .and_then(|call| Call::from_raw(call.value))
                .unwrap_or_default();
            let name = string(call_fields.name).unwrap_or_else(|| UNPARSEABLE.to_owned());
            let id = string(piece.id).unwrap_or_default();
            Some(new_call(id, name, input_of(call_fields.arguments)))
        }
        "toolResponse" => Some(Block::Result(read_result(piece))),
        _ => None,
    }
}

fn read_result(piece: &Piece<'_>) -> ToolResult {
    let outcome = piece.result.unwrap_or_default();
    let returned = Returned::from_raw(outcome.value).unwrap_or_default();
    let content = Piece::read_list(returned.content.or(outcome.value));
    let mut blocks: Vec<Block> = content.iter().filter_map(read_block).collect();
    blocks.extend(string(outcome.error).map(Block::Text));
    let end = read_exit(returned.shell.and_then(|shell| non_null(shell.status)));
    let has_exited_well = end.is_none_or(|end| end == CallEnd::Exited(0));
    ToolResult {
        id: string(piece.id).unwrap_or_default(),
        parts: result_parts(blocks),
        failed: has_text(outcome.status, "error") || is_true(returned.is_error) || !has_exited_well,
        end,
    }
}
