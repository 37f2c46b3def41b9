//! The database of goose 1.10 and later: its sessions as the rows of three tables, with the names of columns.

use rusqlite::{Connection, Params, Result};

use super::content::is_in;
use super::database::{DatabaseFormat, ReadExtent, Visit};
use super::sqlite::{has_columns, json_object};

/// The database with all sessions.
pub(super) static DATABASE: DatabaseFormat = DatabaseFormat {
    tables: &[
        (
            "sessions",
            &["id", "working_dir", "created_at", "updated_at"],
        ),
        (
            "messages",
            &[
                "id",
                "session_id",
                "role",
                "content_json",
                "created_timestamp",
            ],
        ),
    ],
    sessions: SESSIONS,
    rows,
};

/// Older versions have no column for the parent: the name then refers to the second table.
const SESSIONS: &str = "SELECT s.id, (SELECT parent_session_id FROM sessions WHERE id = s.id),
    coalesce(unixepoch(s.updated_at), 0) * 1000,
    (SELECT coalesce(sum(octet_length(content_json)), 0) FROM messages WHERE session_id = s.id)
    FROM sessions s, (SELECT NULL AS parent_session_id)";

const SESSION: &str = "SELECT * FROM sessions WHERE id = ?1";

/// The columns of a session that never change.
const CONSTANT: &str = "id working_dir created_at session_type parent_session_id";

/// All messages, or else the first and the last one. Older versions have no column for the id of a message.
const MESSAGES: &str = "SELECT m.*, (SELECT message_id FROM messages WHERE id = m.id) AS uuid
    FROM messages m, (SELECT NULL AS message_id) WHERE session_id = ?1 AND (?2 OR m.id IN (
    (SELECT id FROM messages WHERE session_id = ?1 ORDER BY created_timestamp, id LIMIT 1),
    (SELECT id FROM messages WHERE session_id = ?1 ORDER BY created_timestamp DESC, id DESC LIMIT 1)))
    ORDER BY created_timestamp, m.id";

/// The columns of a message that a compaction changes by writing it again, and the one that is read as `uuid`.
const VOLATILE: &str = "id timestamp message_id";

/// The requests.
const LEDGER: &str = "SELECT * FROM usage_ledger WHERE session_id = ?1 ORDER BY id";

fn rows(database: &Connection, id: &str, extent: ReadExtent, visit: &mut Visit<'_>) -> Result<()> {
    let mut requests = Vec::new();
    if extent == ReadExtent::Whole && has_columns(database, "usage_ledger", &["session_id", "id"]) {
        visit_table(database, LEDGER, [id], |_| true, &mut |row| {
            requests.push(row.to_owned());
            Ok(())
        })?;
    }
    let is_wanted = |name: &str| match extent {
        ReadExtent::Settled => is_in(CONSTANT, name),
        // The requests add up to them.
        ReadExtent::Whole => requests.is_empty() || !name.starts_with("accumulated_"),
        ReadExtent::Ends => true,
    };
    let session = database.query_row(SESSION, [id], |row| json_object(row, is_wanted))?;
    visit(&session)?;
    let is_stable = |name: &str| !is_in(VOLATILE, name);
    visit_table(
        database,
        MESSAGES,
        (id, extent != ReadExtent::Ends),
        is_stable,
        visit,
    )?;
    requests.iter().try_for_each(|row| visit(row))
}

fn visit_table(
    database: &Connection,
    query: &str,
    parameters: impl Params,
    is_wanted: impl Fn(&str) -> bool,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let mut statement = database.prepare(query)?;
    let mut rows = statement.query(parameters)?;
    while let Some(row) = rows.next()? {
        visit(&json_object(row, &is_wanted)?)?;
    }
    Ok(())
}
