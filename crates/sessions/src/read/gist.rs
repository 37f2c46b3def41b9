//! The topic of a call on one line, and its full input.

use std::path::Path;

use serde_json::{Map, Value};

use turnpipe_core::message::Call;
use turnpipe_core::text::marked_diff;
use turnpipe_core::tool_facts::{Parameter, command_line, parameters, patch_files};
use turnpipe_formats::records::FileChange;
use turnpipe_guard::shell::parse_sandbox_call;

/// The most informative members of inputs, after commands, patterns and paths.
const INFORMATIVE: [&str; 6] = ["query", "url", "description", "prompt", "name", "input"];

/// Members of edits: old text, new text.
const EDIT_MEMBERS: [(&str, &str); 4] = [
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("oldText", "newText"),
    ("oldString", "newString"),
];

/// Members with the content of a written file.
pub const CONTENT: [&str; 2] = ["content", "file_text"];

/// Returns the topic of a call.
pub fn describe_call(call: &Call, cwd: Option<&str>) -> String {
    let input = call.input.get();
    match serde_json::from_str(input) {
        Ok(Value::Object(members)) => describe_input(&members, cwd),
        _ => input.to_owned(),
    }
}

/// Returns the topic of a call with this input: the most informative member; for a search its pattern and
/// directory; for an edit or a patch its files and its numbers of added and removed lines. Paths are
/// relative to `cwd`. The text may have several lines and is not terminal-safe.
pub fn describe_input(members: &Map<String, Value>, cwd: Option<&str>) -> String {
    if let Some(patch) = find_patch(members) {
        return describe_patch(patch, cwd);
    }
    let [commands, paths] = [Parameter::Command, Parameter::Path].map(parameters);
    let mut names = [commands, &["pattern"], paths, &INFORMATIVE]
        .concat()
        .into_iter();
    let informative = names.find_map(|name| Some((name, members.get(name)?)));
    let first = || {
        members
            .iter()
            .next()
            .map(|(name, value)| (name.as_str(), value))
    };
    let Some((name, value)) = informative.or_else(first) else {
        return String::new();
    };
    let position = find_text(members, paths).map(|path| strip_directory(path, cwd));
    match (name, value, position) {
        ("pattern", Value::String(pattern), Some(position)) => format!("{pattern} in {position}"),
        (_, Value::String(_), Some(position)) if paths.contains(&name) => {
            match find_file_changes(members).as_slice() {
                [change] => format!("{position} (+{} -{})", change.added, change.removed),
                _ => position,
            }
        }
        (_, Value::String(text), _) if commands.contains(&name) => {
            parse_sandbox_call(text).unwrap_or_else(|| text.clone())
        }
        (_, Value::String(text), _) => text.clone(),
        (_, value, _) => value.to_string(),
    }
}

/// Returns the language and the text of an input: edits and patches as a diff, other inputs as JSON.
pub fn format_full_input(call: &Call) -> (&'static str, String) {
    let raw = call.input.get();
    let value: Value = serde_json::from_str(raw).unwrap_or_default();
    if let Some(patch) = value.as_object().and_then(find_patch) {
        return ("diff", patch.to_owned());
    }
    let edits = value.as_object().map(find_text_edits).unwrap_or_default();
    if edits.is_empty() {
        let pretty = serde_json::to_string_pretty(&value);
        return ("json", pretty.unwrap_or_else(|_| raw.to_owned()));
    }
    let differences = edits.iter().map(|(old, new)| {
        let lines = diff_lines(old, new).into_iter();
        let lines: Vec<String> = lines.map(|(tag, line)| format!("{tag}{line}")).collect();
        lines.join("\n")
    });
    ("diff", differences.collect::<Vec<String>>().join("\n\n"))
}

/// Returns the patch in an input, or in a shell command that runs `apply_patch`.
pub fn find_patch(members: &Map<String, Value>) -> Option<&str> {
    let texts = members.values().flat_map(|value| match value {
        Value::Array(list) => list.as_slice(),
        value => std::slice::from_ref(value),
    });
    texts.filter_map(Value::as_str).map(str::trim).find(|text| {
        text.split_once("*** Begin Patch")
            .is_some_and(|(before, patch)| {
                let is_applied = before.is_empty() || before.contains("apply_patch");
                is_applied && patch_files(patch).next().is_some()
            })
    })
}

