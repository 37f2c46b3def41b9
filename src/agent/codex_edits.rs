//! The changes of files in the records of Codex.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::content::string;
use super::edits::{EditKind, FileEdit, added};
use super::hunks::unified;
use crate::json::{object, text};

object! { Row { payload: Payload<'a> } }
object! { Payload { item: Item<'a> } }
object! { Item { kind = "type", id, changes, status } }
object! { Change { kind = "type", content, diff = "unified_diff", moved_to = "move_path" } }

/// Returns the changes in a record.
pub(super) fn changes(record: &str) -> Vec<FileEdit> {
    let payload = Row::read(record).and_then(|row| row.payload);
    let Some(item) = payload.and_then(|payload| payload.item) else {
        return Vec::new();
    };
    let is_done = text(item.kind).as_deref() == Some("FileChange")
        && text(item.status).as_deref() == Some("completed");
    let changes = item.changes.filter(|_| is_done).map(RawValue::get);
    let changes = changes.and_then(|json| serde_json::from_str(json).ok());
    let changes: BTreeMap<String, &RawValue> = changes.unwrap_or_default();
    let edits = changes.into_iter().filter_map(|(path, raw)| {
        let change = Change::of(Some(raw))?;
        let call = string(item.id);
        match text(change.kind)?.as_ref() {
            "add" => Some(added(call, path, &text(change.content)?)),
            "delete" => Some(FileEdit {
                kind: EditKind::Remove,
                hunks: unified(&text(change.content)?, ""),
                ..added(call, path, "")
            }),
            _ => Some(FileEdit {
                call,
                path,
                moved_to: string(change.moved_to),
                kind: EditKind::Change,
                // A file may only be moved.
                hunks: text(change.diff)?.into_owned(),
            }),
        }
    });
    edits.collect()
}
