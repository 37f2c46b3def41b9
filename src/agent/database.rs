//! Databases that contain many sessions. A session is named `FILE.db#ID`.

use std::io;
use std::path::Path;

use rusqlite::{Connection, Result};

use super::opencode::DATABASE as OPENCODE;
use super::sqlite::{Database, Visit, has_columns, open_read_only};
pub(crate) use super::sqlite::{QueryExtent, StoredSession};

/// The extension of databases.
pub(crate) const EXTENSION: &str = "db";

/// The databases of all agents.
const DATABASES: [&Database; 1] = [&OPENCODE];

/// Returns the sessions in a database. Returns none if no agent is known to write such a database.
///
/// # Errors
/// The database cannot be read.
pub(crate) fn stored_sessions(path: &Path) -> io::Result<Vec<StoredSession>> {
    let (connection, database) = open(path)?;
    (database.sessions)(&connection).map_err(io::Error::other)
}

/// Calls `visit` with the rows of a session in a database.
///
/// # Errors
/// The database cannot be read or has no such session, or `visit` failed.
pub(crate) fn stored_rows(
    path: &Path,
    id: &str,
    extent: QueryExtent,
    visit: &mut Visit<'_>,
) -> io::Result<()> {
    let (mut connection, database) = open(path)?;
    // A transaction reads all rows from one state of the database.
    let mut read = || -> Result<()> {
        let transaction = connection.transaction()?;
        (database.rows)(&transaction, id, extent, visit)
    };
    read().map_err(|error| match error {
        rusqlite::Error::QueryReturnedNoRows => io::Error::other("has no session with this id"),
        error => io::Error::other(error),
    })
}

/// Detects changes of a database by other programs.
#[derive(Debug)]
pub(crate) struct DatabaseWatch {
    connection: Connection,
    /// The version at the last check.
    version: Option<i64>,
}

impl DatabaseWatch {
    /// Watches a database.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            connection: open_read_only(path).map_err(io::Error::other)?,
            version: None,
        })
    }

    /// Whether the database changed since the last check. The first check returns true.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(crate) fn has_changed(&mut self) -> io::Result<bool> {
        let version = self
            .connection
            .pragma_query_value(None, "data_version", |row| row.get(0));
        let version = Some(version.map_err(io::Error::other)?);
        Ok(std::mem::replace(&mut self.version, version) != version)
    }
}

fn open(path: &Path) -> io::Result<(Connection, &'static Database)> {
    let connection = open_read_only(path).map_err(io::Error::other)?;
    let is_of = |database: &&&Database| {
        let mut tables = database.tables.iter();
        tables.all(|(table, columns)| has_columns(&connection, table, columns))
    };
    match DATABASES.iter().find(is_of) {
        Some(database) => Ok((connection, database)),
        None => Err(io::Error::other(
            "not a database of sessions of a known agent",
        )),
    }
}
