//! Changes of files that agents record, with their texts, next to the results of calls. A unified diff in a
//! record is kept as it is.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::value::RawValue;

use super::content::{is_true, string};
use super::hunks::{hunks_of, hunks_with_end_line, numbered, unified};
use crate::json::{elements, number, object, text};

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditKind {
    /// The file did not exist.
    Add,
    /// The content changed.
    Change,
    /// The file existed, and the hunks are its new content.
    Replace,
    /// The file does not exist any more.
    Remove,
}

/// A change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// The call.
    pub call: Option<String>,
    /// The path, as stored.
    pub path: String,
    /// The new path, if the file was moved.
    pub moved_to: Option<String>,
    /// The kind.
    pub kind: EditKind,
    /// The hunks of a unified diff.
    pub hunks: String,
}

impl FileEdit {
    /// Returns the numbers of added and of removed lines.
    pub fn line_counts(&self) -> (u64, u64) {
        let count = |mark| {
            self.hunks
                .lines()
                .filter(|line| line.starts_with(mark))
                .count()
        };
        (count('+') as u64, count('-') as u64)
    }
}

object! {
    Row {
        claude: ClaudeResult<'a> = "toolUseResult", message: Said<'a>,
        qwen: Call<'a> = "toolCallResult", gemini = "toolCalls", payload: Payload<'a>, parts,
        copilot: Copilot<'a> = "data",
    }
}

