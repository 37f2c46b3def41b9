//! Databases of agents, which may be in use: reading them takes no lock that an agent waits for.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

/// Maximum time to wait for a writer, which holds its lock for milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// Opens a database for reading. Transactions in its write-ahead log are visible.
///
/// # Errors
/// It is missing, is not a database, or is damaged.
pub(super) fn open_read_only(path: &Path) -> rusqlite::Result<Connection> {
    let usual = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    if usual
        .query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
        .is_ok()
    {
        return Ok(usual);
    }
    // Where no index of the log can be created, nothing else writes either.
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let escaped: Vec<String> = bytes.map(|byte| format!("%{byte:02x}")).collect();
    let url = format!("file:{}?immutable=1", escaped.concat());
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    open(Path::new(&url), flags)
}

/// Opens an existing database for writing.
///
/// # Errors
/// It is missing, or must not be written to.
pub(super) fn open_writable(path: &Path) -> rusqlite::Result<Connection> {
    open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
}

fn open(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

/// Whether a table has all of these columns.
pub(super) fn has_columns(connection: &Connection, table: &str, columns: &[&str]) -> bool {
    let names = || -> rusqlite::Result<Vec<String>> {
        let mut names = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
        names.query_map([table], |row| row.get(0))?.collect()
    };
    let names = names().unwrap_or_default();
    columns
        .iter()
        .all(|column| names.iter().any(|name| name == column))
}