fn describe_patch(patch: &str, cwd: Option<&str>) -> String {
    let changes = count_patch_changes(patch);
    let files: Vec<String> = changes
        .iter()
        .map(|file| strip_directory(&file.path, cwd))
        .collect();
    let added: u64 = changes.iter().map(|file| file.added).sum();
    let removed: u64 = changes.iter().map(|file| file.removed).sum();
    format!("{} (+{added} -{removed})", files.join(", "))
}

/// Returns the files of a patch, with their numbers of added and removed lines.
fn count_patch_changes(patch: &str) -> Vec<FileChange> {
    let mut changes: Vec<FileChange> = Vec::new();
    for line in patch.lines() {
        if let Some(path) = patch_files(line).next() {
            changes.push(FileChange {
                path: path.to_owned(),
                added: 0,
                removed: 0,
            });
        } else if let Some(change) = changes.last_mut() {
            change.added += u64::from(line.starts_with('+'));
            change.removed += u64::from(line.starts_with('-') && !line.starts_with("--- "));
        }
    }
    changes
}

/// Returns the files that a call with this input changes: files of edits, written files and patches.
pub fn find_file_changes(members: &Map<String, Value>) -> Vec<FileChange> {
    if let Some(patch) = find_patch(members) {
        return count_patch_changes(patch);
    }
    let Some(path) = find_text(members, parameters(Parameter::Path)) else {
        return Vec::new();
    };
    let edits = find_text_edits(members);
    let lines = edits.iter().flat_map(|(old, new)| diff_lines(old, new));
    let marks: String = lines.map(|(mark, _)| mark).collect();
    let [added, removed] = ['+', '-'].map(|mark| marks.matches(mark).count() as u64);
    let change = FileChange {
        path: path.to_owned(),
        added,
        removed,
    };
    (!edits.is_empty()).then_some(change).into_iter().collect()
}

/// Returns the old and the new text of each edit in an input. A written file has no old text.
pub fn find_text_edits(members: &Map<String, Value>) -> Vec<(&str, &str)> {
    let list = members.get("edits").and_then(Value::as_array);
    let listed = list.into_iter().flatten().filter_map(Value::as_object);
    let objects = std::iter::once(members).chain(listed);
    let mut edits: Vec<_> = objects.filter_map(parse_edit).collect();
    let is_file = find_text(members, parameters(Parameter::Path)).is_some();
    let content = find_text(members, &CONTENT).filter(|_| is_file && edits.is_empty());
    edits.extend(content.map(|content| ("", content)));
    edits
}

fn parse_edit(members: &Map<String, Value>) -> Option<(&str, &str)> {
    let mut names = EDIT_MEMBERS.iter();
    names.find_map(|(old, new)| Some((find_text(members, &[old])?, find_text(members, &[new])?)))
}

/// Compares two texts line by line. Returns all lines, each with its mark. Texts are parts of files: the last line
/// may go on.
fn diff_lines<'a>(old: &'a str, new: &'a str) -> Vec<(char, &'a str)> {
    let is_whole = old.is_empty() || new.is_empty();
    let [old, new] = [old, new].map(|text| -> Vec<&str> {
        if is_whole {
            text.lines().collect()
        } else {
            text.split('\n').collect()
        }
    });
    let lines = marked_diff(&old, &new).into_iter();
    lines
        .map(|(mark, line)| (mark, line.trim_end_matches('\r')))
        .collect()
}

/// Returns the first of these members that is a string.
fn find_text<'a>(members: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    let mut names = names.iter();
    names.find_map(|name| members.get(*name)?.as_str())
}

/// Makes a path inside a directory relative to it.
fn strip_directory(path: &str, directory: Option<&str>) -> String {
    let rest = directory.and_then(|directory| Path::new(path).strip_prefix(directory).ok());
    match rest.and_then(Path::to_str) {
        Some("") => ".".to_owned(),
        Some(rest) => rest.to_owned(),
        None => path.to_owned(),
    }
}

