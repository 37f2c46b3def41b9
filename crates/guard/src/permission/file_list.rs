//! Tables of files that are protected from changes.

use std::path::Path;
use std::sync::LazyLock;

use super::pattern::Pattern;

const PROTECTED_TABLE: &str = include_str!("tables/protected.txt");

const SYSTEM_TABLE: &str = include_str!("tables/system.txt");

/// Files that are never changed without approval, and directories of system programs.
static PROTECTED: LazyLock<FileList> = LazyLock::new(|| {
    let edits = include_str!("tables/protected_from_edits.txt");
    FileList::parse(&[PROTECTED_TABLE, edits, SYSTEM_TABLE])
});

/// Files that commands in a sandbox cannot change.
static PROTECTED_FROM_COMMANDS: LazyLock<FileList> =
    LazyLock::new(|| FileList::parse(&[PROTECTED_TABLE]));

/// Directories of system programs.
static SYSTEM: LazyLock<FileList> = LazyLock::new(|| FileList::parse(&[SYSTEM_TABLE]));

/// Files and directories in the syntax of `.gitignore`.
struct FileList(Vec<FileEntry>);

/// A line of a table.
struct FileEntry {
    /// Whether the line starts with `!`: files that match are not in the list.
    is_excluded: bool,
    pattern: Pattern,
}

impl FileList {
    #[expect(clippy::expect_used, reason = "the tables are part of the program")]
    fn parse(tables: &[&'static str]) -> Self {
        let lines = tables.iter().flat_map(|table| table_lines(table));
        let entries = lines.map(|line| {
            let path = line.trim_start_matches('!').trim_end_matches('/');
            // A pattern without `/` matches in any directory.
            let above = if path.contains('/') { "" } else { "**/" };
            let below = path.trim_start_matches('/').to_ascii_lowercase();
            let pattern = Pattern::from_path(&format!("{above}{below}"));
            FileEntry {
                is_excluded: line.starts_with('!'),
                pattern: pattern.expect("the tables are valid patterns"),
            }
        });
        Self(entries.collect())
    }

    /// Whether it lists an absolute path or a directory that contains it. The entry of the innermost directory decides.
    fn contains(&self, path: &Path) -> bool {
        let entry = path.ancestors().find_map(|path| self.find_entry(path));
        entry.is_some_and(|entry| !entry.is_excluded)
    }

    /// Returns the last entry that matches an absolute path. Case does not matter, since file systems may ignore it.
    fn find_entry(&self, path: &Path) -> Option<&FileEntry> {
        let name = path.to_string_lossy().to_ascii_lowercase();
        let below_root = name.get(1..)?;
        let mut entries = self.0.iter().rev();
        entries.find(|entry| entry.pattern.covers(below_root))
    }
}

/// Returns the lines of a table that are neither empty nor comments.
pub(super) fn table_lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Whether the file at an absolute path is never changed without approval.
pub(super) fn is_protected(path: &Path) -> bool {
    PROTECTED.contains(path)
}

/// Whether an absolute path is in a directory of system programs, where every change needs
/// approval.
pub fn is_of_system(path: &Path) -> bool {
    SYSTEM.contains(path)
}

/// Whether an absolute path, or a directory above it, determines what programs run and is not changed by ordinary
/// commands: settings of agents and editors, and start-up files of shells.
pub fn is_protected_from_commands(path: &Path) -> bool {
    PROTECTED_FROM_COMMANDS.contains(path)
}

/// Whether [`is_protected_from_commands`] is true of an absolute path because of its own entry, not of a directory
/// above it.
pub fn is_named_protected_from_commands(path: &Path) -> bool {
    let entry = PROTECTED_FROM_COMMANDS.find_entry(path);
    entry.is_some_and(|entry| !entry.is_excluded)
}
