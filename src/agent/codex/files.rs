//! The format of Codex, where its files are, and the index of thread names.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::record::read;
use crate::agent::Agent;
use crate::agent::content::{home_dir, string};
use crate::agent::detect::Row;
use crate::agent::format::{Format, LineClass, NameIndex, Shape, TitleStore};
use crate::agent::own::{title_source, with_title_source};
use crate::agent::title::{Precedence, Title, TitleSearch};
use crate::io::Environment;
use crate::json::{is_object, object, text};

/// The format of Codex CLI.
pub(in crate::agent) static CODEX: Format = Format {
    agent: Agent::Codex,
    shape: Shape::Sequence,
    titles: TitleSearch {
        words: &["\"thread_name_updated\""],
        precedence: Precedence::Later,
    },
    cost_words: &[],
    activity_words: &[],
    line_class: |_| LineClass::Anything,
    read,
    wrote,
    document: None,
    has_global_ids: false,
    has_meter_records: true,
    home_variables: HOME,
    roots,
    subagent_dir: |_| None,
    resume: |id, _| Some(format!("codex resume {id}")),
    title_store: TitleStore::Index(NameIndex {
        path: index_path,
        read: name_in,
    }),
    title_distance: None,
    title_record: Some(|at, title, _| {
        let record = json!({
            "id": at.session_id,
            "thread_name": title.text,
            "updated_at": at.timestamp,
        });
        with_title_source(record, title.source)
    }),
    recap_record: None,
    link: |_| None,
};

const HOME: &[&str] = &["CODEX_HOME"];

/// The directories of sessions in the home directory of Codex.
const SESSION_DIRS: [&str; 2] = ["sessions", "archived_sessions"];

/// The index of thread names, in the home directory. The last row of a thread counts.
const INDEX: &str = "session_index.jsonl";

/// Types of the bare items in old files.
const ITEMS: &str = "function_call function_call_output custom_tool_call local_shell_call";

object! { IndexRow { id, name = "thread_name", source = "titleSource" } }

fn wrote(row: &Row<'_>) -> bool {
    let has_kind = text(row.kind).is_some();
    has_kind && is_object(row.payload)
        || row.record_type.is_some()
        || !has_kind && row.instructions.is_some() && row.has_id()
        || row.is_any(ITEMS) && row.uuid.is_none()
}

fn roots(environment: &Environment) -> Vec<PathBuf> {
    let home = home_dir(environment, HOME, ".codex");
    let dirs = SESSION_DIRS.iter();
    home.map_or_else(Vec::new, |home| dirs.map(|dir| home.join(dir)).collect())
}

/// The name in a row of an index, and its thread.
fn name_in(record: &str) -> Option<(String, Title)> {
    let row = IndexRow::read(record)?;
    let title = Title {
        text: text(row.name)?.into_owned(),
        source: title_source(row.source),
    };
    Some((string(row.id)?, title))
}

/// The path of the index for a session file in the home directory of Codex.
fn index_path(session: &Path) -> Option<PathBuf> {
    let mut dirs = session.ancestors().skip(1);
    let sessions = dirs.find(|dir| {
        let name = dir.file_name();
        name.is_some_and(|name| SESSION_DIRS.iter().any(|known| name == *known))
    })?;
    Some(sessions.parent()?.join(INDEX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_is_beside_the_sessions() {
        let index = Some(PathBuf::from("/h/.codex/session_index.jsonl"));
        for session in [
            "sessions/2026/11/21/rollout-x.jsonl",
            "archived_sessions/x.jsonl.zst",
        ] {
            assert_eq!(index_path(&Path::new("/h/.codex").join(session)), index);
        }
        assert_eq!(index_path(Path::new("/elsewhere/sessions")), None);
    }
}
