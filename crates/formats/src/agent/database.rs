//! Databases that contain many sessions. A session has the name `FILE.db#ID`, and is read as rows, which are JSON objects.

use std::io;
use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;
use rusqlite::{Connection, Result, Row};

use super::sqlite::{has_columns, open_read_only, to_sql_error};

/// The extension of databases.
pub const DATABASE_EXTENSION: &str = "db";

/// The databases of an agent.
#[derive(Debug, Clone, Copy)]
pub struct DatabaseFormat {
    /// The tables and columns that every version of the agent has.
    pub(super) tables: &'static [(&'static str, &'static [&'static str])],
    /// Selects the id, the parent, the time of the last change in milliseconds and the size in bytes of all
    /// sessions.
    pub(super) sessions: &'static str,
    /// Calls `visit` with the rows of a session. Fails with `QueryReturnedNoRows` if no session has this id.
    pub(super) visit_rows: fn(&Connection, &str, ReadExtent, &mut Visit<'_>) -> Result<()>,
}

/// A session in a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSession {
    /// The id of the session.
    pub id: String,
    /// The session that started it, if it belongs to a subagent.
    pub parent: Option<String>,
    /// The time of the last change.
    pub changed: SystemTime,
    /// The size of the messages in bytes.
    pub size: u64,
}

/// The part of a session to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadExtent {
    /// Everything.
    Whole,
    /// Enough for a list.
    Ends,
    /// Only content that does not change later. In files, all content is of this kind.
    Settled,
}

/// Receives the rows of a session, without line ends.
pub(super) type Visit<'a> = dyn FnMut(&str) -> Result<()> + 'a;

/// A database that is open for reading.
#[derive(Debug)]
pub struct SessionDatabase {
    connection: Connection,
    format: &'static DatabaseFormat,
}

impl SessionDatabase {
    /// Opens a database, and finds its format among `formats`.
    ///
    /// # Errors
    /// The database cannot be read, or has another format.
    pub(super) fn open(
        path: &Path,
        mut formats: impl Iterator<Item = &'static DatabaseFormat>,
    ) -> io::Result<Self> {
        let connection = open_read_only(path).map_err(io::Error::other)?;
        let fits = |format: &&DatabaseFormat| {
            let mut tables = format.tables.iter();
            tables.all(|(table, columns)| has_columns(&connection, table, columns))
        };
        match formats.find(fits) {
            Some(format) => Ok(Self { connection, format }),
            None => Err(io::Error::other(
                "not a database of sessions of a known agent",
            )),
        }
    }

    /// Reads the list of all sessions.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn sessions(&self) -> io::Result<Vec<StoredSession>> {
        let read_session = |row: &Row<'_>| {
            let changed = Timestamp::from_millisecond(row.get(2)?).unwrap_or(Timestamp::MAX);
            Ok(StoredSession {
                id: row.get(0)?,
                parent: row.get(1)?,
                changed: changed.into(),
                size: row.get::<_, i64>(3)?.unsigned_abs(),
            })
        };
        let read = || -> Result<_> {
            let mut sessions = self.connection.prepare(self.format.sessions)?;
            sessions.query_map([], read_session)?.collect()
        };
        read().map_err(io::Error::other)
    }

    /// Calls `visit` with the rows of a session.
    ///
    /// # Errors
    /// The database cannot be read or has no such session, or `visit` failed.
    pub fn visit_rows(
        &mut self,
        id: &str,
        extent: ReadExtent,
        visit: &mut dyn FnMut(&str) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut visit = |row: &str| visit(row).map_err(to_sql_error);
        // A transaction reads all rows from one state of the database.
        let mut read = || {
            let transaction = self.connection.transaction()?;
            (self.format.visit_rows)(&transaction, id, extent, &mut visit)
        };
        read().map_err(|error| match error {
            rusqlite::Error::QueryReturnedNoRows => io::Error::other("has no session with this id"),
            error => io::Error::other(error),
        })
    }
}

/// Detects changes of a database by other programs.
#[derive(Debug)]
pub struct DatabaseWatch {
    connection: Connection,
    /// The version at the last check.
    version: Option<i64>,
}

impl DatabaseWatch {
    /// Opens a database to watch it.
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
