//! Databases that contain many sessions. A session is named `FILE.db#ID`.

use std::io;
use std::path::Path;

use rusqlite::{Connection, Result};

use super::opencode_database::{TABLES, rows, sessions};
pub(crate) use super::sqlite::{QueryExtent, StoredSession};
use super::sqlite::{Visit, has_columns, open_read_only};

/// The extension of databases.
pub(crate) const DATABASE_EXTENSION: &str = "db";

/// Returns the sessions in a database.
///
/// # Errors
/// The database cannot be read.
pub(crate) fn stored_sessions(path: &Path) -> io::Result<Vec<StoredSession>> {
    let database = open(path)?;
    sessions(&database).map_err(io::Error::other)
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

fn open(path: &Path) -> io::Result<Connection> {
    let database = open_read_only(path).map_err(io::Error::other)?;
    let mut tables = TABLES.iter();
    if tables.all(|(table, columns)| has_columns(&database, table, columns)) {
        return Ok(database);
    }
    let error = "not a database of sessions of a known agent";
    Err(io::Error::other(error))
}
