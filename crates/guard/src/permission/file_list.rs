//! Lists of files, in tables.

use std::path::Path;
use std::sync::LazyLock;

use super::pattern::Pattern;

const PROTECTED_TABLE: &str = include_str!("tables/protected.txt");

const SYSTEM_TABLE: &str = include_str!("tables/system.txt");

/// Files that are never changed without approval.
static PROTECTED: LazyLock<FileList> = LazyLock::new(|| {
    let edits = include_str!("tables/protected_from_edits.txt");
    FileList::parse(&[PROTECTED_TABLE, edits, SYSTEM_TABLE])
});

/// Files that commands in a sandbox cannot change either.
static PROTECTED_FROM_COMMANDS: LazyLock<FileList> =
    LazyLock::new(|| FileList::parse(&[PROTECTED_TABLE]));

/// Directories of system programs.
static SYSTEM: LazyLock<FileList> = LazyLock::new(|| FileList::parse(&[SYSTEM_TABLE]));

/// Files and directories in the syntax of `.gitignore`.
struct FileList(Vec<Listed>);

struct Listed {
    is_excluded: bool,
    pattern: Pattern,
}

impl FileList {
    #[expect(clippy::expect_used, reason = "the tables are part of the program")]
    fn parse(tables: &[&'static str]) -> Self {
        let lines = tables.iter().flat_map(|table| table_lines(table));
        let rows = lines.map(|line| {
            let path = line.trim_start_matches('!').trim_end_matches('/');
            // A name is in any directory.
            let above = if path.contains('/') { "" } else { "**/" };
            let path = format!(
                "{above}{}",
                path.trim_start_matches('/').to_ascii_lowercase()
            );
            Listed {
                is_excluded: line.starts_with('!'),
                pattern: Pattern::of_path(&path).expect("the tables are valid patterns"),
            }
        });
        Self(rows.collect())
    }

    /// Whether it lists an absolute path or a directory that contains it. The innermost directory decides, and of
    /// several patterns the last one. File systems may be case-insensitive.
    fn contains(&self, path: &Path) -> bool {
        let mut above = path.ancestors();
        above.find_map(|path| self.lists(path)).unwrap_or_default()
    }

    /// Whether it lists an absolute path itself; `None` if it does not name it.
    fn lists(&self, path: &Path) -> Option<bool> {
        let path = path.to_string_lossy().to_ascii_lowercase();
        let path = path.get(1..)?;
        let mut rows = self.0.iter().rev();
        let listed = rows.find(|row| row.pattern.covers(path))?;
        Some(!listed.is_excluded)
    }
}

/// Returns the lines of a table that are neither empty nor comments.
pub(super) fn table_lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Whether an absolute path is never changed without approval.
pub(super) fn is_protected(path: &Path) -> bool {
    PROTECTED.contains(path)
}

/// Whether an absolute path is in a directory of system programs, where every change needs
/// approval.
pub fn is_of_system(path: &Path) -> bool {
    SYSTEM.contains(path)
}

/// Whether an absolute path, or a directory above it, is one by which programs are told what to run, and that ordinary
/// commands do not change: settings of agents and editors, and start-up files of shells.
pub fn is_protected_from_commands(path: &Path) -> bool {
    PROTECTED_FROM_COMMANDS.contains(path)
}

/// Whether an absolute path is such a file or directory itself.
pub fn is_named_protected_from_commands(path: &Path) -> bool {
    PROTECTED_FROM_COMMANDS.lists(path).unwrap_or_default()
}
