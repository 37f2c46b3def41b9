//! Codex's `session_index.jsonl`: the names that people gave to threads. The last line for a thread
//! wins.

use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::claude::title_source;
use super::content::string;
use super::lines::for_each_line;
use super::open::{SessionError, open_safely};
use super::{Agent, Facts, Session, Title};
use crate::json::{object, text};

/// The name of the file, beside the folder `sessions`.
pub(super) const FILE_NAME: &str = "session_index.jsonl";

object! { Row { id, name = "thread_name", source = "titleSource" } }

/// The names in an index by thread id.
fn read(index: &Path) -> Result<HashMap<String, Title>, SessionError> {
    let index = open_safely(index)?;
    let mut names = HashMap::new();
    let read: io::Result<Option<()>> = for_each_line(&index.file, 0, &mut |line| {
        for (_, record) in line.records() {
            names.extend(name_on(record));
        }
        ControlFlow::Continue(())
    });
    read?;
    names.retain(|_, name| !name.text.is_empty());
    Ok(names)
}

/// The name in a row of an index, and its thread.
pub(super) fn name_on(record: &str) -> Option<(String, Title)> {
    let row = Row::read(record)?;
    let title = Title {
        text: text(row.name)?.into_owned(),
        source: title_source(row.source),
    };
    Some((string(row.id)?, title))
}

/// The path of the index for a session file in a home of Codex.
pub(super) fn index_path(session: &Path) -> Option<PathBuf> {
    let mut folders = session.ancestors().skip(1);
    let sessions = folders.find(|folder| {
        let name = folder.file_name();
        name.is_some_and(|name| name == "sessions" || name == "archived_sessions")
    })?;
    Some(sessions.parent()?.join(FILE_NAME))
}

/// The names in Codex's indexes. Each index is read once. A missing or unreadable one is empty.
#[derive(Debug, Default)]
pub(super) struct ThreadNames {
    by_index: Mutex<HashMap<PathBuf, HashMap<String, Title>>>,
}

impl ThreadNames {
    /// Puts the name of the thread in this file in place of its title.
    pub(super) fn apply(&self, session: &Session, facts: &mut Facts) {
        if session.agent() == Agent::Codex
            && let Some(name) = self.of(&session.file.path, facts)
        {
            facts.title = Some(name);
        }
    }

    /// The name of the thread in this file.
    fn of(&self, path: &Path, facts: &Facts) -> Option<Title> {
        let mut by_index = self.by_index.lock().ok()?;
        let names = by_index
            .entry(index_path(path)?)
            .or_insert_with_key(|index| read(index).unwrap_or_default());
        names.get(facts.session_id.as_ref()?).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_name_of_a_thread_counts() {
        let home = tempfile::tempdir().unwrap();
        let index = home.path().join(FILE_NAME);
        assert!(read(&index).is_err());
        let lines = [
            r#"{"id":"a","thread_name":"first","updated_at":"x"}"#,
            r#"{"id":"b","thread_name":"other"}"#,
            "torn {",
            r#"{"id":"a","thread_name":"second"}"#,
            r#"{"id":"b","thread_name":""}"#,
        ];
        std::fs::write(&index, lines.join("\n")).unwrap();
        let names = read(&index).unwrap();
        assert_eq!(names.len(), 1);
        assert_eq!(names["a"].text, "second");
    }

    #[test]
    fn the_index_stands_beside_the_sessions() {
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
