//! The changes of files in the records of opencode.

use super::content::{is_true, string};
use super::edits::{EditKind, FileEdit, new_edit, new_file, strip_diff_head};
use turnpipe_core::json::{object, text};

object! { Row { parts } }
object! { Part { call = "callID", state: State<'a> } }
object! { State { status, input: Input<'a>, metadata: Metadata<'a> } }
object! { Input { path = "filePath", content } }
object! { Metadata { diff, exists, files } }
object! { Patched { path = "filePath", kind = "type", patch, moved_to = "movePath" } }

/// Returns the changes in a record.
pub(super) fn read_edits(record: &str) -> Vec<FileEdit> {
    let row = Row::read(record).unwrap_or_default();
    Part::read_list(row.parts)
        .iter()
        .flat_map(read_part)
        .collect()
}

fn read_part(part: &Part<'_>) -> Vec<FileEdit> {
    let is_done = |state: &State<'_>| text(state.status).as_deref() == Some("completed");
    let Some(state) = part.state.filter(is_done) else {
        return Vec::new();
    };
    let metadata = state.metadata.unwrap_or_default();
    if metadata.files.is_some() {
        let files = Patched::read_list(metadata.files).into_iter();
        return files.filter_map(|file| read_file(part, &file)).collect();
    }
    read_call(part, &state, &metadata).into_iter().collect()
}

/// Returns a file of a patch.
fn read_file(part: &Part<'_>, file: &Patched<'_>) -> Option<FileEdit> {
    Some(FileEdit {
        call: string(part.call),
        path: string(file.path)?,
        moved_to: string(file.moved_to),
        kind: match text(file.kind)?.as_ref() {
            "add" => EditKind::Add,
            "delete" => EditKind::Remove,
            _ => EditKind::Change,
        },
        hunks: strip_diff_head(&text(file.patch)?),
    })
}

fn read_call(part: &Part<'_>, state: &State<'_>, metadata: &Metadata<'_>) -> Option<FileEdit> {
    let (call, path) = (string(part.call), string(state.input?.path)?);
    if let Some(diff) = text(metadata.diff) {
        return new_edit(call, path, strip_diff_head(&diff));
    }
    let mut edit = new_file(call, path, &text(state.input?.content)?);
    if is_true(metadata.exists) {
        edit.kind = EditKind::Replace;
    }
    Some(edit)
}
