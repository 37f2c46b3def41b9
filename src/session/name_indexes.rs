//! Names of sessions that agents keep in an index next to the session files.

use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::lines::for_each_line;
use super::open::open_safely;
use crate::agent::{Facts, Format, NameIndex, Title, TitleStore};

/// The names in the indexes of agents. Each index is read once. A missing or unreadable one is empty.
#[derive(Debug, Default)]
pub(super) struct NameIndexes {
    by_path: Mutex<HashMap<PathBuf, HashMap<String, Title>>>,
}

impl NameIndexes {
    /// Replaces the title of the session at `path` by its name in the index, if there is one.
    pub(super) fn apply(&self, format: &Format, path: &Path, facts: &mut Facts) {
        if let TitleStore::Index(index) = format.title_store
            && let Some(name) = self.name(index, path, facts)
        {
            facts.title = Some(name);
        }
    }

    fn name(&self, index: &NameIndex, session: &Path, facts: &Facts) -> Option<Title> {
        let mut by_path = self.by_path.lock().ok()?;
        let names = by_path
            .entry((index.path)(session)?)
            .or_insert_with_key(|path| read(index, path));
        names.get(facts.session_id.as_ref()?).cloned()
    }
}

/// Returns the readable names in an index, by session id.
pub(super) fn read(index: &NameIndex, path: &Path) -> HashMap<String, Title> {
    let mut names = HashMap::new();
    if let Ok(file) = open_safely(path) {
        let _: io::Result<Option<()>> = for_each_line(&file.file, 0, &mut |line| {
            let records = line
                .records()
                .filter_map(|(_, record)| (index.read)(record));
            names.extend(records);
            ControlFlow::Continue(())
        });
    }
    (index.shown)(path, &mut names);
    names.retain(|_, name| !name.text.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Agent;

    #[test]
    fn the_last_name_of_a_session_counts() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("index.jsonl");
        let TitleStore::Index(index) = Agent::Codex.format().title_store else {
            panic!("an index");
        };
        assert!(read(index, &path).is_empty());
        let lines = [
            r#"{"id":"a","thread_name":"first","updated_at":"x"}"#,
            r#"{"id":"b","thread_name":"other"}"#,
            "torn {",
            r#"{"id":"a","thread_name":"second"}"#,
            r#"{"id":"b","thread_name":""}"#,
        ];
        std::fs::write(&path, lines.join("\n")).unwrap();
        let names = read(index, &path);
        assert_eq!(names.len(), 1);
        assert_eq!(names["a"].text, "second");
    }
}
