//! Patches as the input of `apply_patch`: their hunks show lines without numbers.

use super::edits::{EditKind, FileEdit, Hunk, format_hunks, new_file};

/// The first lines of the files of a patch.
const HEADERS: [(&str, EditKind); 3] = [
    ("*** Add File: ", EditKind::Add),
    ("*** Delete File: ", EditKind::Remove),
    ("*** Update File: ", EditKind::Context),
];

/// Returns the changes of a call whose input contains a patch. The hunks of changed files have the numbers of lines that
/// are far enough apart, and removed files have no hunks.
pub fn parse_patch(call: &str, text: &str) -> Vec<FileEdit> {
    let mut edits = Vec::new();
    let patches = text.split("*** Begin Patch").skip(1);
    for patch in patches.filter_map(|patch| patch.split("\n*** End Patch").next()) {
        let mut lines = patch.lines().peekable();
        while let Some(line) = lines.next() {
            let header = HEADERS.iter();
            let Some((path, kind)) = header
                .clone()
                .find_map(|(start, kind)| Some((line.strip_prefix(start)?.trim(), *kind)))
            else {
                continue;
            };
            let mut body = Vec::new();
            while let Some(line) =
                lines.next_if(|line| !header.clone().any(|(start, _)| line.starts_with(start)))
            {
                body.push(line);
            }
            edits.push(parse_file_edit(call, path, kind, &body));
        }
    }
    edits
}

/// Returns the first line of a patch that is not in its format, which [`parse_patch`] skips. A patch without an end
/// was cut off.
pub fn find_foreign_line(text: &str) -> Option<&str> {
    let patch = text.split_once("*** Begin Patch");
    let Some((body, _)) = patch.and_then(|(_, rest)| rest.split_once("\n*** End Patch")) else {
        return Some(text.lines().last().unwrap_or_default());
    };
    let mut starts: &[&str] = &[];
    body.lines().skip(1).find(|line| {
        let mut headers = HEADERS.iter();
        if let Some((_, kind)) = headers.find(|(start, _)| line.starts_with(start)) {
            starts = match kind {
                EditKind::Add => &["+"],
                EditKind::Remove => &[],
                _ => &["@@", " ", "+", "-", "*** Move to: ", "*** End of File"],
            };
            return false;
        }
        let is_empty_context = line.is_empty() && starts.len() > 1;
        !is_empty_context && !starts.iter().any(|start| line.starts_with(start))
    })
}

fn parse_file_edit(call: &str, path: &str, kind: EditKind, body: &[&str]) -> FileEdit {
    let added_lines = body.iter().filter_map(|line| line.strip_prefix('+'));
    let content: String = added_lines.flat_map(|line| [line, "\n"]).collect();
    let edit = new_file(Some(call.to_owned()), path.to_owned(), &content);
    if kind == EditKind::Add {
        return edit;
    }
    let mut moved = body
        .iter()
        .filter_map(|line| line.strip_prefix("*** Move to: "));
    FileEdit {
        kind,
        moved_to: moved.next().map(|path| path.trim().to_owned()),
        hunks: format_hunks(&parse_bare_hunks(body)),
        ..edit
    }
}

fn parse_bare_hunks(body: &[&str]) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    for line in body.iter().filter(|line| !line.starts_with("*** ")) {
        if let Some(heading) = line.strip_prefix("@@") {
            hunks.push(Hunk::new(heading.trim()));
            continue;
        }
        if hunks.is_empty() {
            hunks.push(Hunk::new(""));
        }
        let mark = line.chars().next().unwrap_or(' ');
        if let (' ' | '-' | '+', Some(hunk)) = (mark, hunks.last_mut()) {
            let text = line.get(1..).unwrap_or_default();
            hunk.lines.push((mark, format!("{text}\n")));
        }
    }
    hunks.retain(|hunk| hunk.lines.iter().any(|(mark, _)| *mark != ' '));
    // Programs that apply a patch look for the lines of a hunk around these numbers, except at the first line.
    let (mut old, mut new) = (1, 1);
    for hunk in &mut hunks {
        (hunk.old_start, hunk.new_start) = (old, new);
        old += hunk.without('+').count() + 1;
        new += hunk.without('-').count() + 1;
    }
    hunks
}

