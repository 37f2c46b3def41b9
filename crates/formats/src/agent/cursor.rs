//! Cursor: `~/.cursor/projects/<directory>/agent-transcripts/<session>/<session>.jsonl`.
//!
//! The records have no ids, times, models or tokens.

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use serde_json::json;

use super::agent::Agent;
use super::content::{
    is_in, is_unique_id, new_reply, new_text, parse_time, session_stem, sibling_path, split_user,
    string,
};
use super::counting::{IdScope, TokenCounting};
use super::entry::{Entry, Part};
use super::facts::Facts;
use super::format::Format;
use super::hook_settings::{HookSettings, SettingsSyntax};
use super::layout::Layout;
use super::reading::Detail;
use super::sign::Row as Marks;
use crate::api::read_anthropic_blocks;
use turnpipe_core::json::object;
use turnpipe_core::message::{Block, Origin, Role};

/// The format of Cursor.
pub(super) static CURSOR: Format = Format {
    counting: TokenCounting {
        ids: IdScope::Session,
        ..TokenCounting::REPLIES
    },
    layout: Layout {
        side_rows,
        // The directory with the name of the session contains its subagents, and in newer versions itself.
        belongings: |session, _| {
            let stem = session_stem(session).filter(|stem| is_unique_id(stem));
            let parent = session.parent();
            let own = parent.filter(|dir| stem.is_some() && dir.file_name() == stem);
            let beside = || stem.and_then(|_| sibling_path(session, ""));
            let dir = own.map(Path::to_owned).or_else(beside);
            dir.into_iter().collect()
        },
        resume: |id, _| Some(format!("cursor-agent --resume {id}")),
        home: ".cursor",
        session_dirs: &["projects"],
        ..Layout::NONE
    },
    hook_settings: Some(HookSettings {
        syntax: SettingsSyntax::FlatJson,
        hooks: &[("preToolUse", "pre-tool-use")],
        user: (&[], ".cursor"),
        file: "hooks.json",
        project: ".cursor/hooks.json",
        activation: "Cursor lists it under Settings, Hooks",
        project_variables: &["CURSOR_PROJECT_DIR"],
        ..HookSettings::JSON
    }),
    ..Format::new(Agent::Cursor, read, has_marks)
};

object! { Row { kind = "type", role, message: MessageFields<'a>, status, error, session, changed } }
object! { MessageFields { content } }

/// The tags around the text that the user typed.
const QUERY: [&str; 2] = ["<user_query>", "</user_query>"];

/// Placeholder for hidden thinking.
const REDACTED: &str = "[REDACTED]";

fn has_marks(row: &Marks<'_>) -> bool {
    row.is_kind("turn_ended") || row.kind.is_none() && row.role.is_some() && row.has_content()
}

/// Returns a record of the facts that only the name and the modification time of the file contain.
fn side_rows(session: &Path) -> Vec<String> {
    let changed = fs::metadata(session).and_then(|metadata| metadata.modified());
    let changed = changed.ok().and_then(|time| Timestamp::try_from(time).ok());
    let id = session_stem(session).map(|stem| stem.to_string_lossy());
    let row =
        json!({"type": "file", "session": id, "changed": changed.map(|time| time.to_string())});
    vec![row.to_string()]
}

fn read(record: &str, detail: Detail) -> Option<Entry> {
    let row = Row::read(record)?;
    let role = string(row.role);
    let kind = string(row.kind)
        .or_else(|| role.clone())
        .unwrap_or_default();
    let changed = parse_time(row.changed);
    let mut entry = Entry {
        is_known: is_in("user assistant turn_ended file", &kind),
        part: Part::Turn,
        facts: Facts {
            session_id: string(row.session),
            last_activity: changed,
            is_time_of_file: changed.is_some(),
            ..Facts::default()
        },
        kind,
        ..Entry::default()
    };
    if detail != Detail::Outline {
        let fields = row.message.unwrap_or_default();
        let blocks = read_anthropic_blocks(fields.content, detail.block_detail());
        let messages = match role.as_deref().filter(|_| row.kind.is_none()) {
            Some("user") => split_user(
                Origin::Prompt,
                blocks.into_iter().map(strip_query_tags).collect(),
            ),
            Some("assistant") => vec![new_reply(remove_placeholders(blocks))],
            _ if entry.kind == "turn_ended" => {
                let error = string(row.error).into_iter();
                error
                    .map(|error| new_text(Role::System, Origin::Error, error))
                    .collect()
            }
            _ => Vec::new(),
        };
        entry = entry.with_messages(messages);
    }
    Some(entry)
}

/// Returns the text that the user typed, without the agent's tags around it.
fn strip_query_tags(block: Block) -> Block {
    match block {
        Block::Text(text) => {
            let query = text.split_once(QUERY[0]).map(|(_, rest)| rest);
            let query = query.and_then(|rest| rest.rsplit_once(QUERY[1]));
            Block::Text(
                query
                    .map_or(text.as_str(), |(query, _)| query)
                    .trim()
                    .to_owned(),
            )
        }
        other => other,
    }
}

/// Removes the placeholders for hidden thinking.
fn remove_placeholders(mut blocks: Vec<Block>) -> Vec<Block> {
    blocks.retain(|block| !matches!(block, Block::Text(text) if text == REDACTED));
    blocks
}
