//! Droid: `~/.factory/sessions/<directory>/<session>.jsonl`, with the tokens of the session in a file next to it.

use std::path::{Path, PathBuf};

use super::agent::Agent;
use super::content::{is_in, is_true, new_reply, read_tokens, sibling_path, split_user, string};
use super::counting::{IdScope, Meter, TokenCounting, TokenSource};
use super::edits::{FileEdit, convert_numbered_diff, new_edit};
use super::entry::{Entry, Part};
use super::facts::Facts;
use super::format::Format;
use super::layout::Layout;
use super::reading::{Detail, Reading};
use super::sign::Row as Marks;
use super::title::{ManualTitle, StoredTitle, TitleSource};
use super::title_format::TitleFormat;
use crate::api::read_anthropic_blocks;
use turnpipe_core::io::read_regular;
use turnpipe_core::json::{number, object, text};
use turnpipe_core::message::{Block, Message, Origin};
use turnpipe_core::text::append;

/// The format of Droid.
pub(super) static DROID: Format = Format {
    reading: Reading {
        read_edits: |record, _| read_edits(record),
        ..Reading::SEQUENCE
    },
    counting: TokenCounting {
        ids: IdScope::Global,
        tokens: TokenSource::Records,
        ..TokenCounting::REPLIES
    },
    layout: Layout {
        side_rows,
        belongings: |session, _| settings_file(session).into_iter().collect(),
        resume: |id, _| Some(format!("droid --resume {id}")),
        home: ".factory",
        session_dirs: &["sessions"],
        ..Layout::NONE
    },
    titles: TitleFormat {
        words: &["\"session_start\""],
        ..TitleFormat::NONE
    },
    ..Format::new(Agent::Droid, read, has_marks)
};

object! {
    Row {
        kind = "type", id, parent = "parentId", time = "timestamp", title, session_title = "sessionTitle",
        cwd, message: MessageFields<'a>, settings: Settings<'a>, forked_from = "parent", fork_point = "forkedAtMessageId",
    }
}

object! { MessageFields { role, content } }
object! { Settings { model, tokens: Tokens<'a> = "tokenUsage" } }

object! {
    Tokens {
        input = "inputTokens", output = "outputTokens", cache_read = "cacheReadTokens",
        cache_write = "cacheCreationTokens",
    }
}

/// Known record types. The last one is derived from the file next to a session.
const KINDS: &str = "session_start message todo_state compaction_state agent_turn_outcome settings";

fn has_marks(row: &Marks<'_>) -> bool {
    row.is_kind("session_start") && row.has_id() && row.cwd.is_some()
}

/// Returns the settings of a session, with its tokens so far.
fn side_rows(session: &Path) -> Vec<String> {
    let settings = settings_file(session).and_then(|path| read_regular(&path).ok());
    let row = settings.map(|json| format!("{{\"type\":\"settings\",\"settings\":{json}}}"));
    row.into_iter().collect()
}

fn settings_file(session: &Path) -> Option<PathBuf> {
    sibling_path(session, ".settings.json")
}

fn read(record: &str, detail: Detail) -> Option<Entry> {
    let row = Row::read(record)?;
    let kind = string(row.kind).unwrap_or_default();
    let is_head = kind == "session_start";
    let settings = row.settings.unwrap_or_default();
    let title = text(row.session_title)
        .or_else(|| text(row.title))
        .filter(|_| is_head);
    let mut entry = Entry {
        is_known: is_in(KINDS, &kind),
        uuid: string(row.id).filter(|_| !is_head),
        parent: string(row.parent),
        part: if is_head { Part::Step } else { Part::Turn },
        time: string(row.time),
        facts: Facts {
            session_id: string(row.id).filter(|_| is_head),
            is_head,
            forked_from: string(row.forked_from).filter(|_| is_head),
            fork_point: string(row.fork_point).filter(|_| is_head),
            model: string(settings.model),
            ..Facts::from_time(row.time)
        }
        .with_directory(string(row.cwd).filter(|_| is_head)),
        title: title
            .map(|title| StoredTitle::new(title, TitleSource::Auto, None, ManualTitle::Keep)),
        meters: read_total(&settings).into_iter().collect(),
        kind,
        ..Entry::default()
    };
    if detail != Detail::Outline
        && entry.kind == "message"
        && let Some(fields) = &row.message
    {
        let messages = read_messages(fields, detail, string(row.id));
        entry = entry.with_messages(messages);
    }
    Some(entry)
}

/// Returns the tokens of the session so far.
fn read_total(settings: &Settings<'_>) -> Option<Meter> {
    let spent = settings.tokens?;
    Some(Meter::Total {
        model: None,
        usage: read_tokens([
            spent.input,
            spent.output,
            spent.cache_read,
            spent.cache_write,
        ]),
    })
}

object! { Edited { is_done = "success", path = "file_path", lines = "diffLines" } }
object! { DiffLine { kind = "type", content, number: Numbers<'a> = "lineNumber" } }
object! { Numbers { old, new } }

/// Returns the changes in a record: results in JSON, with the changed lines and lines around them.
fn read_edits(record: &str) -> Vec<FileEdit> {
    let fields = Row::read(record).and_then(|row| row.message);
    let content = fields.unwrap_or_default().content;
    let blocks = read_anthropic_blocks(content, Detail::Full.block_detail());
    let results = blocks.iter().filter_map(Block::as_result);
    let edits = results.filter_map(|result| {
        let fields = result.text();
        let edited = Edited::read(&fields).filter(|edited| is_true(edited.is_done))?;
        let (mut diff, mut next) = (String::new(), (0, 0));
        for line in DiffLine::read_list(edited.lines) {
            let numbers = line.number.unwrap_or_default();
            let (old, new) = (number(numbers.old), number(numbers.new));
            let (mark, number, expected) = match text(line.kind)?.as_ref() {
                "added" => ('+', new?, next.1),
                "removed" => ('-', old?, next.0),
                _ => (' ', old?, next.0),
            };
            if number != expected {
                diff.push_str("...\n");
            }
            next = (
                old.map_or(next.0, |old| old + 1),
                new.map_or(next.1, |new| new + 1),
            );
            append!(diff, "{mark}{number} {}\n", text(line.content)?);
        }
        new_edit(
            Some(result.id.clone()),
            string(edited.path)?,
            convert_numbered_diff(&diff),
        )
    });
    edits.collect()
}

fn read_messages(fields: &MessageFields<'_>, detail: Detail, id: Option<String>) -> Vec<Message> {
    // The failure of a call is recorded only as text.
    let read = match detail {
        Detail::Activity | Detail::Counts => Detail::Full,
        other => other,
    };
    let mut blocks = read_anthropic_blocks(fields.content, read.block_detail());
    for block in &mut blocks {
        if let Block::Result(result) = block {
            result.failed |= result.text().starts_with("Error: ");
        }
    }
    match text(fields.role).as_deref() {
        Some("user") => split_user(Origin::Prompt, blocks),
        Some("assistant") => vec![Message {
            id,
            ..new_reply(blocks)
        }],
        _ => Vec::new(),
    }
}
