//! The names of Codex threads: an index of JSON lines, and since 0.146 a database, which Codex shows.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::content::string;
use super::own_record::read_title_source;
use super::sqlite::{has_columns, open_read_only, open_writable};
use super::title::{ManualTitle, StoredTitle, Title, TitleSource};
use super::title_format::NameIndex;
use turnpipe_core::io::{Environment, read_regular};
use turnpipe_core::json::{object, text};

/// The names of threads.
pub(super) static NAMES: NameIndex = NameIndex {
    path: index_path,
    read: read_name,
    add_shown_names: add_database_names,
    show: show_name,
};

/// The directories of sessions in the home directory of Codex.
pub(super) const SESSION_DIRS: [&str; 2] = ["sessions", "archived_sessions"];

/// The index of thread names, in the home directory. The last row of a thread counts.
const INDEX: &str = "session_index.jsonl";

/// The database of threads. The number is its schema version.
const DATABASE: &str = "state_5.sqlite";

/// The columns that are read and written.
const COLUMNS: [&str; 5] = ["id", "history_mode", "name", "title", "first_user_message"];

object! { IndexRow { id, name = "thread_name", source = "titleSource", time = "updated_at" } }

/// Returns the name in a row of an index, and its thread.
fn read_name(record: &str) -> Option<(String, StoredTitle)> {
    let row = IndexRow::read(record)?;
    let (name, source) = (text(row.name)?, read_title_source(row.source));
    let title = StoredTitle::new(name, source, row.time, ManualTitle::Keep);
    Some((string(row.id)?, title))
}

/// Returns the path of the index for a session file in the home directory of Codex.
fn index_path(session: &Path) -> Option<PathBuf> {
    let mut dirs = session.ancestors().skip(1);
    let sessions = dirs.find(|dir| {
        let name = dir.file_name();
        name.is_some_and(|name| SESSION_DIRS.iter().any(|known| name == *known))
    })?;
    Some(sessions.parent()?.join(INDEX))
}

/// Returns the directory of the database: the one that Codex's configuration names, else `CODEX_SQLITE_HOME`, else
/// the home directory.
fn find_database_dir(home: &Path, environment: &Environment) -> PathBuf {
    // Without a valid configuration, the defaults apply.
    let config = read_regular(&home.join("config.toml")).unwrap_or_default();
    let config: toml::Table = toml::from_str(&config).unwrap_or_default();
    let configured = config.get("sqlite_home").and_then(toml::Value::as_str);
    if let Some(configured) = configured {
        let user_home = environment.text("HOME");
        return match (configured.strip_prefix("~/"), user_home) {
            (Some(rest), Some(user_home)) => Path::new(user_home).join(rest),
            _ => home.join(configured),
        };
    }
    let variable = environment.text("CODEX_SQLITE_HOME").map(str::trim);
    variable
        .filter(|path| !path.is_empty())
        .map_or_else(|| home.to_owned(), PathBuf::from)
}

/// Returns the directory of the database for an index.
fn find_index_database_dir(index: &Path) -> PathBuf {
    let home = index.parent().unwrap_or(Path::new(""));
    find_database_dir(home, &Environment::from_process())
}

/// Adds the names in the database for an index. A name that is in both has the source that the
/// index states. Without a database of the known schema, nothing changes.
fn add_database_names(index: &Path, names: &mut HashMap<String, Title>) {
    let path = find_index_database_dir(index).join(DATABASE);
    let mut read = || -> rusqlite::Result<()> {
        let database = open_read_only(&path)?;
        // Before threads had pages, the title was the first prompt until the user gave another.
        let mut rows = database.prepare(
            "SELECT id, CASE history_mode WHEN 'legacy' THEN title ELSE name END AS shown
             FROM threads
             WHERE shown <> '' AND (history_mode <> 'legacy' OR title <> first_user_message)",
        )?;
        let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for row in rows {
            let (id, text): (String, String) = row?;
            if names.get(&id).is_none_or(|known| known.text != text) {
                let source = TitleSource::Manual;
                names.insert(id, Title { text, source });
            }
        }
        Ok(())
    };
    if path.is_file() {
        // A damaged database only loses names.
        let _ = read();
    }
}

/// Writes a name into the database for an index, if Codex has one.
fn show_name(index: &Path, thread: &str, name: &str) -> Result<(), &'static str> {
    let dir = find_index_database_dir(index);
    let path = dir.join(DATABASE);
    if has_newer_schema(&dir) {
        return Err("Codex stores names in a database with an unknown schema");
    }
    let Ok(metadata) = fs::symlink_metadata(&path) else {
        return Ok(());
    };
    if !metadata.is_file() {
        return Err("the database of Codex is not a regular file");
    }
    let to_reason = |_| "the database of Codex cannot be written to";
    let mut database = open_writable(&path).map_err(to_reason)?;
    if !has_columns(&database, "threads", &COLUMNS) {
        return Err("the database of Codex has an unknown schema");
    }
    let change = database.transaction().map_err(to_reason)?;
    let mut changed = 0;
    for update in [
        "UPDATE threads SET name = ?1 WHERE id = ?2 AND history_mode = 'paginated'",
        "UPDATE threads SET title = ?1 WHERE id = ?2 AND history_mode = 'legacy'",
    ] {
        changed += change.execute(update, [name, thread]).map_err(to_reason)?;
    }
    if changed != 1 {
        return Err("Codex does not list this session");
    }
    change.commit().map_err(to_reason)
}

