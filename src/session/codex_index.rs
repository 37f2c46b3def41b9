//! Codex's `session_index.jsonl`: the names that people gave to threads. The last line for a thread
//! wins.

use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use super::content::string;
use super::lines::for_each_line;
use super::open::{OpenError, open_safely};
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
pub(super) fn thread_names(home: &Path) -> HashMap<String, String> {
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
