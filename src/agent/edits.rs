//! Changes of files that agents record, with their texts, next to the results of calls. A unified diff in a
//! record is kept as it is.

use super::hunks::unified;

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditKind {
    /// The file did not exist.
    Add,
    /// The content changed.
    Change,
    /// The file existed, and the hunks are its new content.
    Replace,
    /// The file does not exist any more.
    Remove,
}

/// A change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// The call.
    pub call: Option<String>,
    /// The path, as stored.
    pub path: String,
    /// The new path, if the file was moved.
    pub moved_to: Option<String>,
    /// The kind.
    pub kind: EditKind,
    /// The hunks of a unified diff.
    pub hunks: String,
}

impl FileEdit {
    /// Returns the numbers of added and of removed lines.
    pub fn line_counts(&self) -> (u64, u64) {
        let count = |mark| {
            self.hunks
                .lines()
                .filter(|line| line.starts_with(mark))
                .count()
        };
        (count('+') as u64, count('-') as u64)
    }
}

/// Returns the file that the call with an id names.
pub type PathOfCall<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Returns a change, unless there are no hunks.
pub(super) fn edit(call: Option<String>, path: String, hunks: String) -> Option<FileEdit> {
    let kind = if hunks.starts_with("@@ -0,0 ") {
        EditKind::Add
    } else {
        EditKind::Change
    };
    (!hunks.is_empty()).then_some(FileEdit {
        call,
        path,
        moved_to: None,
        kind,
        hunks,
    })
}

/// Returns a new file.
pub fn added(call: Option<String>, path: String, content: &str) -> FileEdit {
    FileEdit {
        call,
        path,
        moved_to: None,
        kind: EditKind::Add,
        hunks: unified("", content),
    }
}
