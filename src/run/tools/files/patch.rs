//! Differences between two texts as hunks (`structuredPatch`).

use serde::Serialize;
use similar::{DiffOp, group_diff_ops};

use crate::text::{compare_lines, marked_lines};

/// Unchanged lines around a change.
const CONTEXT_LINES: usize = 3;

/// Maximum size of a patch in the structured output, in bytes.
const MAX_PATCH_BYTES: usize = 4 << 20;

/// Maximum size of a text that is compared, in bytes.
pub(super) const MAX_COMPARED_BYTES: usize = 10 << 20;

/// Maximum size of old content in a result (`originalFile`), in bytes. Without it, every edit of a large file
/// would add the whole file to recordings.
pub(super) const MAX_ORIGINAL_BYTES: usize = 256 << 10;

/// The line after a last line without a line feed, as in `diff -u`.
const NO_NEWLINE: &str = "\\ No newline at end of file";

/// A hunk of changed lines with context. Line numbers start at 1, also if a side is empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Hunk {
    old_start: usize,
    old_lines: usize,
    new_start: usize,
    new_lines: usize,
    /// Lines with the prefix ` `, `-`, `+` or `\`, without line feeds.
    lines: Vec<String>,
}

/// Returns the hunks that turn `old` into `new`. Empty if the texts are equal or the hunks exceed
/// [`MAX_PATCH_BYTES`].
pub(super) fn hunks(old: &str, new: &str) -> Vec<Hunk> {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let groups = group_diff_ops(compare_lines(&old, &new), CONTEXT_LINES);
    let bytes = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let size: usize = groups
        .iter()
        .flatten()
        .map(|operation| bytes(&old[operation.old_range()]) + bytes(&new[operation.new_range()]))
        .sum();
    if size > MAX_PATCH_BYTES {
        return Vec::new();
    }
    let hunks = groups
        .iter()
        .filter_map(|group| build_hunk(group, &old, &new));
    hunks.collect()
}

fn build_hunk(group: &[DiffOp], old: &[&str], new: &[&str]) -> Option<Hunk> {
    let (first, last) = (group.first()?, group.last()?);
    let mut lines = Vec::new();
    for (mark, line) in group
        .iter()
        .flat_map(|operation| marked_lines(operation, old, new))
    {
        let text = line.strip_suffix('\n');
        lines.push(format!("{mark}{}", text.unwrap_or(line)));
        if text.is_none() {
            lines.push(NO_NEWLINE.to_owned());
        }
    }
    let (old_start, new_start) = (first.old_range().start, first.new_range().start);
    Some(Hunk {
        old_start: old_start + 1,
        old_lines: last.old_range().end - old_start,
        new_start: new_start + 1,
        new_lines: last.new_range().end - new_start,
        lines,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Applies a patch as `patch` would.
    fn apply(old: &str, hunks: &[Hunk]) -> String {
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let mut result = String::new();
        let mut next = 0;
        for hunk in hunks {
            result.extend(old[next..hunk.old_start - 1].iter().copied());
            next = hunk.old_start - 1;
            assert_eq!(result.split_inclusive('\n').count(), hunk.new_start - 1);
            let new_before = result.split_inclusive('\n').count();
            for (index, line) in hunk.lines.iter().enumerate() {
                let (mark, text) = line.split_at(1);
                let cut_off = hunk
                    .lines
                    .get(index + 1)
                    .is_some_and(|line| line == NO_NEWLINE);
                let end = if cut_off { "" } else { "\n" };
                match mark {
                    " " | "-" => {
                        assert_eq!(old[next], format!("{text}{end}"));
                        next += 1;
                        if mark == " " {
                            result.push_str(old[next - 1]);
                        }
                    }
                    "+" => {
                        result.push_str(text);
                        result.push_str(end);
                    }
                    _ => assert_eq!(line, NO_NEWLINE),
                }
            }
            assert_eq!(next - (hunk.old_start - 1), hunk.old_lines);
            assert_eq!(
                result.split_inclusive('\n').count() - new_before,
                hunk.new_lines
            );
        }
        result.extend(old[next..].iter().copied());
        result
    }

    fn numbered_lines(prefix: &str, count: usize) -> String {
        let lines: Vec<String> = (0..count)
            .map(|number| format!("{prefix}{number}\n"))
            .collect();
        lines.concat()
    }

    #[test]
    fn a_change_has_three_lines_of_context() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let hunks = hunks(old, &old.replace('5', "five"));
        assert_eq!(
            serde_json::to_value(hunks).unwrap(),
            json!([{ "oldStart": 2, "oldLines": 7, "newStart": 2, "newLines": 7,
                "lines": [" 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8"] }])
        );
    }

    #[test]
    fn distant_changes_have_separate_hunks() {
        let old = numbered_lines("", 40);
        let new = old.replace("5\n", "five\n");
        let starts: Vec<_> = hunks(&old, &new)
            .iter()
            .map(|hunk| hunk.old_start)
            .collect();
        assert_eq!(starts, [3, 13, 23, 33]);
    }

    #[test]
    fn a_missing_last_line_feed_is_marked() {
        assert_eq!(
            hunks("a", "a\n")[0].lines,
            ["-a", "\\ No newline at end of file", "+a"]
        );
        assert_eq!(hunks("", "x\n")[0].lines, ["+x"]);
        assert_eq!(hunks("same\n", "same\n"), []);
        assert_eq!(hunks("", ""), []);
    }

    #[test]
    fn large_different_texts_are_replaced_as_a_whole() {
        let (old, new) = (
            format!("head\n{}", numbered_lines("a", 15_000)),
            format!("head\n{}", numbered_lines("b", 15_000)),
        );
        let hunks = hunks(&old, &new);
        assert_eq!(hunks.len(), 1);
        assert_eq!(apply(&old, &hunks), new);
    }

    #[test]
    fn a_patch_that_is_too_large_is_omitted() {
        let (old, new) = ("a".repeat(3 << 20), "b".repeat(3 << 20));
        assert_eq!(hunks(&old, &new), []);
    }

    proptest! {
        #[test]
        fn a_patch_applies(
            old in "([abc]{0,2}\n){0,30}[abc]{0,2}",
            new in "([abc]{0,2}\n){0,30}[abc]{0,2}",
        ) {
            prop_assert_eq!(apply(&old, &hunks(&old, &new)), new);
        }
    }
}