/// Whether there is a database of a newer schema than the known one.
fn has_newer_schema(dir: &Path) -> bool {
    let files = fs::read_dir(dir).ok();
    files.into_iter().flatten().flatten().any(|file| {
        let name = file.file_name();
        let stem = name.to_str().and_then(|name| name.strip_suffix(".sqlite"));
        let version = stem.and_then(|stem| stem.strip_prefix("state_"));
        version.and_then(|version| version.parse().ok()) > Some(5_u32)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    const SCHEMA: &str = "CREATE TABLE threads (id TEXT PRIMARY KEY, history_mode TEXT, name TEXT,
        title TEXT NOT NULL, first_user_message TEXT)";

    /// Returns a home directory with two threads of each kind, one of them named.
    fn home() -> (tempfile::TempDir, PathBuf, Connection) {
        let home = tempfile::tempdir().unwrap();
        let index = home.path().join(INDEX);
        let database = Connection::open(home.path().join(DATABASE)).unwrap();
        let rows = "PRAGMA journal_mode = WAL; INSERT INTO threads VALUES
            ('p', 'paginated', NULL, 'do it', 'do it'), ('q', 'paginated', 'Named', 'do', 'do'),
            ('l', 'legacy', NULL, 'do it', 'do it'), ('m', 'legacy', NULL, 'Called', 'do it')";
        database.execute_batch(SCHEMA).unwrap();
        database.execute_batch(rows).unwrap();
        (home, index, database)
    }

    fn sorted_names(index: &Path) -> Vec<(String, String)> {
        let mut names = HashMap::new();
        add_database_names(index, &mut names);
        let mut names: Vec<_> = names
            .into_iter()
            .map(|(id, name)| (id, name.text))
            .collect();
        names.sort();
        names
    }

    #[test]
    fn names_match_what_codex_shows() {
        // The connection stays open: the rows are in the write-ahead log.
        let (_home, index, _database) = home();
        let pair = |id: &str, name: &str| (id.to_owned(), name.to_owned());
        assert_eq!(
            sorted_names(&index),
            [pair("m", "Called"), pair("q", "Named")]
        );
        show_name(&index, "p", "Paged").unwrap();
        show_name(&index, "l", "Old").unwrap();
        let expected = [
            pair("l", "Old"),
            pair("m", "Called"),
            pair("p", "Paged"),
            pair("q", "Named"),
        ];
        assert_eq!(sorted_names(&index), expected);
        // A name in both has the source in the index.
        let auto = |text: &str| Title {
            text: text.to_owned(),
            source: TitleSource::Auto,
        };
        let mut names = HashMap::from([
            ("p".to_owned(), auto("Paged")),
            ("q".to_owned(), auto("Before")),
        ]);
        add_database_names(&index, &mut names);
        assert_eq!(names["p"], auto("Paged"));
        assert!(names["q"].is_manual());
    }

    #[test]
    fn a_database_that_is_not_understood_is_not_written_to() {
        let (home, index, database) = home();
        assert!(show_name(&index, "gone", "x").is_err());
        let newer = home.path().join("state_6.sqlite");
        fs::write(&newer, "").unwrap();
        assert!(show_name(&index, "p", "x").is_err());
        fs::remove_file(newer).unwrap();
        database
            .execute_batch("ALTER TABLE threads RENAME COLUMN name TO called")
            .unwrap();
        assert!(show_name(&index, "p", "x").is_err());
        assert!(sorted_names(&index).is_empty());
        let texts: u32 = database
            .query_row(
                "SELECT count(*) FROM threads WHERE called = 'x' OR title = 'x'",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(texts, 0);
        // Older versions have no database.
        assert_eq!(
            show_name(&home.path().join("none").join(INDEX), "p", "x"),
            Ok(())
        );
    }

    #[test]
    fn the_database_is_where_codex_looks_for_it() {
        let home = tempfile::tempdir().unwrap();
        let environment =
            |dir: &str| Environment::from_iter([("HOME", "/home/me"), ("CODEX_SQLITE_HOME", dir)]);
        let dir = |named: &str| find_database_dir(home.path(), &environment(named));
        assert_eq!(dir(" "), home.path());
        assert_eq!(dir("/elsewhere"), Path::new("/elsewhere"));
        for (configured, expected) in [
            ("/data/codex", PathBuf::from("/data/codex")),
            ("~/data", PathBuf::from("/home/me/data")),
            ("data", home.path().join("data")),
        ] {
            let config = format!("model = 'x'\nsqlite_home = '{configured}'\n[tui]\n");
            fs::write(home.path().join("config.toml"), config).unwrap();
            assert_eq!(dir("/elsewhere"), expected);
        }
    }

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