object! {
    Said {
        content, parts, details: Details<'a>, call = "toolCallId", tool = "toolName", is_error = "isError",
    }
}
object! { ResultId { call = "tool_use_id" } }
object! {
    ClaudeResult {
        path = "filePath", kind = "type", content, patch = "structuredPatch", original = "originalFile",
        old = "oldString", new = "newString", is_for_all = "replaceAll",
    }
}
object! {
    Hunk {
        old_start = "oldStart", old_lines = "oldLines", new_start = "newStart",
        new_lines = "newLines", lines,
    }
}
object! { Call { id, call = "callId", status, display: Display<'a> = "resultDisplay" } }
object! { Display { diff = "fileDiff", path = "filePath", is_new = "isNewFile" } }
object! { QwenPart { result: QwenResult<'a> = "functionResponse" } }
object! { QwenResult { response: QwenResponse<'a> } }
object! { QwenResponse { output } }
object! { Copilot { call = "toolCallId", success, files = "fileEdits", result: CopilotResult<'a> } }
object! { CopilotFile { path, kind } }
object! { CopilotResult { diff = "detailedContent" } }
object! { Payload { item: Item<'a> } }
object! { Item { kind = "type", id, changes, status } }
object! { Change { kind = "type", content, diff = "unified_diff", moved_to = "move_path" } }
object! { Part { call = "callID", state: State<'a> } }
object! { State { status, input: Input<'a>, metadata: Metadata<'a> } }
object! { Input { path = "filePath", content } }
object! { Metadata { diff, exists, files } }
object! { Patched { path = "filePath", kind = "type", patch, moved_to = "movePath" } }
object! { Details { diff } }
object! { Text { text } }

/// Returns the changes of files in a record of any agent.
pub fn edits_in(record: &str) -> Vec<FileEdit> {
    let Some(row) = Row::read(record) else {
        return Vec::new();
    };
    let said = row.message.unwrap_or_default();
    let mut edits = Vec::new();
    edits.extend(row.claude.and_then(|result| claude(&result, &said)));
    let shown = Call::list(row.gemini).into_iter().chain(row.qwen);
    edits.extend(shown.filter_map(|call| displayed(&call, &said)));
    edits.extend(
        row.payload
            .and_then(|payload| payload.item)
            .map(codex)
            .unwrap_or_default(),
    );
    edits.extend(Part::list(row.parts).iter().flat_map(opencode));
    edits.extend(row.copilot.and_then(|result| copilot(&result)));
    edits
}

/// Returns the diff that pi shows for an edit of the file at `path`, and the id of its call.
pub fn edit_shown_in(record: &str, path: impl Fn(&str) -> Option<String>) -> Option<FileEdit> {
    let said = Row::read(record)?.message?;
    let hunks = numbered(&text(said.details?.diff)?);
    let call = string(said.call).filter(|_| !is_true(said.is_error))?;
    let path = path(&call)?;
    edit(Some(call), path, hunks)
}

/// Returns the call and the whole text of a file that pi read.
pub fn text_read_in(record: &str) -> Option<(String, String)> {
    let said = Row::read(record)?.message?;
    let is_read = text(said.tool).as_deref() == Some("read") && !is_true(said.is_error);
    let blocks = Text::list(said.content.filter(|_| is_read && said.details.is_none()));
    let [block] = blocks.as_slice() else {
        return None;
    };
    let is_whole = |text: &str| !text.ends_with(" to continue.]");
    let text = text(block.text)?.into_owned();
    Some((string(said.call)?, text)).filter(|(_, text)| is_whole(text))
}

/// Returns a change, unless there are no hunks.
fn edit(call: Option<String>, path: String, hunks: String) -> Option<FileEdit> {
    let kind = if hunks.starts_with("@@ -0,0 ") {
        EditKind::Add
    } else {
        EditKind::Change
    };
    (!hunks.is_empty()).then_some(FileEdit {
        call,
        path,
        moved_to: None,
        kind,
        hunks,
    })
}

fn claude(result: &ClaudeResult<'_>, said: &Said<'_>) -> Option<FileEdit> {
    let path = string(result.path)?;
    let call = ResultId::list(said.content)
        .iter()
        .find_map(|block| string(block.call));
    if text(result.kind).as_deref() == Some("create") {
        return Some(added(call, path, &text(result.content)?));
    }
    let before = text(result.original).unwrap_or_default();
    let after = changed(&before, result);
    let [before, after] =
        [&*before, &*after].map(|content| content.split('\n').collect::<Vec<_>>());
    let mut hunks = String::new();
    for hunk in Hunk::list(result.patch) {
        let [old, old_lines, new, new_lines] = [
            hunk.old_start,
            hunk.old_lines,
            hunk.new_start,
            hunk.new_lines,
        ]
        .map(|count| number(count).unwrap_or_default());
        let _ = writeln!(hunks, "@@ -{old},{old_lines} +{new},{new_lines} @@");
        let [mut old, mut new] =
            [old, new].map(|start| usize::try_from(start).unwrap_or(0).max(1) - 1);
        for line in elements(hunk.lines) {
            let shown = text(Some(line))?;
            let exact = match shown.chars().next() {
                Some('+') => after.get(new),
                _ => before.get(old),
            };
            old += usize::from(shown.starts_with([' ', '-']));
            new += usize::from(shown.starts_with([' ', '+']));
            let exact =
                exact.filter(|exact| is_shown_as(exact, shown.get(1..).unwrap_or_default()));
            match exact {
                Some(exact) => hunks.extend([&shown[..1], exact]),
                None => hunks.push_str(&shown),
            }
            hunks.push('\n');
        }
    }
    edit(call, path, hunks)
}

/// Returns the content of a file after a change by Claude Code.
fn changed(before: &str, result: &ClaudeResult<'_>) -> String {
    let (Some(old), Some(new)) = (text(result.old), text(result.new)) else {
        return string(result.content).unwrap_or_default();
    };
    // A line whose text is removed is removed.
    let line = format!("{old}\n");
    let old = if new.is_empty() && !old.ends_with('\n') && before.contains(&line) {
        &*line
    } else {
        &*old
    };
    let limit = if is_true(result.is_for_all) {
        usize::MAX
    } else {
        1
    };
    before.replacen(old, &new, limit)
}

/// Whether a patch shows a line as this text: Claude Code replaces tabs.
fn is_shown_as(line: &str, shown: &str) -> bool {
    line.contains('\t') && line.split_whitespace().eq(shown.split_whitespace())
}

/// Returns what Gemini CLI or Qwen Code shows for a call.
fn displayed(call: &Call<'_>, said: &Said<'_>) -> Option<FileEdit> {
    let display = call
        .display
        .filter(|_| text(call.status).as_deref() == Some("success"))?;
    let id = string(call.call).or_else(|| string(call.id));
    let mut edit = edit(id, string(display.path)?, hunks_of(&text(display.diff)?))?;
    // An empty file has the same diff as none.
    let outputs = QwenPart::list(said.parts).into_iter();
    let mut outputs = outputs.filter_map(|part| text(part.result?.response?.output));
    let is_over_empty = display.is_new.is_some_and(|is_new| is_new.get() == "false")
        || outputs.any(|output| output.starts_with("Successfully overwrote"));
    if is_over_empty {
        edit.kind = EditKind::Change;
    }
    Some(edit)
}

/// Returns what Copilot CLI shows for an edit. The content of a new file is in the call.
fn copilot(result: &Copilot<'_>) -> Option<FileEdit> {
    let files = CopilotFile::list(result.files.filter(|_| is_true(result.success)));
    let file = files
        .iter()
        .find(|file| text(file.kind).as_deref() == Some("edit"))?;
    let hunks = hunks_with_end_line(&text(result.result?.diff)?);
    edit(string(result.call), string(file.path)?, hunks)
}

fn codex(item: Item<'_>) -> Vec<FileEdit> {
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

fn opencode(part: &Part<'_>) -> Vec<FileEdit> {
    let is_done = |state: &State<'_>| text(state.status).as_deref() == Some("completed");
    let Some(state) = part.state.filter(is_done) else {
        return Vec::new();
    };
    let metadata = state.metadata.unwrap_or_default();
    if metadata.files.is_some() {
        let files = Patched::list(metadata.files).into_iter();
        return files.filter_map(|file| patched(part, &file)).collect();
    }
    opencode_edit(part, &state, &metadata).into_iter().collect()
}

/// Returns a file of a patch by opencode.
fn patched(part: &Part<'_>, file: &Patched<'_>) -> Option<FileEdit> {
    Some(FileEdit {
        call: string(part.call),
        path: string(file.path)?,
        moved_to: string(file.moved_to),
        kind: match text(file.kind)?.as_ref() {
            "add" => EditKind::Add,
            "delete" => EditKind::Remove,
            _ => EditKind::Change,
        },
        hunks: hunks_of(&text(file.patch)?),
    })
}

fn opencode_edit(part: &Part<'_>, state: &State<'_>, metadata: &Metadata<'_>) -> Option<FileEdit> {
    let (call, path) = (string(part.call), string(state.input?.path)?);
    if let Some(diff) = text(metadata.diff) {
        return edit(call, path, hunks_of(&diff));
    }
    let mut edit = added(call, path, &text(state.input?.content)?);
    if is_true(metadata.exists) {
        edit.kind = EditKind::Replace;
    }
    Some(edit)
}

/// Returns a new file.
pub fn added(call: Option<String>, path: String, content: &str) -> FileEdit {
    FileEdit {
        call,
        path,
        moved_to: None,
        kind: EditKind::Add,
        hunks: unified("", content),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tabs_that_claude_code_replaces_in_patches_are_kept() {
        let record = |original: &str, old: &str, new: &str, lines: &[&str]| {
            serde_json::json!({
                "message": {"content": [{"type": "tool_result", "tool_use_id": "t"}]},
                "toolUseResult": {"filePath": "/p/a.go", "originalFile": original, "oldString": old, "newString": new,
                    "structuredPatch": [{"oldStart": 1, "oldLines": 3, "newStart": 1, "newLines": 3, "lines": lines}]},
            })
            .to_string()
        };
        let lines = [" if x {", "-  return 1", "+  return 2", " }"];
        let hunks = |record: &str| edits_in(record).remove(0).hunks;
        let exact = record("if x {\n\treturn 1\n}\n", "return 1", "return 2", &lines);
        let expected = "@@ -1,3 +1,3 @@\n if x {\n-\treturn 1\n+\treturn 2\n }\n";
        assert_eq!(hunks(&exact), expected);
        // An unknown or another original leaves the patch as it is.
        let shown = "@@ -1,3 +1,3 @@\n if x {\n-  return 1\n+  return 2\n }\n";
        for original in ["", "a\n\tb\nc\n"] {
            assert_eq!(
                hunks(&record(original, "return 1", "return 2", &lines)),
                shown
            );
        }
        let removed = record("a\n\tb\nc\n", "\tb", "", &[" a", "-  b", " c"]);
        assert_eq!(hunks(&removed), "@@ -1,3 +1,3 @@\n a\n-\tb\n c\n");
    }
}
