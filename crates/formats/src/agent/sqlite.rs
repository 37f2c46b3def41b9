//! Databases of agents, which may be in use. Reading takes no lock that an agent waits for.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OpenFlags, Result};

/// Maximum time to wait for a writer, which holds its lock for milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// A session in a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSession {
    /// Its id.
    pub id: String,
    /// The session that started it, if it belongs to a subagent.
    pub parent: Option<String>,
    /// The time of its last change.
    pub changed: SystemTime,
    /// The size of its messages in bytes.
    pub size: u64,
}

/// The part of a session to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadExtent {
    /// Everything.
    Whole,
    /// Enough for a list.
    Ends,
    /// The messages that will not change; only databases have others.
    Settled,
}

/// Receives the rows of a session, without line ends.
pub(super) type Visit<'a> = dyn FnMut(&str) -> io::Result<()> + 'a;

/// Opens a database for reading. Transactions in its write-ahead log are visible.
///
/// # Errors
/// The file is missing, is not a database, or is damaged.
pub(super) fn open_read_only(path: &Path) -> Result<Connection> {
    let usual = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    if usual
        .query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
        .is_ok()
    {
        return Ok(usual);
    }
    // If no index of the log can be created, no other process can write either.
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let escaped: Vec<String> = bytes.map(|byte| format!("%{byte:02x}")).collect();
    let url = format!("file:{}?immutable=1", escaped.concat());
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    open(Path::new(&url), flags)
}

/// Opens an existing database for writing.
///
/// # Errors
/// The file is missing, or must not be written to.
pub(super) fn open_writable(path: &Path) -> Result<Connection> {
    open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

/// Whether a table has all of these columns.
pub(super) fn has_columns(connection: &Connection, table: &str, columns: &[&str]) -> bool {
    let names = || -> Result<Vec<String>> {
        let mut names = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
        names.query_map([table], |row| row.get(0))?.collect()
    };
    let names = names().unwrap_or_default();
    columns
        .iter()
        .all(|column| names.iter().any(|name| name == column))
}
