//! The database of goose 1.10 and later. The rows of a session are from three tables; their members are the columns.

use rusqlite::{Connection, Result, Row};

use super::content::is_in;
use super::database::{DatabaseFormat, ReadExtent, Visit};
use super::sqlite::{has_columns, to_json_object};

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
    visit_rows,
};

/// Selects all sessions. In older versions without a column for the parent, its name refers to the second table.
const SESSIONS: &str = "SELECT s.id, (SELECT parent_session_id FROM sessions WHERE id = s.id),
    coalesce(unixepoch(s.updated_at), 0) * 1000,
    (SELECT coalesce(sum(octet_length(content_json)), 0) FROM messages WHERE session_id = s.id)
    FROM sessions s, (SELECT NULL AS parent_session_id)";

/// Selects a session with the time of its first message, because an imported session is older than its row.
const SESSION: &str =
    "SELECT *, (SELECT min(created_timestamp) FROM messages WHERE session_id = ?1)
    AS created_timestamp FROM sessions WHERE id = ?1";

/// The columns of a session that never change.
const CONSTANT: &str = "id working_dir created_at created_timestamp session_type parent_session_id";

/// Selects all messages, or the first and the last one if `?2` is false. In older versions without a column for the id of a
/// message, its name refers to the second table.
const MESSAGES: &str = "SELECT m.*, (SELECT message_id FROM messages WHERE id = m.id) AS uuid
    FROM messages m, (SELECT NULL AS message_id) WHERE session_id = ?1 AND (?2 OR m.id IN (
    (SELECT id FROM messages WHERE session_id = ?1 ORDER BY created_timestamp, id LIMIT 1),
    (SELECT id FROM messages WHERE session_id = ?1 ORDER BY created_timestamp DESC, id DESC LIMIT 1)))
    ORDER BY created_timestamp, m.id";

/// The columns of a message to omit: a compaction changes the first two by writing the message again; `message_id` is read
/// as `uuid`.
const VOLATILE: &str = "id timestamp message_id";

/// Selects the requests of a session.
const LEDGER: &str = "SELECT * FROM usage_ledger WHERE session_id = ?1 ORDER BY id";

/// Calls `visit` with the session, then with its messages and requests by time.
fn visit_rows(
    database: &Connection,
    id: &str,
    extent: ReadExtent,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let mut requests = Vec::new();
    if extent == ReadExtent::Whole && has_columns(database, "usage_ledger", &["session_id", "id"]) {
        let read = |row: &Row<'_>| Ok((read_time(row)?, to_json_object(row, |_| true)?));
        let mut ledger = database.prepare(LEDGER)?;
        requests = ledger.query_map([id], read)?.collect::<Result<_>>()?;
    }
    let is_column_read = |name: &str| match extent {
        ReadExtent::Settled => is_in(CONSTANT, name),
        // The accumulated tokens are the sum of the requests.
        ReadExtent::Whole => requests.is_empty() || !name.starts_with("accumulated_"),
        ReadExtent::Ends => true,
    };
    let session = database.query_row(SESSION, [id], |row| to_json_object(row, is_column_read))?;
    visit(&session)?;
    let mut requests = requests.into_iter().peekable();
    let mut messages = database.prepare(MESSAGES)?;
    let mut messages = messages.query((id, extent != ReadExtent::Ends))?;
    while let Some(message) = messages.next()? {
        let time = read_time(message)?;
        while let Some((_, request)) = requests.next_if(|(request_time, _)| *request_time < time) {
            visit(&request)?;
        }
        visit(&to_json_object(message, |name| !is_in(VOLATILE, name))?)?;
    }
    requests.try_for_each(|(_, request)| visit(&request))
}

fn read_time(row: &Row<'_>) -> Result<i64> {
    row.get("created_timestamp")
}
