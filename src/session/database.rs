//! Sessions in databases of agents, named `FILE.db#ID`. Each is read as a temporary file of its rows.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::agent::database::{
    DatabaseWatch, EXTENSION, QueryExtent, StoredSession, stored_rows, stored_sessions,
};

/// Maximum size of a session, in bytes.
const MAX_SIZE: u64 = 1024 * 1024 * 1024;

/// Whether a file may be a database of sessions, by its name.
pub(super) fn is_database(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == EXTENSION)
}

/// Returns the database and the id in the name of a session.
pub(super) fn session_at(path: &Path) -> Option<(PathBuf, &str)> {
    let (name, id) = path.file_name()?.to_str()?.split_once('#')?;
    let database = path.with_file_name(name);
    // The name of a side file has a suffix.
    let is_id = !id.is_empty() && !id.contains('.');
    (is_id && is_database(&database) && database.is_file()).then_some((database, id))
}

/// Returns the sessions in a database, with their names. Empty if none can be read.
pub(super) fn sessions_in(path: &Path) -> Vec<(PathBuf, StoredSession)> {
    let sessions = stored_sessions(path).unwrap_or_default().into_iter();
    let named = sessions.map(|session| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!("#{}", session.id));
        (name.into(), session)
    });
    named.collect()
}

/// Watches the database of the session at this path. `None` if it is not in a database.
pub(super) fn watch(path: &Path) -> Option<io::Result<DatabaseWatch>> {
    let (database, _) = session_at(path)?;
    Some(DatabaseWatch::open(&database))
}

/// Returns the sessions of the subagents of a session.
pub(super) fn subagents_of(path: &Path) -> Vec<PathBuf> {
    let Some((database, id)) = session_at(path) else {
        return Vec::new();
    };
    let sessions = sessions_in(&database).into_iter();
    let own = sessions.filter(|(_, session)| session.parent.as_deref() == Some(id));
    own.map(|(path, _)| path).collect()
}

/// Returns the rows of a session in a database, as a temporary file, and its size. `None` if the path does
/// not name a session in a database.
pub(super) fn rows_of(path: &Path, extent: QueryExtent) -> Option<io::Result<(File, u64)>> {
    let (database, id) = session_at(path)?;
    Some(write_rows(&database, id, extent))
}

fn write_rows(database: &Path, id: &str, extent: QueryExtent) -> io::Result<(File, u64)> {
    let mut size = 0;
    let mut rows = BufWriter::new(tempfile::tempfile()?);
    stored_rows(database, id, extent, &mut |row| {
        size += row.len() as u64 + 1;
        if size > MAX_SIZE {
            return Err(io::Error::other("contains more than 1 GiB"));
        }
        rows.write_all(row.as_bytes())?;
        rows.write_all(b"\n")
    })?;
    Ok((rows.into_inner()?, size))
}
