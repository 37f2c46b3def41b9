//! The changes of files in the records of Claude Code.

use serde_json::value::RawValue;

use super::content::{is_true, string};
use super::edits::{FileEdit, new_edit, new_file};
use turnpipe_core::json::{elements, number, object, text};
use turnpipe_core::text::append;

object! {
    Row {
        in_file: EditResult<'a> = "toolUseResult", in_stream: EditResult<'a> = "tool_use_result",
        message: MessageFields<'a>,
    }
}
object! { MessageFields { content } }
object! { ResultId { call = "tool_use_id" } }
object! {
    EditResult {
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

/// Returns the id of the call whose result is in the content of a message.
pub(super) fn result_id(content: Option<&RawValue>) -> Option<String> {
    let blocks = ResultId::read_list(content);
    blocks.iter().find_map(|block| string(block.call))
}

/// Returns the change in a record.
pub(super) fn read_change(record: &str) -> Option<FileEdit> {
    let row = Row::read(record)?;
    let (result, fields) = (
        row.in_file.or(row.in_stream)?,
        row.message.unwrap_or_default(),
    );
    let path = string(result.path)?;
    let call = result_id(fields.content);
    if text(result.kind).as_deref() == Some("create") {
        return Some(new_file(call, path, &text(result.content)?));
    }
    let before = text(result.original).unwrap_or_default();
    let after = apply_edit(&before, &result);
    let [before, after] =
        [&*before, &*after].map(|content| content.split('\n').collect::<Vec<_>>());
    let mut hunks = String::new();
    for hunk in Hunk::read_list(result.patch) {
        let [old, old_lines, new, new_lines] = [
            hunk.old_start,
            hunk.old_lines,
            hunk.new_start,
            hunk.new_lines,
        ]
        .map(|count| number(count).unwrap_or_default());
        append!(hunks, "@@ -{old},{old_lines} +{new},{new_lines} @@\n");
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
    new_edit(call, path, hunks)
}

/// Returns the content of a file after a change by Claude Code.
fn apply_edit(before: &str, result: &EditResult<'_>) -> String {
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
        let hunks = |record: &str| read_change(record).unwrap().hunks;
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
