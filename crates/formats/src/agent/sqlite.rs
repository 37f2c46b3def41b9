//! Databases of agents, which may be in use. Reading takes no lock that an agent waits for.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Result, Row};
use serde_json::value::{RawValue, to_raw_value};

/// Maximum time to wait for a writer, which holds its lock for milliseconds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

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
    // Without permission to create the index of the log, it is read without one, and without locks.
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let escaped: Vec<String> = bytes.map(|byte| format!("%{byte:02x}")).collect();
    let url = format!("file:{}?vfs=unix-none", escaped.concat());
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = open(Path::new(&url), flags)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    Ok(connection)
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
    connection.busy_timeout(BUSY_TIMEOUT)?;
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

/// Wraps an error of a conversion or of the receiver of rows.
pub(super) fn to_sql_error(error: impl Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}

/// Returns a row as a JSON object of its wanted columns, without those that are null or blobs. A column whose name ends
/// in `_json` contains JSON.
pub(super) fn to_json_object(row: &Row<'_>, is_wanted: impl Fn(&str) -> bool) -> Result<String> {
    let mut object = BTreeMap::new();
    for (at, name) in row.as_ref().column_names().enumerate() {
        let value = match row.get_ref(at)? {
            _ if !is_wanted(name) => continue,
            ValueRef::Null | ValueRef::Blob(_) => continue,
            ValueRef::Integer(number) => to_raw_value(&number),
            ValueRef::Real(number) => to_raw_value(&number),
            ValueRef::Text(text) => {
                let text = String::from_utf8_lossy(text);
                let embedded = RawValue::from_string(text.to_string());
                embedded
                    .ok()
                    .filter(|_| name.ends_with("_json"))
                    .map_or_else(|| to_raw_value(&text), Ok)
            }
        };
        object.insert(name, value.map_err(to_sql_error)?);
    }
    // Line ends between tokens are the only ones that JSON can contain.
    let object = to_raw_value(&object).map_err(to_sql_error)?;
    Ok(object.get().replace(['\n', '\r'], " "))
}
