//! Databases that contain many sessions: those of opencode 1.2 and later. A session is named `FILE.db#ID`, and read as the
//! rows that `opencode export` writes.

use std::io;
use std::path::Path;

use jiff::Timestamp;
use rusqlite::{Connection, Result, Row};

pub use super::sqlite::{ReadExtent, StoredSession};
use super::sqlite::{Visit, has_columns, open_read_only};

/// The tables and columns that are read.
const TABLES: [(&str, &[&str]); 3] = [
    (
        "session",
        &["id", "parent_id", "directory", "title", "time_updated"],
    ),
    ("message", &["id", "session_id", "time_created", "data"]),
    ("part", &["id", "message_id", "session_id", "data"]),
];

const SESSIONS: &str = "SELECT s.id, s.parent_id, s.time_updated,
    (SELECT coalesce(sum(octet_length(data)), 0) FROM message WHERE session_id = s.id) +
    (SELECT coalesce(sum(octet_length(data)), 0) FROM part WHERE session_id = s.id)
    FROM session s";

/// The session, as `opencode export` writes it.
const SESSION: &str = "SELECT json_object('info', json_object('id', id, 'slug', slug,
    'parentID', parent_id, 'directory', directory, 'title', title, 'version', version,
    'model', json(model), 'time', json_object('created', time_created, 'updated', time_updated)))
    FROM session WHERE id = ?1";

/// The members of a session that never change.
const CONSTANT: &str = "SELECT json_object('info', json_object('id', id, 'slug', slug,
    'parentID', parent_id, 'directory', directory, 'version', version,
    'time', json_object('created', time_created))) FROM session WHERE id = ?1";

const MESSAGES: &str =
    "SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id";

/// Like [`MESSAGES`], without the summary that opencode adds to a prompt later.
const SETTLED: &str = "SELECT id, json_remove(data, '$.summary') FROM message WHERE session_id = ?1
    ORDER BY time_created, id";

/// The first and the last message.
const ENDS: &str = "SELECT id, data FROM message WHERE id IN (
    (SELECT id FROM message WHERE session_id = ?1 ORDER BY time_created, id LIMIT 1),
    (SELECT id FROM message WHERE session_id = ?1 ORDER BY time_created DESC, id DESC LIMIT 1))
    ORDER BY time_created, id";

const PARTS: &str = "SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id";

fn sessions(database: &Connection) -> Result<Vec<StoredSession>> {
    let mut sessions = database.prepare(SESSIONS)?;
    let stored = |row: &Row<'_>| {
        let changed = Timestamp::from_millisecond(row.get(2)?).unwrap_or(Timestamp::MAX);
        Ok(StoredSession {
            id: row.get(0)?,
            parent: row.get(1)?,
            changed: changed.into(),
            size: row.get::<_, i64>(3)?.unsigned_abs(),
        })
    };
    sessions.query_map([], stored)?.collect()
}

fn rows(database: &Connection, id: &str, extent: ReadExtent, visit: &mut Visit<'_>) -> Result<()> {
    let mut write = |row: &str| {
        let failed = |error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
        visit(row).map_err(failed)
    };
    let (session, query) = match extent {
        ReadExtent::Ends => (SESSION, ENDS),
        ReadExtent::Whole => (SESSION, MESSAGES),
        ReadExtent::Settled => (CONSTANT, SETTLED),
    };
    let session: String = database.query_row(session, [id], |row| row.get(0))?;
    write(&session)?;
    let mut messages = database.prepare(query)?;
    let mut parts_of = database.prepare(PARTS)?;
    let mut messages = messages.query([id])?;
    let mut waiting: Option<String> = None;
    while let Some(message) = messages.next()? {
        if let Some(row) = waiting.take() {
            write(&row)?;
        }
        let message_id: String = message.get(0)?;
        let data: String = message.get(1)?;
        let parts = parts_of.query_map([&message_id], |part| {
            Ok(with_id(
                &part.get::<_, String>(0)?,
                &part.get::<_, String>(1)?,
            ))
        })?;
        let parts = parts.collect::<Result<Vec<_>>>()?.join(",");
        let row = format!(
            "{{\"info\":{},\"parts\":[{parts}]}}",
            with_id(&message_id, &data)
        );
        let row = row.replace('\n', " ");
        let is_user = data.contains("\"role\":\"user\"") && !parts.is_empty();
        let is_settled = is_user || data.contains("\"completed\":");
        if extent == ReadExtent::Settled && !is_settled {
            // Its parts may still change, unless another message follows.
            waiting = Some(row);
        } else {
            write(&row)?;
        }
    }
    Ok(())
}

/// Returns an object with its id, which the database keeps in another column.
fn with_id(id: &str, object: &str) -> String {
    let members = object.trim_start().strip_prefix('{').unwrap_or("}");
    let comma = if members.trim_start().starts_with('}') {
        ""
    } else {
        ","
    };
    let id = serde_json::Value::from(id);
    format!("{{\"id\":{id}{comma}{members}")
}

/// The extension of databases.
pub const DATABASE_EXTENSION: &str = "db";

/// Returns the sessions in a database.
///
/// # Errors
/// The database cannot be read.
pub fn list_sessions(path: &Path) -> io::Result<Vec<StoredSession>> {
    let database = open(path)?;
    sessions(&database).map_err(io::Error::other)
}

/// Calls `visit` with the rows of a session in a database.
///
/// # Errors
/// The database cannot be read or has no such session, or `visit` failed.
pub fn visit_rows(
    path: &Path,
    id: &str,
    extent: ReadExtent,
    visit: &mut Visit<'_>,
) -> io::Result<()> {
    let mut database = open(path)?;
    // A transaction reads all rows from one state of the database.
    let mut read = || -> Result<()> {
        let transaction = database.transaction()?;
        rows(&transaction, id, extent, visit)
    };
    read().map_err(|error| match error {
        rusqlite::Error::QueryReturnedNoRows => io::Error::other("has no session with this id"),
        error => io::Error::other(error),
    })
}

/// Detects changes of a database by other programs.
#[derive(Debug)]
pub struct DatabaseWatch {
    connection: Connection,
    /// The version at the last check.
    version: Option<i64>,
}

impl DatabaseWatch {
    /// Watches a database.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            connection: open_read_only(path).map_err(io::Error::other)?,
            version: None,
        })
    }

    /// Whether the database changed since the last check. The first check returns true.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn has_changed(&mut self) -> io::Result<bool> {
        let version = self
            .connection
            .pragma_query_value(None, "data_version", |row| row.get(0));
        let version = Some(version.map_err(io::Error::other)?);
        Ok(std::mem::replace(&mut self.version, version) != version)
    }
}

fn open(path: &Path) -> io::Result<Connection> {
    let database = open_read_only(path).map_err(io::Error::other)?;
    let mut tables = TABLES.iter();
    if tables.all(|(table, columns)| has_columns(&database, table, columns)) {
        return Ok(database);
    }
    let error = "not a database of sessions of a known agent";
    Err(io::Error::other(error))
}
