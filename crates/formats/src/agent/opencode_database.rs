//! The database of opencode 1.2 and later: its sessions as the rows that `opencode export` writes.

use rusqlite::{Connection, Result};

use super::database::{DatabaseFormat, ReadExtent, Visit};

/// The databases of opencode 1.2 and later.
pub(super) static DATABASE: DatabaseFormat = DatabaseFormat {
    tables: &TABLES,
    sessions: SESSIONS,
    visit_rows,
};

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

fn visit_rows(
    database: &Connection,
    id: &str,
    extent: ReadExtent,
    write: &mut Visit<'_>,
) -> Result<()> {
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