/// Returns the command line of an input, without the sandbox in which it runs.
pub fn find_command(input: &Map<String, Value>) -> Option<String> {
    let mut names = parameters(Parameter::Command).iter();
    let line = names.find_map(|name| command_line(input.get(*name)?))?;
    Some(parse_sandbox_call(&line).unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::RawValue;

    use super::*;

    fn call(input: &Value) -> Call {
        Call {
            id: "1".to_owned(),
            name: "X".to_owned(),
            input: RawValue::from_string(input.to_string()).unwrap(),
            signature: None,
        }
    }

    #[test]
    fn the_gist_is_the_most_informative_member() {
        let rows = [
            (json!({"limit": 3, "file_path": "a.rs"}), "a.rs"),
            (json!({"file_path": "/home/me/demo/src/a.rs"}), "src/a.rs"),
            (
                json!({"file_path": "/home/me/demolition/a.rs"}),
                "/home/me/demolition/a.rs",
            ),
            (json!({"path": "/home/me/demo"}), "."),
            (
                json!({"path": "src", "pattern": "fn main"}),
                "fn main in src",
            ),
            (
                json!({"pattern": "*.rs", "path": "/home/me/demo/src"}),
                "*.rs in src",
            ),
            (json!({"pattern": "*.rs"}), "*.rs"),
            (
                json!({"command": "ls", "description": "List", "path": "x"}),
                "ls",
            ),
            (
                json!({"file_path": "a.rs", "old_string": "a\nb\n", "new_string": "a\nc\nd\n"}),
                "a.rs (+2 -1)",
            ),
            (
                json!({"filePath": "a.rs", "oldString": "a\nb\n", "newString": "a\nc\nd\n"}),
                "a.rs (+2 -1)",
            ),
            (
                json!({"path": "a.rs", "oldText": "a", "newText": "b"}),
                "a.rs (+1 -1)",
            ),
            (
                json!({"file_path": "a.rs", "edits": [
                    {"old_string": "a", "new_string": "b"},
                    {"old_string": "c\n", "new_string": ""},
                ]}),
                "a.rs (+1 -2)",
            ),
            (
                json!({"file_path": "a.rs", "content": "one\ntwo"}),
                "a.rs (+2 -0)",
            ),
            (
                json!({"url": "https://a.b", "prompt": "read"}),
                "https://a.b",
            ),
            (json!({"todos": [1, 2]}), "[1,2]"),
            (json!({"pattern": 3, "path": "src"}), "3"),
            (json!({}), ""),
            (json!("text"), "\"text\""),
        ];
        for (input, expected) in rows {
            assert_eq!(
                describe_call(&call(&input), Some("/home/me/demo")),
                expected,
                "{input}"
            );
        }
    }

    #[test]
    fn patches_are_shown_as_differences() {
        let patch = "*** Begin Patch\n*** Update File: /home/me/demo/a.rs\n@@\n-old\n+new\n+er\n \
                     same\n*** Delete File: b.rs\n*** End Patch";
        let command = format!("cd x && apply_patch <<'EOF'\n{patch}\nEOF");
        let rows = [
            (json!({ "input": format!("{patch}\n") }), patch),
            (json!({ "command": patch }), patch),
            (json!({ "command": ["apply_patch", patch] }), patch),
            (json!({ "workdir": "/x", "cmd": command }), command.as_str()),
        ];
        for (input, shown) in rows {
            let call = call(&input);
            let gist = describe_call(&call, Some("/home/me/demo"));
            assert_eq!(gist, "a.rs, b.rs (+2 -1)", "{input}");
            assert_eq!(format_full_input(&call), ("diff", shown.to_owned()));
        }
        let others = [
            json!({ "pattern": "*** Begin Patch" }),
            json!({ "command": format!("cat > notes <<'EOF'\n{patch}\nEOF") }),
        ];
        for input in others {
            assert_eq!(format_full_input(&call(&input)).0, "json", "{input}");
        }
    }

    #[test]
    fn each_file_of_a_patch_has_its_own_counts() {
        let patch = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n+z\n*** Delete File: b\n*** End Patch";
        let input = json!({ "input": patch });
        let changes = find_file_changes(input.as_object().unwrap());
        let rows: Vec<_> = changes
            .iter()
            .map(|change| (change.path.as_str(), change.added, change.removed))
            .collect();
        assert_eq!(rows, [("a", 2, 1), ("b", 0, 0)]);
        let read = json!({ "file_path": "a" });
        assert_eq!(find_file_changes(read.as_object().unwrap()), []);
    }

    #[test]
    fn edits_are_shown_as_differences() {
        let edit = json!({"file_path": "a", "old_string": "a\nb\nc", "new_string": "a\nB\nc"});
        assert_eq!(
            format_full_input(&call(&edit)),
            ("diff", " a\n-b\n+B\n c".to_owned())
        );
        let write = json!({"file_path": "a", "content": "x\r\ny"});
        assert_eq!(
            format_full_input(&call(&write)),
            ("diff", "+x\n+y".to_owned())
        );
        let other = json!({"content": "x"});
        assert_eq!(format_full_input(&call(&other)).0, "json");
    }
}