/// Returns a text after hunks without numbers; `None` if it does not have their lines in this order.
pub fn apply_hunks(text: &str, hunks: &[Hunk]) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (mut new, mut at) = (String::new(), 0);
    for hunk in hunks {
        let is_heading = |line: &&str| !hunk.heading.is_empty() && line.trim() == hunk.heading;
        let heading = lines[at..].iter().position(is_heading);
        let from = heading.map_or(at, |heading| at + heading + 1);
        let old: Vec<&str> = hunk.without('+').collect();
        let start = if old.is_empty() {
            lines.len()
        } else {
            find_lines(&lines, &old, from)?
        };
        new.extend(lines[at..start].iter().copied());
        if !new.is_empty() && !new.ends_with('\n') {
            new.push('\n');
        }
        at = start;
        for (mark, line) in &hunk.lines {
            match mark {
                '+' => new.push_str(line),
                ' ' => new.push_str(lines[at]),
                _ => {}
            }
            at += usize::from(*mark != '+');
        }
    }
    new.extend(lines[at..].iter().copied());
    Some(new)
}

/// Returns the position of lines, whose ends and, if needed, indentation may differ.
fn find_lines(lines: &[&str], wanted: &[&str], from: usize) -> Option<usize> {
    let normalizations: [fn(&str) -> &str; 3] = [
        |line| line.trim_end_matches(['\r', '\n']),
        str::trim_end,
        str::trim,
    ];
    normalizations.iter().find_map(|normalize| {
        let windows = lines.get(from..)?.windows(wanted.len());
        let is_here = |window: &[&str]| {
            let pairs = window.iter().zip(wanted);
            pairs
                .into_iter()
                .all(|(one, other)| normalize(one) == normalize(other))
        };
        Some(from + windows.into_iter().position(is_here)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::parse_hunks;

    const PATCH: &str = "*** Begin Patch\n*** Add File: new.txt\n+one\n+\n*** Update File: a.rs\n*** Move to: b.rs\n\
        @@ fn two() {\n-    1\n+    2\n }\n@@\n-end\n*** End of File\n*** Delete File: gone\n*** End Patch\n";

    #[test]
    fn a_patch_has_a_change_for_each_file() {
        let edits = parse_patch("c", &format!("apply_patch <<'EOF'\n{PATCH}EOF\n"));
        let rows: Vec<_> = edits
            .iter()
            .map(|edit| (edit.path.as_str(), edit.kind, edit.hunks.as_str()))
            .collect();
        let hunks = "@@ -2,2 +2,2 @@ fn two() {\n-    1\n+    2\n }\n@@ -5,1 +4,0 @@\n-end\n";
        assert_eq!(
            rows,
            [
                ("new.txt", EditKind::Add, "@@ -0,0 +1,2 @@\n+one\n+\n"),
                ("a.rs", EditKind::Context, hunks),
                ("gone", EditKind::Remove, ""),
            ]
        );
        assert_eq!(edits[1].moved_to.as_deref(), Some("b.rs"));
        assert_eq!(parse_patch("c", "no patch"), []);
    }

    #[test]
    fn lines_are_found_by_their_content() {
        let text = "fn one() {\n    1\n}\nfn two() {\n    1  \n}\nend";
        let changed = "fn one() {\n    1\n}\nfn two() {\n    2\n}\n";
        let edits = parse_patch("c", PATCH);
        let hunks = parse_hunks(&edits[1].hunks);
        assert_eq!(apply_hunks(text, &hunks).as_deref(), Some(changed));
        assert_eq!(apply_hunks("fn two() {\n}\n", &hunks), None);
        let appended = parse_patch(
            "c",
            "*** Begin Patch\n*** Update File: a\n@@\n+b\n*** End Patch",
        );
        let hunks = parse_hunks(&appended[0].hunks);
        assert_eq!(apply_hunks("a", &hunks).as_deref(), Some("a\nb\n"));
    }
}
