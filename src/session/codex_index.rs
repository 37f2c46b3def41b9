//! Codex's `session_index.jsonl`: the names that people gave to threads. The last line for a thread
//! wins.

use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::content::string;
use super::lines::for_each_line;
use super::open::{OpenError, open_safely};
use super::{Facts, Title, TitleSource};
use crate::wire::object::{object, text};

/// The name of the file, beside the folder `sessions`.
pub(super) const FILE_NAME: &str = "session_index.jsonl";

object! {
    Row {
        id = "id",
        name = "thread_name",
    }
}

/// Thread names by thread id. A missing or unreadable file is empty.
fn thread_names(home: &Path) -> HashMap<String, String> {
    read(home).unwrap_or_default()
}

fn read(home: &Path) -> Result<HashMap<String, String>, OpenError> {
    let index = open_safely(&home.join(FILE_NAME))?;
    let mut names = HashMap::new();
    let read: io::Result<Option<()>> = for_each_line(&index.file, 0, &mut |line| {
        for (_, record) in line.records() {
            let row = Row::read(record).unwrap_or_default();
            if let (Some(id), Some(name)) = (string(row.id), text(row.name)) {
                names.insert(id, name.into_owned());
            }
        }
        ControlFlow::Continue(())
    });
    read?;
    names.retain(|_, name| !name.is_empty());
    Ok(names)
}

/// The names in Codex's indexes. Each index is read once.
#[derive(Debug, Default)]
pub(super) struct ThreadNames {
    homes: Mutex<HashMap<PathBuf, HashMap<String, String>>>,
}

impl ThreadNames {
    /// The name of the thread in this file.
    pub(super) fn of(&self, path: &Path, facts: &Facts) -> Option<Title> {
        let home = path
            .ancestors()
            .skip(1)
            .take(DEPTH_BELOW_HOME)
            .find(|folder| folder.join(FILE_NAME).is_file())?;
        let mut homes = self.homes.lock().ok()?;
        let names = homes
            .entry(home.to_owned())
            .or_insert_with(|| thread_names(home));
        let text = names.get(facts.session_id.as_ref()?)?.clone();
        Some(Title {
            text,
            source: TitleSource::Manual,
        })
    }
}

/// The number of levels from a file in `sessions/YYYY/MM/DD/` up to the home of Codex.
const DEPTH_BELOW_HOME: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_name_of_a_thread_counts() {
        let home = tempfile::tempdir().unwrap();
        assert!(thread_names(home.path()).is_empty());
        let lines = [
            r#"{"id":"a","thread_name":"first","updated_at":"x"}"#,
            r#"{"id":"b","thread_name":"other"}"#,
            "torn {",
            r#"{"id":"a","thread_name":"second"}"#,
            r#"{"id":"b","thread_name":""}"#,
        ];
        std::fs::write(home.path().join(FILE_NAME), lines.join("\n")).unwrap();
        let names = thread_names(home.path());
        assert_eq!(names.len(), 1);
        assert_eq!(names["a"], "second");
    }
}
